"""selftest with the real perfgate-torch on this CPU: every defect of structure or numbers is caught."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PERFGATE = os.environ["PERFGATE"]


class Selftest(unittest.TestCase):

    def test_the_packs_catch_what_is_planted_here(self):
        with tempfile.TemporaryDirectory() as folder:
            # So little time that times are screened at most; structure is measured whatever it is.
            done = subprocess.run([PERFGATE, "selftest", "--device", "cpu", "--budget", "1s",
                                   "--format", "json"], cwd=folder, capture_output=True, text=True,
                                  timeout=540)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(os.listdir(pathlib.Path(folder)), [])
        report = json.loads(done.stdout)
        self.assertEqual(report["schema"], "perfgate.selftest/1")
        by_plant = {(result["workload"], result["plant"]): result
                    for result in report["results"] if result["group"] == "structure"}
        self.assertEqual(len(by_plant), 6)
        for workload in ("geglu", "mlp"):
            for plant in ("clone", "cast", "split_activation"):
                self.assertEqual(by_plant[workload, plant]["caught"], "yes", (workload, plant))
                self.assertIn("no-extra-kernel", by_plant[workload, plant]["by"])
        numbers = {result["workload"]: result["by"] for result in report["results"]
                   if result["group"] == "numbers"}
        self.assertEqual(numbers, {"geglu": ["accuracy"], "mlp": ["accuracy"]})
        unchanged = [result for result in report["results"] if result["group"] == "unchanged"]
        self.assertEqual([result["by"] for result in unchanged], [[], [], []])


if __name__ == "__main__":
    unittest.main()
