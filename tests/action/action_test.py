"""The action from the first step to the last, without GitHub: the real perfgate, event files, and the
server of tests/publish."""

import json
import shutil
import time
import unittest

from action_case import MARKER, ActionTest, pull_request
from repository import GOOD, WORSE, trace
from runner import ROOT

SLOW = ROOT / "tests/e2e/gate_workload.sh"


class Verdicts(ActionTest):
    def test_a_pull_request_that_passes(self):
        runner = self.runner()
        outputs = runner.use({})
        self.assertEqual((runner.status, runner.codes["Verdict"]), ("success", 0), runner.log.text)
        self.assertEqual(outputs, {
            "verdict": "pass", "exit-code": "0", "regressions": "0", "inconclusive": "0",
            "report-json": "perfgate-report/verdict.json", "report-md": "perfgate-report/verdict.md",
            "report-html": "perfgate-report/report.html", "report-junit": "perfgate-report/junit.xml",
            "db": "perfgate-report/perfgate.db",
            "comment-id": "101"})
        self.assertEqual(len(self.bodies()), 1)
        self.assertTrue(self.bodies()[0].startswith(MARKER + "## ✅ perfgate: PASS"), self.bodies())
        self.assertIn("/octo/model/actions/runs/9/attempts/1", self.bodies()[0])
        self.assertTrue(runner.summary.startswith("## ✅ perfgate: PASS"))
        kept = runner.artifacts["perfgate"]
        for name in ("verdict.json", "verdict.md", "report.html", "junit.xml", "perfgate.db", "run/run.json"):
            self.assertTrue((kept / name).exists(), name)

    def test_a_regression_fails_the_last_step_alone(self):
        self.repository.write("traces/block.json", WORSE)
        runner = self.runner()
        outputs = runner.use({})
        self.assertEqual(runner.status, "failure")
        self.assertEqual({name: code for name, code in runner.codes.items() if code}, {"Verdict": 1})
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("fail", "1"))
        self.assertGreaterEqual(int(outputs["regressions"]), 1)
        self.assertIn("❌ perfgate: FAIL", self.bodies()[0])
        self.assertIn("perfgate: FAIL", runner.summary)
        self.assertIn("perfgate", runner.artifacts)
        errors = runner.log.annotations("error")
        self.assertTrue(any("no-extra-kernel" in error[1] for error in errors), errors)

    def test_a_suite_that_is_wrong_exits_with_2(self):
        self.repository.write("perfgate.yaml", "version: 1\nsuit: x\n")
        runner = self.runner()
        outputs = runner.use({"fail-on": "never"})
        self.assertEqual(runner.codes["Verdict"], 2)
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("error", "2"))
        self.assertIn("suit", runner.summary)
        self.assertIn("perfgate: ERROR", self.bodies()[0])

    def test_what_cannot_be_measured_exits_with_3(self):
        self.repository.write("traces/block.json", GOOD[:-20])
        runner = self.runner()
        outputs = runner.use({})
        self.assertEqual((runner.codes["Verdict"], outputs["verdict"]), (3, "error"))
        self.assertIn("perfgate: ERROR", self.bodies()[0])

    def test_a_perfgate_that_dies_leaves_a_verdict(self):
        runner = self.runner(cached=False)
        programs = runner.temp / "perfgate/bin"
        programs.mkdir(parents=True)
        (programs / "perfgate").write_text(
            "#!/bin/sh\n[ \"$1\" != run ] || { echo ::set-output name=verdict::pass; kill -9 $$; }\n")
        (programs / "perfgate").chmod(0o755)
        outputs = runner.use({"comment": "never"})
        self.assertEqual(runner.codes["Verdict"], 137)
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("error", "137"))
        self.assertEqual(outputs["report-json"], "")
        self.assert_no_commands(runner)
        self.assertIn("ended with exit code 137 and without a verdict", runner.summary)

    def test_reports_of_an_earlier_run_are_not_taken_for_this_one(self):
        runner = self.runner()
        (runner.workspace / "perfgate-report").mkdir()
        (runner.workspace / "perfgate-report/verdict.md").write_text("## ✅ perfgate: PASS\n")
        runner.use({"fail-on": "sometimes"})
        self.assertNotIn("PASS", runner.summary)
        self.assertIn("Nothing was measured", runner.summary)
        self.assertEqual(self.bodies(), [])

    def test_a_folder_that_is_none_is_said(self):
        (self.repository.folder / "file").write_text("")
        for folder in ("-f", "file/below"):
            with self.subTest(folder):
                runner = self.runner()
                runner.use({"folder": folder})
                self.assertEqual(runner.status, "failure")
                self.assertTrue(any("input folder: it " in error[2] for error in runner.log.annotations("error")),
                                runner.log.text)

    def test_a_folder_in_the_place_of_a_report_goes(self):
        runner = self.runner()
        (runner.workspace / "perfgate-report/verdict.json/x").mkdir(parents=True)
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)

    def test_a_verdict_of_another_run_is_not_believed(self):
        runner = self.runner(cached=False)
        programs = runner.temp / "perfgate/bin"
        programs.mkdir(parents=True)
        (programs / "perfgate").write_text(
            "#!/bin/sh\n[ \"$1\" != run ] || { echo '{\"verdict\": \"pass\", \"exit_code\": 0, \"cases\": []}' "
            ">perfgate-report/verdict.json; exit 3; }\n")
        (programs / "perfgate").chmod(0o755)
        outputs = runner.use({"comment": "never"})
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("error", "3"))
        self.assertNotIn("PASS", runner.summary)

    def test_an_artifact_that_cannot_be_kept_is_no_reason_to_fail(self):
        runner = self.runner()
        runner.artifacts["perfgate"] = "that of another leg"
        self.assertEqual(runner.use({})["verdict"], "pass")
        self.assertEqual((runner.status, runner.codes["Keep reports and traces"]), ("success", 1))

    def test_only_the_workloads_that_are_asked_for_run(self):
        self.repository.write("perfgate.yaml", (self.repository.folder / "perfgate.yaml").read_text() +
                              "  - name: other\n    trace: traces/other.json\n")
        runner = self.runner()
        outputs = runner.use({"workloads": "\n  bl*  \n"})
        self.assertEqual(outputs["verdict"], "pass", runner.log.text)
        verdict = json.loads((runner.workspace / outputs["report-json"]).read_text())
        self.assertEqual([case["case"] for case in verdict["cases"]], ["block"])


