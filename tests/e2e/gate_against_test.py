"""run --against on a real repository: the base is a git worktree, its scripts run there."""

import json
import unittest

from gate_case import GateCase, timed_step
from gate_suite import query

SUITE = """\
version: 1
suite: e2e
rules: [perfgate:structure, mine.yaml]
defaults:
  device: cpu
  traced: {iterations: 2, processes: 2}
workloads:
  - name: a
    prepare: [./prepare.sh]
    command: [./step.sh]
"""
RULES = """\
version: 1
rules:
  - id: p50
    metric: latency.p50
    regression: {tolerance: 5%}
"""
# What prepare.sh has left in this folder is the latency of all iterations.
STEP = timed_step("cat built")
PREPARE = "#!/bin/sh\necho '%s' > built\n"


def times(ns):
    return ", ".join([str(ns)] * 10)


class Against(GateCase):

    def setUp(self):
        super().setUp()
        self.base = self.folder / "base"
        self.folder = self.folder / "head"
        self.bench = self.folder / "bench"
        self.write("bench/perfgate.yaml", SUITE)
        self.write("bench/mine.yaml", RULES)
        self.write("bench/step.sh", STEP)
        self.write("bench/prepare.sh", PREPARE % times(100000))
        self.git("init", "--quiet", ".")
        self.commit("base")
        self.git("worktree", "add", "--quiet", "--detach", str(self.base))

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", message)

    def run_against(self, *arguments, **variables):
        return self.perfgate("run", "bench", "--against", str(self.base), *arguments, **variables)

    def test_a_slower_head_fails_and_the_stored_run_is_judged_alike(self):
        self.write("bench/prepare.sh", PREPARE % times(107000))
        self.commit("slower")
        result = self.run_against("--seed", "5")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("latency.p50 is 7.0 % slower than base", result.stdout)
        self.assertIn("base of pair 17", result.stderr)
        self.assertEqual(
            query(self.bench / "perfgate.db",
                  "SELECT side, count(*), min(latency_ns), max(latency_ns) FROM latency_view GROUP BY 1"),
            [("base", 170, 100000, 100000), ("head", 170, 107000, 107000)])
        folders = {path.name for path in (self.bench / "perfgate-out/attempts").glob("*/*")}
        self.assertEqual(len(folders), 34)
        self.assertLessEqual({"traced-0", "base-traced-0", "timed-16", "base-timed-16"}, folders)
        again = self.perfgate("judge", "--suite", "bench", "--format", "json")
        self.assertEqual(again.returncode, 1, again.stderr)
        verdict = json.loads(again.stdout)
        finding, = (f for f in verdict["cases"][0]["findings"] if f["metric"] == "latency.p50")
        self.assertEqual((finding["status"], finding["statistics"]["round"],
                          finding["statistics"]["pairs"]), ("fail", 1, 12))
        self.assertNotEqual(verdict["measured_base"], verdict["head"])

    def test_an_equal_head_passes_after_five_pairs(self):
        result = self.run_against()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        attempts = query(self.bench / "perfgate.db",
                         "SELECT side, phase, count(*) FROM attempt_view GROUP BY 1, 2 ORDER BY 1, 2")
        self.assertEqual(attempts, [("base", "timed", 3), ("base", "traced", 2),
                                    ("head", "timed", 3), ("head", "traced", 2)])

    def test_the_seed_repeats_the_order(self):
        def order(seed):
            self.assertEqual(self.run_against("--seed", seed).returncode, 0)
            run = json.loads((self.bench / "perfgate-out/run.json").read_text())
            return [attempt["dir"] for attempt in run["attempts"]]

        first = order("5")
        self.assertEqual(first, order("5"))
        self.assertIn(True, [first != order(seed) for seed in ("6", "7")])

    def test_a_path_of_head_in_the_environment_is_noted(self):
        result = self.run_against(PYTHONPATH=str(self.folder / "lib"))
        self.assertIn("PYTHONPATH names", " ".join(result.stdout.split()))
        self.assertIn("may have run head's code", " ".join(result.stdout.split()))

    def test_a_checkout_without_the_suites_folder_is_refused(self):
        result = self.perfgate("run", "bench", "--against", str(self.folder / ".git"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("it has no folder bench", result.stderr)


if __name__ == "__main__":
    unittest.main()
