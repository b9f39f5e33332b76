"""The collector in processes that end, fork, and become other programs."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from played import COLLECTOR, STEP, Played


class Processes(unittest.TestCase):
    def test_a_program_without_cuda_leaves_nothing(self):
        for script in [f"repeat:4 push:step pop again", "init", ""]:
            with self.subTest(script=script):
                played = Played(script)
                self.assertEqual((played.code, played.files, played.stderr), (0, [], ""))

    def test_a_child_of_a_program_with_cuda_is_silent(self):
        child = f"fork repeat:4 {STEP} again join"
        played = Played(f"init context repeat:2 {STEP} again {child} repeat:2 {STEP} again")
        self.assertEqual((played.stderr, played.files), ("", ["trace.json"]))
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 3, "mul(float*)": 3})

    def test_a_child_that_is_the_first_to_use_cuda_is_recorded(self):
        played = Played(f"push:step pop fork init context repeat:4 {STEP} again join")
        self.assertEqual((played.stderr, played.files), ("", ["trace.json"]))
        self.assertEqual(played.evidence["steps"], 3)

    def test_each_process_has_a_file_of_its_own(self):
        child = f"fork init context repeat:4 {STEP} again join"
        played = Played(f"{child} {child} init context repeat:4 {STEP} again")
        self.assertEqual(len(played.files), 3)
        self.assertEqual(played.files[-1], "trace.json")
        for name in played.files:
            self.assertRegex(name, r"^trace(-pid\d+)?\.json$")
            self.assertEqual(played.names("kernel", name), {"gelu(float*)": 3, "mul(float*)": 3})

    def test_ranks_have_files_by_their_numbers(self):
        for launcher in [{"RANK": 1}, {"OMPI_COMM_WORLD_RANK": 1}, {"SLURM_PROCID": 1}]:
            with self.subTest(launcher=launcher):
                played = Played(f"init context repeat:4 {STEP} again", **launcher)
                self.assertEqual(played.files, ["trace-rank1.json"])

    def test_a_helper_process_without_steps_leaves_only_a_text(self):
        helper = "fork init context launch:k join"
        played = Played(f"{helper} init context repeat:4 {STEP} again")
        self.assertIn("trace.json", played.files)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])
        self.assertIn("it marked no range at all", played.untold())

    def test_an_end_without_exit_handlers_leaves_a_whole_file(self):
        played = Played("init context repeat:9 launch:k again _exit:5", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, 5)
        self.assertEqual(played.names("kernel"), {"k": 9})
        self.assertNotIn("fault", played.footer())

    def test_an_end_in_a_signal_handler_that_interrupted_malloc_leaves_a_whole_file(self):
        played = Played(f"init context repeat:2 {STEP} again push:step launch:k handler:5")
        self.assertEqual(played.code, 5)
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 1, "mul(float*)": 1, "k": 1})
        self.assertIn("1 of 3 ranges 'step' had ended", played.footer()["fault"])

    def test_an_end_while_another_thread_is_inside_cupti_for_good_is_not_held_for_good(self):
        began = time.monotonic()
        played = Played("init context launch:k held:5", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, 5)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_program_that_ends_just_as_its_window_opens_is_not_held(self):
        for late_ms in range(-4, 12):
            with self.subTest(late_ms=late_ms):
                began = time.monotonic()
                played = Played(f"init context launch:k sleep:{50 + late_ms}",
                                PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="after=50ms")
                self.assertLess(time.monotonic() - began, 5)
                if "trace.json" in played.files:
                    self.assertEqual(played.footer()["dropped"], 0)
                else:
                    self.assertEqual(played.untold(), "the program ended before its window began")

    def test_sigterm_finishes_the_file_and_ends_the_process(self):
        played = Played("init context repeat:9 launch:k again term", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, -signal.SIGTERM)
        self.assertEqual(played.names("kernel"), {"k": 9})
        inside = Played(f"init context repeat:2 {STEP} again push:step term")
        self.assertEqual(inside.code, -signal.SIGTERM)
        self.assertIn("1 of 3 ranges 'step' had ended", inside.footer()["fault"])

    def test_sigterm_outside_the_window_ends_the_process_as_ever(self):
        for script in ["init context term", f"init context repeat:4 {STEP} again sleep:300 term"]:
            with self.subTest(script=script):
                self.assertEqual(Played(script).code, -signal.SIGTERM)

    def test_sigterm_ends_a_forked_child_too(self):
        played = Played(f"init context repeat:2 {STEP} again fork term join repeat:2 {STEP} again")
        self.assertIn("the child ended with 15", played.stderr)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_another_program_in_the_same_process_starts_anew(self):
        played = Played(f"init context repeat:4 {STEP} again exec:init")
        self.assertEqual(played.files, ["trace.json"])
        inside = Played("init context repeat:9 launch:k again exec:init", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(inside.names("kernel"), {"k": 9})
        self.assertNotIn("fault", inside.footer())

    def test_an_exec_that_finds_no_program_ends_no_window(self):
        for call in ["execv:/nowhere/at/all", "execvp:/nowhere/at/all", "execvp:no-such-program"]:
            with self.subTest(call=call):
                played = Played(f"init context launch:a {call} launch:b", PERFGATE_NVTX_STEPS=None)
                self.assertEqual(played.stdout, "exec: No such file or directory\n")
                self.assertEqual(played.names("kernel"), {"a": 1, "b": 1})
                self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_an_exec_that_fails_after_the_end_of_the_recording_is_told(self):
        no_program = pathlib.Path(os.environ["TEST_TMPDIR"], "no_program")
        no_program.write_bytes(b"\0\0\0\0")
        no_program.chmod(0o755)
        played = Played(f"init context launch:a execv:{no_program} launch:b", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.stdout, "exec: Exec format error\n")
        self.assertEqual(played.names("kernel"), {"a": 1})
        self.assertEqual(played.evidence["incomplete_because"],
                         ["the recording ended before an exec that failed: the program went on "
                          "without it"])

    def test_an_exec_that_fails_after_the_window_changes_nothing(self):
        no_program = pathlib.Path(os.environ["TEST_TMPDIR"], "no_program")
        no_program.write_bytes(b"\0\0\0\0")
        no_program.chmod(0o755)
        played = Played(f"init context repeat:4 {STEP} again sleep:500 execv:{no_program}")
        self.assertEqual(played.stdout, "exec: Exec format error\n")
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_a_child_that_marks_ranges_is_not_held_by_what_its_parent_was_doing(self):
        # The parent's thread is inside a range's start or end at most of these forks.
        for first in ["", "init context"]:
            with self.subTest(first=first):
                played = Played(f"{first} start:step end hammer repeat:100 fork start:step end join again _exit:0")
                self.assertEqual((played.code, played.stderr), (0, ""))

    def test_a_device_reset_loses_nothing(self):
        played = Played("init context launch:a reset context launch:b", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.names("kernel"), {"a": 1, "b": 1})

    def test_it_is_subscribed_only_while_it_records(self):
        played = Played(f"init context hears {STEP} hears repeat:3 {STEP} again sleep:500 hears")
        self.assertEqual(played.stdout.split(), ["hears", "-1", "hears", "2", "hears", "-1"])
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_it_shows_nothing_but_what_it_is_called_by(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", COLLECTOR], text=True,
                                 capture_output=True, check=True).stdout.split()[2::3]
        self.assertEqual(set(symbols), {"InitializeInjection", "InitializeInjectionNvtx2", "_exit",
                                        "_Exit", "execv", "execve", "execvp"})
        needed = subprocess.run(["readelf", "-d", COLLECTOR], text=True, capture_output=True,
                                check=True).stdout
        self.assertNotIn("libstdc++", needed)
        self.assertNotIn("libcupti", needed)


if __name__ == "__main__":
    unittest.main()
