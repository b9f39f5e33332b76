"""calibrate on a real machine: the noise that the workload has, and what run --against makes of it."""

import json
import unittest

from gate_case import GateCase, timed_step
from gate_suite import query

SUITE = """\
version: 1
suite: e2e
rules: [mine.yaml]
defaults:
  device: cpu
  warmup: {until_steady: false}
  traced: {iterations: 2, processes: 1}
workloads:
  - name: a
    command: [./step.sh]
"""
RULES = """\
version: 1
rules:
  - id: fine
    metric: latency.p50
    regression: {tolerance: 0.5%}
  - id: coarse
    metric: latency.p50
    regression: {tolerance: 100%}
"""
# All iterations of a process take the same time, between 100 and 125.5 us by chance.
STEP = timed_step("ns=$((100000 + 100 * $(od -An -N1 -tu1 /dev/urandom))); "
                  "printf \"$ns, %.0s\" 1 2 3 4 5 6 7 8 9; printf $ns")


class Calibrate(GateCase):

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet")
        self.write("perfgate.yaml", SUITE)
        self.write("mine.yaml", RULES)
        self.write("step.sh", STEP)

    def test_it_says_which_rule_the_machine_cannot_resolve_and_run_says_it_again(self):
        done = self.perfgate("calibrate", "--format", "json")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        p50 = next(c for c in report["calibrations"] if c["metric"] == "latency.p50")
        self.assertEqual(len(p50["base"]), 24)
        self.assertGreater(p50["noise"], 0.01)
        self.assertLess(p50["noise"], 0.4)
        resolved = {rule["rule"]: rule["why_not"] == "" for rule in report["rules"]}
        self.assertEqual(resolved, {"mine.yaml/fine": False, "mine.yaml/coarse": True})
        self.assertEqual([rule["failed"] for rule in report["rules"]][1], 0)

        rows = query(self.folder / "perfgate.db",
                     "SELECT metric, pairs FROM calibration_view WHERE metric = 'latency.p50'")
        self.assertEqual(rows, [("latency.p50", 24)])
        self.assertEqual(query(self.folder / "perfgate.db", "SELECT count(*) FROM run"), [(0,)])
        self.assertFalse((self.folder / "perfgate-out").exists())

        done = self.perfgate("run", "--against", ".", "--budget", "20s")
        first = done.stderr.splitlines()[0]
        self.assertRegex(first, r"perfgate: mine.yaml/fine \(mine.yaml:3:9\) cannot be resolved")
        self.assertIn("calibrated: latency.p50 varies by", done.stdout)

    def test_out_keeps_what_was_measured(self):
        done = self.perfgate("calibrate", "--pairs", "13", "--out", "kept")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        run = json.loads((self.folder / "kept" / "run.json").read_text())
        self.assertEqual(len(run["attempts"]), 26)


if __name__ == "__main__":
    unittest.main()
