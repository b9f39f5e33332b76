"""`perfgate gc` is killed at any instant: what must stay is whole, and the next gc finishes."""

import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from gate_suite import Suite, query

KILLS = int(os.environ.get("PERFGATE_KILLS", "60"))
RUNS, KEPT = 6, 2


class Killed(unittest.TestCase):

    def check_whole(self, folder):
        """Ids in the database, oldest first; each run is whole."""
        db = folder / "perfgate.db"
        self.assertEqual(query(db, "PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(query(db, "PRAGMA foreign_key_check"), [])
        runs = query(db, """
            SELECT id, (SELECT count(*) FROM evidence AS e JOIN kernel USING (evidence_id)
                        WHERE e.run_id = run.run_id) FROM run ORDER BY run_id""")
        self.assertEqual({kernels for _, kernels in runs}, {2})
        return [run for run, _ in runs]

    def test_what_must_stay_is_whole(self):
        chance = random.Random(20270131)
        with Suite(("a", ["ok"])) as suite:
            for i in range(RUNS):
                self.assertEqual(suite.run(out=suite.folder / "runs" / str(i))[0], 4 if i == 0 else 0)
                if i == 0:
                    accept = suite.start("baseline", "accept", "--reason", "first")
                    self.assertEqual(suite.finish(accept)[0], 0)
            ids = self.check_whole(suite.folder)
            stay = [ids[0], *ids[-KEPT:]]
            folders = ["0", *(str(i) for i in range(RUNS - KEPT, RUNS))]
            gc = ["gc", "--keep-runs", KEPT, "--out", "runs"]
            template = suite.folder.with_name(suite.folder.name + "-template")
            shutil.copytree(suite.folder, template)
            self.addCleanup(shutil.rmtree, template, ignore_errors=True)
            start = time.monotonic()
            self.assertEqual(suite.finish(suite.start(*gc))[0], 0)
            whole = time.monotonic() - start
            killed = 0
            for _ in range(KILLS):
                shutil.rmtree(suite.folder)
                shutil.copytree(template, suite.folder)
                process = suite.start(*gc)
                try:
                    process.wait(timeout=chance.uniform(0, 1.1 * whole))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                suite.finish(process)
                self.assertIn(process.returncode, (0, -signal.SIGKILL))
                killed += process.returncode != 0
                self.assertIn(self.check_whole(suite.folder), (ids, stay))
                for kept in folders:
                    self.assertTrue((suite.folder / "runs" / kept / "attempts").is_dir())
                code, _, stderr = suite.finish(suite.start(*gc))
                self.assertEqual(code, 0, stderr)
                self.assertEqual(self.check_whole(suite.folder), stay)
                self.assertEqual(sorted(os.listdir(suite.folder / "runs")), folders)
            self.assertGreater(killed, KILLS // 4)


if __name__ == "__main__":
    unittest.main()
