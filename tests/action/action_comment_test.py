"""The comment that the action leaves, and its token."""

import json
import threading
import unittest

from action_case import ActionTest, pull_request
from repository import GOOD, WORSE
from runner import ROOT, load


class Comments(ActionTest):
    def test_a_comment_lands_once_and_is_updated(self):
        first = self.runner().use({})
        self.repository.write("traces/block.json", WORSE)
        second = self.runner().use({})
        self.assertEqual((first["comment-id"], second["comment-id"]), ("101", "101"))
        self.assertEqual(len(self.bodies()), 1)
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_two_racing_jobs_leave_one_comment(self):
        self.github.race = threading.Barrier(2)
        runners = [self.runner(), self.runner()]
        threads = [threading.Thread(target=runner.use, args=[{}]) for runner in runners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([runner.status for runner in runners], ["success"] * 2)
        self.assertEqual(len(self.bodies()), 1)

    def test_events_without_a_pull_request_have_no_comment(self):
        for event in ("push", "merge_group", "workflow_dispatch"):
            with self.subTest(event):
                runner = self.runner(event)
                outputs = runner.use({})
                self.assertEqual((runner.status, outputs["comment-id"]), ("success", ""))
                self.assertTrue(runner.summary.startswith("## ✅ perfgate: PASS"))
        self.assertEqual(self.github.seen, [])

    def test_a_run_of_a_workflow_is_matched_with_its_pull_request(self):
        self.github.pulls = [{"number": 7, "head": "fork:faster", "sha": "c0ffee1234567"}]
        runner = self.runner("workflow_run")
        self.assertEqual((runner.use({})["comment-id"], runner.status), ("101", "success"))
        self.assertEqual(self.github.comments[0]["number"], 7)

    def test_a_job_for_a_fork_leaves_the_comment_to_another_workflow(self):
        runner = self.runner(event=pull_request("fork/model"))
        self.assertEqual(runner.use({})["comment-id"], "")
        self.assertEqual((runner.status, self.github.seen), ("success", []))
        self.assertIn("fork-comment.yml", runner.log.text)
        self.assertTrue((ROOT / "examples/github/fork-comment.yml").exists())

    def test_a_token_that_may_not_write_is_no_reason_to_fail(self):
        self.github.faults = [("POST", 403, {}, {"message": "Resource not accessible by integration"})]
        runner = self.runner(event=pull_request("fork/model"))
        runner.use({"comment": "always"})
        self.assertEqual((runner.status, self.bodies()), ("success", []))
        self.assertIn("warning", runner.log.text)

    def test_on_changes_a_first_pass_has_no_comment_but_a_later_one_updates(self):
        self.runner().use({"comment": "changes"})
        self.assertEqual(self.bodies(), [])
        self.repository.write("traces/block.json", WORSE)
        self.runner().use({"comment": "changes"})
        self.assertIn("perfgate: FAIL", self.bodies()[0])
        self.repository.write("traces/block.json", GOOD)
        self.assertEqual(self.runner().use({"comment": "changes"})["comment-id"], "101")
        self.assertIn("perfgate: PASS", self.bodies()[0])

    def test_never_asks_for_no_token(self):
        runner = self.runner()
        runner.use({"comment": "never"})
        self.assertEqual((runner.status, self.github.seen), ("success", []))

    def test_only_the_step_that_comments_knows_the_token(self):
        steps = load(ROOT / "action.yml")["runs"]["steps"]
        self.assertEqual([step["name"] for step in steps if "github-token" in json.dumps(step)],
                         ["Comment in the pull request"])


if __name__ == "__main__":
    unittest.main()
