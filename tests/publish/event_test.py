"""Which pull request a comment is for."""

import unittest

from comment_case import MARKER, CommentTest, workflow_run_event


class Events(CommentTest):
    def test_events_without_a_pull_request_have_no_comment(self):
        for name in ("push", "merge_group", "workflow_dispatch"):
            event = {"repository": {"full_name": "octo/model"}}
            done = self.comment(event=event, name=name)
            self.assertEqual((done.code, done.out), (0, ""))
            self.assertEqual(done.err,
                             f"perfgate: no comment: the event `{name}` has no pull request\n")
        self.assertEqual(self.github.seen, [])

    def test_without_an_event_the_flags_name_the_pull_request(self):
        done = self.finish(self.start("text.md"))
        self.assertEqual(done.code, 0)
        self.assertIn("name the pull request with --repo and --pr", done.err)
        done = self.finish(self.start("text.md", "--repo", "octo/model", "--pr", "7"))
        self.assertTrue(done.out.startswith("created "), done.err)

    def test_a_run_of_a_fork_is_found_by_its_head(self):
        self.github.pulls = [{"number": 5, "head": "fork:fast&#er", "sha": "older"},
                             {"number": 7, "head": "fork:fast&#er", "sha": "c0ffee1234567"}]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertEqual(self.github.comments[0]["number"], 7)
        self.assertIn("head=fork:fast%26%23er", self.github.seen[0].path)
        self.assertIn("(https://github.test/octo/model/actions/runs/5)", self.bodies()[0])

    def test_a_head_that_moved_on_has_no_comment(self):
        self.github.pulls = [{"number": 7, "head": "fork:fast&#er", "sha": "newer"}]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("no open pull request has the head c0ffee1234567 any more", done.err)
        self.assertEqual(self.github.written(), [])

    def test_two_pull_requests_of_one_head_are_not_guessed_between(self):
        self.github.pulls = [{"number": n, "head": "fork:fast&#er", "sha": "c0ffee1234567"}
                             for n in (7, 8)]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("2 pull requests have this head: name one with --pr", done.err)
        self.assertEqual(self.github.written(), [])

    def test_a_run_that_a_push_started_has_no_comment(self):
        done = self.comment(event=workflow_run_event("push"), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("was started by push, not by a pull request", done.err)

    def test_without_a_token_the_text_is_printed(self):
        done = self.comment(token=None)
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith(MARKER + "# All is well\n"))
        self.assertIn("warning: no comment is posted: GITHUB_TOKEN and GH_TOKEN hold no token", done.err)
        self.assertEqual(self.github.seen, [])

    def test_a_token_that_would_add_a_header_is_none(self):
        done = self.comment(token="good\r\nX-Evil: 1")
        self.assertIn("hold no token", done.err)
        self.assertNotIn("X-Evil", done.out + done.err)
        self.assertEqual(self.github.seen, [])


if __name__ == "__main__":
    unittest.main()
