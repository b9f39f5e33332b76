"""The workflow that `perfgate init` writes, read by the linters of ci/lint and played."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from action_case import TEMPORARY
from examples_test import ExampleTest
from repository import PERFGATE
from runner import load

TOOLS = pathlib.Path(sys.executable).parent
REPOSITORIES = {
    "python": {"requirements.txt": "torch\n"},
    "package": {"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"torch\"]\n"},
    "libtorch": {"CMakeLists.txt": "project(x)\nfind_package(Torch REQUIRED)\n"},
    "none": {"README.md": "x\n"},
}


class Written(unittest.TestCase):
    def test_it_has_no_findings(self):
        for name, files in REPOSITORIES.items():
            with self.subTest(name), tempfile.TemporaryDirectory(dir=TEMPORARY) as folder:
                for file, text in files.items():
                    (pathlib.Path(folder) / file).write_text(text)
                subprocess.run([PERFGATE, "init", folder], check=True, stdout=subprocess.DEVNULL)
                workflow = pathlib.Path(folder) / ".github/workflows/perfgate.yml"
                for command in (["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
                                ["zizmor", "--offline", "--no-progress", "--quiet"]):
                    done = subprocess.run([TOOLS / command[0], *command[1:], workflow], check=False,
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Played(ExampleTest):
    def test_it_gates_a_suite_that_is_there(self):
        self.repository.write("requirements.txt", "torch\n")
        self.repository.perfgate("init")
        runner = self.machine()
        runner.job(load(self.repository.folder / ".github/workflows/perfgate.yml"), "perfgate")
        self.assertEqual(runner.status, "success", runner.log.text)
        self.assertIn("perfgate: PASS", self.bodies()[0])


if __name__ == "__main__":
    unittest.main()
