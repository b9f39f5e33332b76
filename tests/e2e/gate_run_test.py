"""Whole runs of perfgate on tiny workloads, and what may go wrong with one."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from gate_suite import Suite, is_alive, pid_in, query

NO_BASELINE, COULD_NOT_MEASURE = 4, 3


class Runs(unittest.TestCase):

    def test_a_run_is_stored_with_all_that_was_measured(self):
        with Suite(("a", ["ok"]), processes=2) as suite:
            code, stdout, stderr = suite.run()
            self.assertEqual(code, NO_BASELINE, stdout + stderr)
            self.assertIn("[2/2] a traced 2/2", stderr)
            self.assertEqual(query(suite.db, "SELECT value FROM metric_view "
                                             "WHERE metric = 'cpu_kernels'"), [(2.0,)])
            self.assertEqual(query(suite.db, "SELECT count(*) FROM latency_view"), [(20,)])
            self.assertFalse(pathlib.Path(f"{suite.db}-wal").exists())

    def test_a_fault_of_one_case_leaves_the_others_alone(self):
        with Suite(("a", ["fail"]), ("b", ["ok"])) as suite:
            code, stdout, stderr = suite.run()
            self.assertEqual(code, COULD_NOT_MEASURE, stdout)
            self.assertIn("[1/2] a traced 1/1", stderr)
            self.assertIn("exit code 7", stderr)
            self.assertIn("exit code 7", stdout)
            self.assertEqual(
                query(suite.db, "SELECT case_name, fault, stderr_tail FROM attempt_view"),
                [("a", "exit code 7", "RuntimeError: planted\n"), ("b", "", "")])
            self.assertEqual(query(suite.db, "SELECT case_name, complete FROM case_view"),
                             [("a", 0), ("b", 1)])

    def test_two_at_once_are_both_stored(self):
        with Suite(("a", ["ok"])) as suite:
            writers = [suite.start_run(out=suite.folder / f"out-{i}") for i in range(6)]
            for writer in writers:
                code, stdout, stderr = suite.finish(writer)
                self.assertEqual(code, NO_BASELINE, stdout + stderr)
            self.assertEqual(query(suite.db, "SELECT count(*) FROM run"), [(len(writers),)])
            self.assertEqual(query(suite.db, "PRAGMA integrity_check"), [("ok",)])

    def test_a_time_out_ends_what_the_workload_started(self):
        with Suite(("a", ["hang", "{folder}/pid"]), ("b", ["ok"]), timeout="500ms") as suite:
            code, stdout, stderr = suite.run()
            self.assertEqual(code, COULD_NOT_MEASURE, stdout)
            self.assertIn("timed out after 500 ms", stderr)
            self.assertIn("timed out after 500 ms", stdout)
            self.assertFalse(is_alive(pid_in(suite.folder / "pid")))
            self.assertEqual(query(suite.db, "SELECT case_name, complete FROM case_view"),
                             [("a", 0), ("b", 1)])

    def test_an_out_folder_is_ingested_elsewhere_as_it_was_here(self):
        with Suite(("a", ["ok"]), ("b", ["fail"]), processes=2) as suite, \
                tempfile.TemporaryDirectory() as elsewhere:
            suite.run()
            shutil.copytree(suite.out, f"{elsewhere}/moved")
            db = f"{elsewhere}/other.db"
            code, _, stderr = suite.finish(suite.start("ingest", f"{elsewhere}/moved", "--db", db))
            self.assertEqual(code, 0, stderr)
            for table in ("run", "attempt", "sample", "evidence", "metric", "observation",
                          "kernel"):
                rows = query(suite.db, f"SELECT * FROM {table}")
                self.assertEqual(query(db, f"SELECT * FROM {table}"), rows, table)
                self.assertTrue(rows, table)

    def test_a_hostile_out_folder_is_refused(self):
        with Suite(("a", ["ok"])) as suite:
            suite.run()
            record = json.loads((suite.out / "run.json").read_text())
            record["attempts"][0]["dir"] = "../../etc"
            (suite.out / "run.json").write_text(json.dumps(record))
            code, _, stderr = suite.finish(suite.start("ingest", suite.out, "--db", "other.db"))
            self.assertEqual(code, COULD_NOT_MEASURE)
            self.assertIn("attempts[0].dir: expected a path inside the out folder", stderr)


class Interrupted(unittest.TestCase):

    def interrupted_by(self, signal_number, send):
        with Suite(("a", ["ok"]), ("b", ["slow", "{folder}/pid"]), ("c", ["ok"])) as suite:
            process = suite.start_run(start_new_session=True)
            child = pid_in(suite.folder / "pid")
            send(process.pid, signal_number)
            code, stdout, stderr = suite.finish(process)
            self.assertEqual(code, 128 + signal_number, stdout + stderr)
            self.assertFalse(is_alive(child))
            self.assertEqual(query(suite.db, "SELECT status FROM run_view"), [("interrupted",)])
            self.assertEqual(
                query(suite.db, "SELECT case_name, complete FROM case_view ORDER BY 1"),
                [("a", 1), ("b", 0), ("c", 0)])
            record = json.loads((suite.out / "run.json").read_text())
            self.assertEqual(record["interrupted_by"], signal_number)
            self.assertEqual([a["outcome"] for a in record["attempts"]], ["exited", "interrupted"])
            self.assertFalse(pathlib.Path(f"{suite.db}-wal").exists())

    def test_at_the_terminal_keeps_what_is_finished(self):
        self.interrupted_by(signal.SIGINT, os.killpg)

    def test_by_another_program_keeps_what_is_finished(self):
        self.interrupted_by(signal.SIGTERM, os.kill)


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 10, 24 << 10))


class FullDisk(unittest.TestCase):

    def check_one_run(self, suite, db):
        self.assertEqual(query(db, "PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(query(db, "SELECT count(*) FROM run"), [(1,)])
        code, _, stderr = suite.finish(suite.start("ingest", suite.out, "--db", suite.db))
        self.assertEqual(code, 0, stderr)

    def test_a_file_that_may_not_grow_is_said_and_loses_nothing(self):
        with Suite(("a", ["ok"])) as suite:
            suite.run()
            code, _, stderr = suite.run(preexec_fn=limit_file_size)
            self.assertEqual(code, COULD_NOT_MEASURE, stderr)
            self.assertIn("nothing was changed", stderr)
            self.assertIn("perfgate ingest", stderr)
            self.check_one_run(suite, suite.db)

    def test_a_full_disk_is_said_and_loses_nothing(self):
        with Suite(("a", ["ok"])) as suite, tempfile.TemporaryDirectory() as mount:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount],
                                     capture_output=True)
            if mounted.returncode != 0:
                self.skipTest("a small file system cannot be mounted here")
            try:
                self.fill_and_run(suite, pathlib.Path(mount))
            finally:
                subprocess.run(["umount", "-l", mount], check=True)

    def fill_and_run(self, suite, mount):
        db, filler = mount / "perfgate.db", mount / "filler"
        suite.run(db=db)
        for room in (0, 32 << 10):  # none at all; enough for the log's index but not for the log
            fill(filler, room)
            code, _, stderr = suite.run(db=db)
            self.assertEqual(code, COULD_NOT_MEASURE, stderr)
            self.assertIn("the disk is full", stderr)
            filler.unlink()
        fill(filler, 0)
        code, _, stderr = suite.run(out=mount / "out")
        self.assertEqual(code, COULD_NOT_MEASURE, stderr)
        self.assertIn("run.json: cannot write: No space left on device", stderr)
        filler.unlink()
        self.check_one_run(suite, db)


def fill(file, room):
    """Fills the file system but for `room` bytes."""
    with open(file, "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            pass
        filler.truncate(max(0, filler.tell() - room))


if __name__ == "__main__":
    unittest.main()
