#!/usr/bin/env python3
"""The suite that ci/gpu runs, perfgate.yaml of this project, is sound: a mistake in it would be seen only
on a GPU machine, after everything was built there."""
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).parents[2]


class OwnSuite(unittest.TestCase):
    def test_declares_eighteen_cases_for_a_gpu(self):
        done = subprocess.run([os.environ["PERFGATE"], "run", str(ROOT), "--dry-run"],
                              text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("18 cases of perfgate, "), done.stdout)
        cases = re.findall(r"^(\S+)  device (\S+), (\d+) attempts$", done.stdout, re.M)
        self.assertEqual(len({name for name, _, _ in cases}), 18)
        self.assertEqual({(device, count) for _, device, count in cases}, {("cuda", "2")})

    def test_its_baselines_of_an_h200_are_sound_and_one_a_case(self):
        kept = ROOT / "baselines"
        done = subprocess.run([os.environ["PERFGATE"], "baseline", "verify", "--baselines", str(kept)],
                              cwd=ROOT, text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        names = {json.loads(path.read_text())["case"] for path in kept.glob("nvidia-h200/*/*.json")}
        cases = subprocess.run([os.environ["PERFGATE"], "run", str(ROOT), "--dry-run"], text=True,
                               capture_output=True, timeout=60, check=True).stdout
        self.assertEqual(names, set(re.findall(r"^(\S+)  device ", cases, re.M)))


if __name__ == "__main__":
    unittest.main()
