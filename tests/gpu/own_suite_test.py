#!/usr/bin/env python3
"""The suite that ci/gpu runs, perfgate.yaml of this project, is sound: a mistake in it would be seen only
on a GPU machine, after everything was built there."""
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


if __name__ == "__main__":
    unittest.main()
