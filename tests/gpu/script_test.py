"""What ci/gpu says of checks that pass, fail, or could not measure; a stand-in takes the place of Python."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PYTHON = """#!/bin/sh
case "$*" in
  *gate_check.py*) exit {gate} ;;
  *cupti_check.py*) exit {cupti} ;;
esac
"""


class Script(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in ("perfgate", "perfgate-torch", "libperfgate_torch_cuda.so", "libperfgate_cupti.so"):
            (self.folder / name).touch()

    def run_checks(self, gate, cupti):
        python = self.folder / "python"
        python.write_text(PYTHON.format(gate=gate, cupti=cupti))
        python.chmod(0o755)
        done = subprocess.run([ROOT / "ci/gpu", self.folder / "out", "--build", self.folder, "--python", python,
                               "--only", "cupti,gate"], capture_output=True, text=True, check=False)
        lines = (self.folder / "out/summary.md").read_text().splitlines()
        return done.returncode, [line for line in lines if line.startswith("- ")]

    def test_checks_that_pass(self):
        self.assertEqual(self.run_checks(gate=0, cupti=0),
                         (0, ["- cupti: all checks passed", "- gate: all checks passed"]))

    def test_a_check_that_could_not_measure_has_not_failed(self):
        self.assertEqual(self.run_checks(gate=0, cupti=3), (3, [
            "- cupti: not decided: it could not measure here (exit 3), see cupti.log",
            "- gate: all checks passed"]))

    def test_a_check_that_failed_comes_before_one_that_could_not_measure(self):
        self.assertEqual(self.run_checks(gate=1, cupti=3), (1, [
            "- cupti: not decided: it could not measure here (exit 3), see cupti.log",
            "- gate: FAILED (exit 1), see gate.log"]))
        self.assertEqual(self.run_checks(gate=3, cupti=2)[0], 1)


if __name__ == "__main__":
    unittest.main()
