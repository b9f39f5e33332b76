"""Instructions of a small C++ program are counted by a real tool: alike each time, more where more is done."""

import json
import os
import unittest

from gate_case import GateCase

PROGRAM = os.environ["ATTEMPT_H_PROGRAM"]

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


class Instructions(GateCase):
    def setUp(self):
        super().setUp()
        self.write("perfgate.yaml", SUITE)
        self.write("mine.yaml", RULES)

    def said(self, *arguments, **variables):
        """(exit code, both streams)"""
        done = self.perfgate(*arguments, **variables)
        return done.returncode, done.stdout + done.stderr

    def test_a_loop_more_a_step_fails_and_the_same_program_passes(self):
        code, said = self.said("run")
        self.assertEqual(code, 4, said)  # no baseline
        code, said = self.said("baseline", "accept", "--reason", "first")
        self.assertEqual(code, 0, said)
        code, said = self.said("run")
        self.assertEqual(code, 0, said)
        self.assertIn("the difference of processes of 50 and 100 iterations", said)
        code, said = self.said("run", EXTRA_WORK="1")
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"instructions [\d.]+ -> [\d.]+ a step, \+4\d\.\d % \(at most \+0\.5%\)")
        self.assertEqual(" ".join(said.split()).count("unknown: instructions were counted, not traced"), 4)

    def test_a_program_without_the_contract_is_counted_as_a_whole(self):
        suite = SUITE.replace(PROGRAM, "sh, -c, 'i=0; while [ $i -lt 9 ]; do i=$((i+1)); done'")
        self.write("perfgate.yaml", suite)
        self.perfgate("run")
        code, said = self.said("inspect", "latest:scale", "--format", "json")
        self.assertEqual(code, 0, said)
        evidence = json.loads(said)
        self.assertEqual(evidence["key"]["counted"], "a process")
        self.assertGreater(evidence["metrics"]["instructions"]["value"], 10_000)
        self.assertIsNone(evidence["metrics"]["latency.p50"]["value"])


if __name__ == "__main__":
    unittest.main()
