"""perfgate is killed at any instant: the database still opens and holds whole runs only."""

import os
import random
import signal
import subprocess
import time
import unittest

from gate_suite import Suite, processes_of, query, wait_for

KILLS = int(os.environ.get("PERFGATE_KILLS", "200"))
CASES, PROCESSES, KERNELS = 2, 2, 2


class Killed(unittest.TestCase):

    def check_whole(self, db):
        """Number of runs, each of which must be whole."""
        self.assertEqual(query(db, "PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(query(db, "PRAGMA foreign_key_check"), [])
        if not query(db, "SELECT 1 FROM sqlite_master"):
            return 0
        runs = query(db, """
            SELECT case_count, attempt_count, status,
              (SELECT count(*) FROM kernel_view AS k WHERE k.run = r.run),
              (SELECT count(*) FROM latency_view AS l WHERE l.run = r.run)
            FROM run_view AS r""")
        for run in runs:
            self.assertEqual(run, (CASES, CASES * PROCESSES, "finished", CASES * KERNELS,
                                   CASES * PROCESSES * 10))
        return len(runs)

    def test_two_hundred_times(self):
        chance = random.Random(20270131)
        with Suite(("a", ["ok"]), ("b", ["ok"]), processes=PROCESSES) as suite:
            start = time.monotonic()
            self.assertEqual(suite.run(db=suite.folder / "first.db")[0], 4)
            whole = time.monotonic() - start
            finished = 0
            for kill in range(KILLS):
                process = suite.start_run()
                # Half of them near the end, where the database is written.
                late = kill % 2 == 1
                instant = chance.uniform(0.6 * whole if late else 0, 1.2 * whole)
                try:
                    process.wait(timeout=instant)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                suite.finish(process)
                finished += process.returncode == 4
                self.assertIn(process.returncode, (4, -signal.SIGKILL))
                if suite.db.exists():
                    runs = self.check_whole(suite.db)
                    # A run that was killed after its commit is there, too.
                    self.assertGreaterEqual(runs, finished)
                wait_for(lambda: not processes_of(suite.folder), "attempts to end")
            before = self.check_whole(suite.db)
            self.assertEqual(suite.run()[0], 4)
            self.assertEqual(self.check_whole(suite.db), before + 1)
            self.assertGreater(before, 0)
            self.assertLess(finished, KILLS)


if __name__ == "__main__":
    unittest.main()