class Reviewed(ActionTest):
    """A pull request that loosens the gate, while its base has moved on."""

    def setUp(self):
        super().setUp()
        repository = self.repository
        self.branched_off = repository.git("rev-parse", "HEAD").strip()
        repository.git("checkout", "-q", "-b", "topic")
        suite = (repository.folder / "perfgate.yaml").read_text()
        repository.write("perfgate.yaml", suite + "no_baseline: warn\n")
        repository.commit("Looser")
        repository.git("checkout", "-q", "main")
        repository.write("mine.yaml", "version: 1\nrules:\n  - {id: few, metric: host_ops, limit: {at_most: 9}}\n")
        repository.write("perfgate.yaml", suite.replace("[perfgate:structure]", "[perfgate:structure, mine.yaml]"))
        repository.commit("A rule of somebody else")
        repository.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")

    def machine(self, branch, depth, event_name="pull_request", event=None, ref="refs/pull/7/merge"):
        """With what actions/checkout brings."""
        event = event or pull_request(base={"sha": self.branched_off})
        sha = self.repository.git("rev-parse", branch).strip()
        runner = self.runner(event_name, event, ref=ref, sha=sha)
        shutil.rmtree(runner.workspace)
        self.repository.run("git", "clone", "-q", f"--depth={depth}", "--branch", branch,
                            f"file://{self.repository.folder}", runner.workspace)
        return runner

    def test_the_merge_is_compared_with_the_base_that_it_is_merged_into(self):
        runner = self.machine("main", 2)
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertIn("this change loosens 1\n", self.bodies()[0])
        self.assertIn("no\\_baseline error -&gt; warn", self.bodies()[0])
        self.assertIn("this change loosens 1\n", runner.summary)

    def test_a_branch_is_compared_with_where_it_left_the_base(self):
        runner = self.machine("topic", 9)
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertIn("this change loosens 1\n", self.bodies()[0])

    def test_a_clone_without_the_base_is_said_and_decides_nothing(self):
        runner = self.machine("main", 1)
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertIn("this clone is shallow", self.bodies()[0])
        self.assertIn("fetch-depth: 2", self.bodies()[0])

    def test_a_merge_queue_is_compared_with_its_base(self):
        event = {"repository": {"full_name": "octo/model"}, "merge_group": {
            "head_sha": "c0ffee", "base_sha": self.repository.git("rev-parse", "main^1").strip()}}
        runner = self.machine("main", 2, "merge_group", event, "refs/heads/gh-readonly-queue/main/pr-7")
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertIn("this change loosens 1\n", runner.summary)

    def test_a_push_is_compared_with_nothing(self):
        runner = self.machine("main", 2, "push", {"repository": {"full_name": "octo/model"}}, "refs/heads/main")
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertNotIn("this change", runner.summary)


