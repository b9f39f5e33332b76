"""docs/github.md as a new user follows it, with a real PyTorch: its files word for word, its workflows
job by job."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from examples_test import EXAMPLES, ExampleTest
from repository import PERFGATE
from runner import ROOT, load

PYTHON = pathlib.Path(os.environ["PERFGATE_TORCH_PYTHON"])
PAGE = (ROOT / "docs/github.md").read_text()


def block(first_line):
    """The fenced block that begins so."""
    return re.search(rf"```\w+\n({re.escape(first_line)}.*?)```", PAGE, re.S)[1]


class Tutorial(ExampleTest):
    baseline = False

    def machine(self, *arguments, **options):
        runner = super().machine(*arguments, **options)
        runner.path.insert(1, str(PYTHON.parent))
        return runner

    def pull_request(self, runner_status):
        runner = self.machine()
        runner.job(load(EXAMPLES / "cpu.yml"), "perfgate")
        self.assertEqual(runner.status, runner_status, runner.log.text)
        self.kept = runner.artifacts["perfgate"]
        return self.bodies()[-1]

    def accept(self, reason, rules=""):
        """The pull request with baselines, merged."""
        origin = self.folder / "origin.git"
        shutil.rmtree(origin, ignore_errors=True)
        self.repository.git("clone", "-q", "--bare", ".", origin)
        refresh = load(EXAMPLES / "baseline-refresh.yml")
        measuring = self.machine("workflow_dispatch")
        measuring.job(refresh, "measure")
        proposing = self.machine("workflow_dispatch", artifacts=measuring.artifacts, ref_name="main")
        proposing.job(refresh, "propose", {"measure": "success"}, inputs={"reason": reason, "rules": rules})
        self.assertEqual(proposing.status, "success", proposing.log.text)
        self.repository.git("pull", "-q", "origin", "perfgate-baselines-9")

    def test_from_a_model_to_a_pull_request_that_fails_for_its_reason(self):
        shutil.rmtree(self.repository.folder / "traces")
        for name in ("model.py", "bench.py", "perfgate.yaml"):
            self.repository.write(name, block(f"# {name}\n"))
        self.repository.commit("A model, and its gate")
        self.repository.git("remote", "add", "origin", self.folder / "origin.git")
        self.assertIn("NO BASELINE", self.pull_request("success"))

        self.accept("first measurement")
        self.assertRegex(self.repository.git("ls-files", "baselines"), r"baselines/cpu-avx2\S*/.*/block-")

        suite = block("# perfgate.yaml\n")
        self.repository.write("perfgate.yaml", suite.replace("no_baseline: warn\n", ""))
        self.repository.commit("From now on a missing baseline fails")
        self.assertIn("perfgate: PASS", self.pull_request("success"))

        line = "        return self.down(F.gelu(self.gate(x)) * self.up(x))\n"
        slower = block("        return self.down((")
        self.assertEqual(block("# model.py\n").count(line), 1)
        self.repository.write("model.py", block("# model.py\n").replace(line, slower))
        body = self.pull_request("failure")
        self.assertIn("perfgate: FAIL", body)
        for told in ("aten::contiguous", "`no-hidden-copy`", "cpu\\_kernels 5 -&gt; 6 a step"):
            self.assertIn(told, body)
        self.assertEqual(len(self.bodies()), 1)

        self.repository.commit("Contiguous")
        # At a desk, with the artifact of the job.
        desk = self.folder / "desk"
        shutil.copytree(self.repository.folder, desk)
        shutil.copytree(self.kept, desk / "perfgate-report")
        command = re.search(r"^perfgate baseline accept .*?--reason '…'$", body, re.M | re.S)[0]
        path = f"{pathlib.Path(PERFGATE).parent}:{os.environ['PATH']}"
        subprocess.run(["bash", "-c", command.replace("…", "meant")], cwd=desk, check=True, capture_output=True,
                       env={**os.environ, "PATH": path})
        # By the workflow.
        self.accept("meant", re.search(r"`(no-hidden-copy no-extra-kernel)`", PAGE)[1])
        self.assertIn("perfgate: PASS", self.pull_request("success"))

    def test_what_init_writes_passes_and_says_that_there_is_no_baseline(self):
        for path in ("perfgate.yaml", "traces/block.json"):
            (self.repository.folder / path).unlink()
        self.repository.write("requirements.txt", "torch\n")
        self.repository.perfgate("init")
        runner = self.machine()
        runner.job(load(self.repository.folder / ".github/workflows/perfgate.yml"), "perfgate")
        self.assertEqual(runner.status, "success", runner.log.text)
        self.assertIn("NO BASELINE", self.bodies()[0])


if __name__ == "__main__":
    unittest.main(defaultTest="Tutorial")
