"""A test with a folder of its own, the files of a suite in it, and perfgate run there."""

import os
import pathlib
import subprocess
import unittest

from gate_suite import PERFGATE, WORKLOAD, temporary_folder


def timed_step(latencies):
    """A step whose latencies in ns are what the shell command `latencies` prints: "100, 101"."""
    return f"""\
#!/bin/sh
set -e
{WORKLOAD} ok
times=$({latencies})
sed -i "s/\\"latency_ns\\": .*\\], \\"disp/\\"latency_ns\\": [$times], \\"disp/" "$PERFGATE_ATTEMPT_DIR/samples.json"
"""


class GateCase(unittest.TestCase):

    def setUp(self):
        temporary = temporary_folder()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, text):
        """A file of the folder; scripts may be run."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)

    def git(self, *arguments):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True)

    def perfgate(self, *arguments, **variables):
        return subprocess.run([PERFGATE, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, env=os.environ | variables, timeout=300, check=False)