class WithoutBaseline(ActionTest):
    baseline = False

    def test_a_missing_baseline_exits_with_4(self):
        runner = self.runner()
        outputs = runner.use({})
        self.assertEqual((runner.codes["Verdict"], outputs["verdict"]), (4, "not_comparable"))
        self.assertGreaterEqual(int(outputs["inconclusive"]), 1)
        self.assertIn("NO BASELINE", self.bodies()[0])

    def test_fail_on_regression_lets_it_through_with_a_warning(self):
        runner = self.runner()
        outputs = runner.use({"fail-on": "regression"})
        self.assertEqual((runner.status, outputs["exit-code"]), ("success", "4"))
        self.assertIn("not_comparable (exit code 4), let through by fail-on: regression",
                      [warning[2] for warning in runner.log.annotations("warning")][-1])


class FailOn(ActionTest):
    def test_never_lets_a_regression_through_with_a_warning(self):
        self.repository.write("traces/block.json", WORSE)
        for fail_on, code in (("never", 0), ("regression", 1)):
            runner = self.runner()
            outputs = runner.use({"fail-on": fail_on})
            self.assertEqual((runner.codes["Verdict"], outputs["verdict"]), (code, "fail"))
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_wrong_inputs_are_refused_before_anything_is_installed(self):
        wrong = {"fail-on": "sometimes", "comment": "yes", "summary": "yes", "torch": "", "folder": "",
                 "annotations": "0", "version": "v1", "sha256": "ab", "install-only": "no"}
        for name, value in wrong.items():
            with self.subTest(name):
                runner = self.runner()
                runner.use({name: value})
                self.assertEqual((runner.status, runner.codes["Check the inputs"]), ("failure", 2))
                self.assertNotIn("Install perfgate", runner.codes)
                self.assertIn(f"input {name}: ", runner.log.annotations("error")[0][2])


class Signals(ActionTest):
    def slow_suite(self):
        """A suite whose one workload says its process in a file and sleeps."""
        self.started = self.folder / "started"
        self.repository.write("perfgate.yaml", f"""\
version: 1
suite: model
rules: [perfgate:structure]
defaults: {{device: cpu}}
workloads:
  - name: block
    command: [{SLOW}, slow, {self.started}]
""")

    def when_started(self, then):
        def wait(process):
            deadline = time.monotonic() + 60
            while not self.started.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            then(process)

        return wait

    def test_a_cancelled_job_still_writes_its_outputs(self):
        self.slow_suite()
        runner = self.runner()
        runner.while_running["Measure and judge"] = self.when_started(runner.cancel)
        outputs = runner.use({})
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("error", "130"), runner.log.text)
        self.assertEqual(runner.codes["Verdict"], 130)
        self.assertIn("interrupted by SIGINT", runner.summary)
        self.assertIn("perfgate", runner.artifacts)
        self.assertEqual(self.github.seen, [], "a newer job has the comment now")

    def test_a_terminated_perfgate_is_reported(self):
        self.slow_suite()
        runner = self.runner()
        runner.while_running["Measure and judge"] = self.when_started(
            lambda process: process.terminate())
        outputs = runner.use({"fail-on": "never"})
        self.assertEqual((outputs["verdict"], outputs["exit-code"]), ("error", "143"), runner.log.text)
        self.assertEqual((runner.codes["Verdict"], runner.status), (143, "failure"))
        self.assertIn("interrupted by SIGTERM", self.bodies()[0])


class Judging(ActionTest):
    def test_a_run_of_another_machine_is_judged_here(self):
        self.repository.write("traces/block.json", WORSE)
        there = self.runner()
        there.use({"comment": "never", "fail-on": "never", "artifact": "measured"})
        here = self.runner()
        shutil.copytree(there.artifacts["measured"], here.workspace / "measured")
        (here.workspace / "traces/block.json").unlink()
        outputs = here.use({"from": "measured/run"})
        self.assertEqual((here.codes["Verdict"], outputs["verdict"]), (1, "fail"), here.log.text)
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_a_folder_that_holds_no_run_exits_with_3(self):
        runner = self.runner()
        outputs = runner.use({"from": "nowhere"})
        self.assertEqual((runner.codes["Verdict"], outputs["verdict"]), (3, "error"))
        self.assertIn("without a verdict", self.bodies()[0])


if __name__ == "__main__":
    unittest.main()
