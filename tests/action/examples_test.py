"""The workflows of examples/github and of README, played job by job."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

from action_case import EVENTS, ActionTest, pull_request
from repository import GOOD, WORSE
from runner import ROOT, Failure, Runner, load
from ruamel.yaml import YAML

EXAMPLES = ROOT / "examples/github"


class ExampleTest(ActionTest):
    def machine(self, *arguments, artifacts=None, **options):
        """A machine with an empty workspace, and stand-ins for what the network would bring."""
        runner = self.runner(*arguments, **options)
        shutil.rmtree(runner.workspace)
        runner.workspace.mkdir()
        runner.actions.update({
            "actions/checkout": lambda on, _: shutil.copytree(
                self.repository.folder, on.workspace, dirs_exist_ok=True),
            "actions/setup-python": lambda *_: None,
            "actions/download-artifact": lambda on, inputs: download(on, inputs, artifacts or {})})
        tools = runner.folder / "tools"
        tools.mkdir()
        for name in ("pip", "gh"):
            (tools / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "{name}" "$@" >>{runner.folder}/{name}\n')
            (tools / name).chmod(0o755)
        runner.path.insert(0, str(tools))
        return runner


def download(runner, inputs, artifacts):
    target = runner.workspace / inputs["path"]
    if "pattern" in inputs:
        found = {name: target / name for name in artifacts if pathlib.PurePath(name).match(inputs["pattern"])}
    else:
        found = {name: target for name in artifacts if name == inputs["name"]}
    if not found:
        raise Failure("Unable to download artifact(s): Artifact not found")
    for name, folder in found.items():
        shutil.copytree(artifacts[name], folder, symlinks=True)


class Cpu(ExampleTest):
    def test_a_pull_request_is_measured_and_commented(self):
        self.repository.write("traces/block.json", WORSE)
        runner = self.machine()
        runner.job(load(EXAMPLES / "cpu.yml"), "perfgate")
        self.assertEqual(runner.status, "failure")
        self.assertIn("perfgate: FAIL", self.bodies()[0])
        self.assertEqual((runner.folder / "pip").read_text(), "pip\ninstall\n-r\nrequirements.txt\n")

    def test_the_ten_lines_of_the_readme_do_the_same(self):
        block = re.search(r"```yaml\n(# \.github/workflows/perfgate\.yml\n.*?)```",
                          (ROOT / "README.md").read_text(), re.S)[1]
        self.repository.write("traces/block.json", WORSE)
        runner = self.machine()
        runner.job(YAML(typ="safe", pure=True).load(block), "perfgate")
        self.assertEqual(runner.status, "failure", runner.log.text)
        self.assertIn("perfgate: FAIL", self.bodies()[0])


class Fork(ExampleTest):
    def measured(self):
        """The artifact of a job for a pull request of a fork, which failed."""
        self.repository.write("traces/block.json", WORSE)
        runner = self.machine(event=pull_request("fork/model"))
        runner.job(load(EXAMPLES / "cpu.yml"), "perfgate")
        self.assertEqual((runner.status, self.github.seen), ("failure", []))
        return runner.artifacts["perfgate"]

    def comment(self, artifacts, event=None, ran=True):
        self.github.pulls = [{"number": 7, "head": "fork:faster", "sha": "c0ffee1234567"}]
        runner = self.machine("workflow_run", event=event, artifacts=artifacts)
        self.assertEqual(runner.job(load(EXAMPLES / "fork-comment.yml"), "comment"), ran)
        return runner

    def test_a_fork_gets_its_comment_from_the_second_stage(self):
        runner = self.comment({"perfgate": self.measured()})
        self.assertEqual(runner.status, "success", runner.log.text)
        self.assertEqual([comment["number"] for comment in self.github.comments], [7])
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_the_outcome_is_that_of_github(self):
        artifact = self.measured()
        verdict = json.loads((artifact / "verdict.json").read_text())
        verdict["verdict"], verdict["exit_code"] = "pass", 0
        (artifact / "verdict.json").write_text(json.dumps(verdict))
        self.comment({"perfgate": artifact})
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_a_job_without_an_artifact_is_passed_over(self):
        runner = self.comment({})
        self.assertEqual((runner.status, self.bodies()), ("success", []))

    def test_a_pull_request_of_this_repository_was_commented_before(self):
        event = json.loads(json.dumps(EVENTS["workflow_run"]))
        event["workflow_run"]["head_repository"]["full_name"] = "octo/model"
        self.comment({}, event, ran=False)

    def test_nothing_of_an_artifact_is_run_or_followed(self):
        artifact = self.measured()
        secret = self.folder / "secret"
        secret.write_text("the-secret-5f2e")
        (artifact / "verdict.json").unlink()
        (artifact / "verdict.json").symlink_to(secret)
        for name in ("perfgate", "bash", "perfgate.yaml", ".bashrc"):
            (artifact / name).write_text(f"#!/bin/sh\ntouch {self.folder}/pwned\n")
            (artifact / name).chmod(0o755)
        runner = self.comment({"perfgate": artifact})
        self.assertEqual((self.bodies(), (self.folder / "pwned").exists()), ([], False))
        self.assertNotIn("the-secret-5f2e", runner.log.text)


class Gpu(ExampleTest):
    def test_what_one_machine_measured_another_one_judges(self):
        self.repository.write("traces/block.json", WORSE)
        workflow = load(EXAMPLES / "gpu.yml")
        measuring = self.machine()
        self.assertTrue(measuring.job(workflow, "measure"))
        self.assertEqual((measuring.status, self.github.seen), ("success", []), measuring.log.text)
        judging = self.machine(artifacts=measuring.artifacts)
        judging.job(workflow, "judge", needs={"measure": "success"})
        self.assertEqual(judging.status, "failure", judging.log.text)
        self.assertIn("perfgate: FAIL", self.bodies()[0])

    def test_a_fork_does_not_reach_the_gpu(self):
        runner = self.machine(event=pull_request("fork/model"))
        for workflow, job in (("gpu.yml", "measure"), ("gpu-matrix.yml", "gpu"), ("merge-queue.yml", "gpu")):
            self.assertFalse(runner.job(load(EXAMPLES / workflow), job), workflow)

    def test_jobs_for_one_gpu_wait_for_each_other_and_none_is_dropped(self):
        on_gpus = [job for path in EXAMPLES.glob("*.yml") for job in load(path)["jobs"].values()
                   if "self-hosted" in job["runs-on"]]
        self.assertGreaterEqual(len(on_gpus), 3)
        for job in on_gpus:
            self.assertRegex(job["concurrency"]["group"], "^gpu")
            self.assertEqual(job["concurrency"]["queue"], "max")

    def test_the_legs_of_a_matrix_share_one_comment(self):
        workflow, artifacts, codes = load(EXAMPLES / "gpu-matrix.yml"), {}, []
        for gpu, text in (("h200", GOOD), ("a100", WORSE)):
            self.repository.write("traces/block.json", text)
            leg = self.machine()
            leg.job(workflow, "gpu", matrix={"gpu": gpu})
            codes.append(leg.codes["Verdict"])
            artifacts |= leg.artifacts
        self.assertEqual((codes, self.github.seen), ([0, 1], []))
        self.assertEqual(sorted(artifacts), ["perfgate-a100", "perfgate-h200"])
        last = self.machine(artifacts=artifacts)
        self.assertTrue(last.job(workflow, "comment", needs={"gpu": "failure"}))
        self.assertEqual((last.status, len(self.bodies())), ("success", 1), last.log.text)
        self.assertIn("perfgate: FAIL", self.bodies()[0])
        self.assertIn("perfgate: PASS", self.bodies()[0])


class Refresh(ExampleTest):
    baseline = False
    REASON = "torch 2.11; $(touch pwned) `touch pwned` \"'"

    def test_new_baselines_are_proposed_as_a_pull_request(self):
        origin = self.folder / "origin.git"
        self.repository.git("clone", "-q", "--bare", ".", origin)
        self.repository.git("remote", "add", "origin", origin)
        workflow = load(EXAMPLES / "baseline-refresh.yml")
        measuring = self.machine("workflow_dispatch")
        measuring.job(workflow, "measure")
        self.assertEqual(measuring.status, "success", measuring.log.text)
        proposing = self.machine("workflow_dispatch", artifacts=measuring.artifacts, ref_name="main")
        proposing.job(workflow, "propose", needs={"measure": "success"}, inputs={"reason": self.REASON})
        self.assertEqual(proposing.status, "success", proposing.log.text)
        changed = self.repository.run("git", "-C", origin, "diff", "--stat", "main", "perfgate-baselines-9")
        self.assertRegex(changed, r"baselines/cpu/[^ ]+/block-[^ ]+json")
        self.assertIn("1 file changed", changed)
        message = self.repository.run("git", "-C", origin, "log", "-1", "--format=%B", "perfgate-baselines-9")
        self.assertTrue(message.startswith(f"Baselines: {self.REASON}\n\nblock: first baseline, cpu_kernels "), message)
        self.assertIn(f"\n--body\n{self.REASON}\n", (proposing.folder / "gh").read_text())
        self.assertEqual(list(self.folder.rglob("pwned")), [])


class MergeQueue(ExampleTest):
    def test_the_required_check_passes_only_if_all_before_it_did_what_they_should(self):
        workflow = load(EXAMPLES / "merge-queue.yml")
        for event, cpu, gpu, passes in (
                ("pull_request", "success", "skipped", True), ("merge_group", "success", "success", True),
                ("merge_group", "success", "skipped", False), ("merge_group", "success", "failure", False),
                ("pull_request", "failure", "skipped", False), ("pull_request", "skipped", "skipped", False),
                ("merge_group", "success", "cancelled", False)):
            with self.subTest((event, cpu, gpu)):
                runner = self.machine(event)
                self.assertTrue(runner.job(workflow, "gate", needs={"cpu": cpu, "gpu": gpu}))
                self.assertEqual(runner.status == "success", passes)

    def test_what_is_to_be_merged_is_measured_on_a_gpu(self):
        kept = []
        for job in ("cpu", "gpu"):
            runner = self.machine("merge_group")
            self.assertTrue(runner.job(load(EXAMPLES / "merge-queue.yml"), job))
            self.assertEqual(runner.status, "success", runner.log.text)
            kept += runner.artifacts
        self.assertEqual(kept, ["perfgate", "perfgate-gpu"])
        self.assertEqual(self.github.seen, [])


class Placeholder(unittest.TestCase):
    def test_one_command_puts_a_repository_and_a_commit_everywhere(self):
        guide = (ROOT / "docs/github.md").read_text()
        command = re.search(r"^sed -i ('[^']*') \.github/workflows/perfgate\*\.yml$", guide, re.M)[1]
        files = [*EXAMPLES.glob("*.yml"), *(ROOT / "src/init/templates").glob("github*.yml")]
        filled = subprocess.run(["sed", command.strip("'"), *files], capture_output=True, text=True, check=True).stdout
        uses = re.findall(r"uses: (\S*perfgate\S*|OWNER\S*)", filled)
        self.assertEqual(set(uses), {"OWNER/NAME@COMMIT"})
        self.assertGreater(len(uses), len(files) / 2)


if __name__ == "__main__":
    unittest.main()
