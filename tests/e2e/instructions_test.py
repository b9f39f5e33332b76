"""Instructions of a small C++ program are counted by a real tool: alike each time, more where more is done."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PERFGATE, PROGRAM = os.environ["PERFGATE"], os.environ["ATTEMPT_H_PROGRAM"]

SUITE = f"""version: 1
suite: e2e
rules: [mine.yaml]
workloads:
  - name: scale
    command: [{PROGRAM}]
    device: cpu
    profiler: instructions
    warmup: {{iterations: 3}}
    timed: {{iterations: 50}}
"""

RULES = """version: 1
rules:
  - id: no-more-instructions
    metric: instructions
    change: {at_most: +0.5%}
"""


class Instructions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "perfgate.yaml").write_text(SUITE)
        (self.folder / "mine.yaml").write_text(RULES)

    def perfgate(self, *arguments, **environment):
        done = subprocess.run([PERFGATE, *arguments], cwd=self.folder, text=True, capture_output=True,
                              env={**os.environ, **environment}, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_loop_more_a_step_fails_and_the_same_program_passes(self):
        code, said = self.perfgate("run")
        self.assertEqual(code, 4, said)  # no baseline
        code, said = self.perfgate("baseline", "accept", "--reason", "first")
        self.assertEqual(code, 0, said)
        code, said = self.perfgate("run")
        self.assertEqual(code, 0, said)
        self.assertIn("the difference of processes of 50 and 100 iterations", said)
        code, said = self.perfgate("run", EXTRA_WORK="1")
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"instructions [\d.]+ -> [\d.]+ a step, \+4\d\.\d % \(at most \+0\.5%\)")
        self.assertEqual(" ".join(said.split()).count("unknown: instructions were counted, not traced"), 4)

    def test_a_program_without_the_contract_is_counted_as_a_whole(self):
        suite = SUITE.replace(PROGRAM, "sh, -c, 'i=0; while [ $i -lt 9 ]; do i=$((i+1)); done'")
        (self.folder / "perfgate.yaml").write_text(suite)
        self.perfgate("run")
        code, said = self.perfgate("inspect", "latest:scale", "--format", "json")
        self.assertEqual(code, 0, said)
        evidence = json.loads(said)
        self.assertEqual(evidence["key"]["counted"], "a process")
        self.assertGreater(evidence["metrics"]["instructions"]["value"], 10_000)
        self.assertIsNone(evidence["metrics"]["latency.p50"]["value"])


if __name__ == "__main__":
    unittest.main()
