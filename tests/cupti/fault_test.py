"""What the collector cannot record is told."""

import unittest

from played import STEP, Played


class Faults(unittest.TestCase):
    def incomplete(self, played):
        self.assertFalse(played.evidence["complete"])
        return played.evidence["incomplete_because"]

    def test_dropped_records_make_it_incomplete(self):
        played = Played(f"init context repeat:2 {STEP} again drop:7 repeat:2 {STEP} again")
        self.assertEqual(played.footer()["dropped"], 7)
        self.assertIn("the collector dropped 7 records", self.incomplete(played))

    def test_kernels_that_never_end_make_it_incomplete(self):
        played = Played("init context repeat:4 push:step launch:k stuck pop again")
        self.assertIn("3 GPU activities had not finished when the recording ended",
                      self.incomplete(played))

    def test_buffers_that_never_come_back_make_it_incomplete(self):
        played = Played(f"init context repeat:3 {STEP} again keep {STEP}")
        self.assertEqual(played.names("kernel"), {})
        self.assertIn("CUPTI kept 1 buffers of records", self.incomplete(played))

    def test_an_empty_buffer_that_never_comes_back_is_no_fault(self):
        played = Played(f"init context repeat:2 {STEP} again hoard repeat:2 {STEP} again")
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])
        self.assertLess(played.footer()["drain_ns"], 3e9)

    def test_too_many_events_close_the_window(self):
        played = Played("init context repeat:4 push:step threads:1 pop again",
                        PERFGATE_CUPTI_MOST_EVENTS=500)
        self.assertEqual(played.footer()["records"], 500)
        self.assertIn("the window holds more than 500 events", self.incomplete(played)[0])

    def test_a_program_that_ends_inside_the_window_says_how_far_it_came(self):
        for end in ["", "exit:0", "_exit:0"]:
            with self.subTest(end=end):
                played = Played(f"init context repeat:2 {STEP} again push:step launch:k {end}")
                self.assertEqual(played.code, 0)
                self.assertIn("the program ended inside the window: 1 of 3 ranges 'step' had ended",
                              self.incomplete(played))

    def test_a_program_that_ends_before_its_window_of_time_is_over_says_so(self):
        for end in ["", "_exit:0", "term"]:
            with self.subTest(end=end):
                played = Played(f"init context launch:k sleep:300 launch:k {end}",
                                PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="for=60s")
                self.assertEqual(played.names("kernel"), {"k": 2})
                self.assertRegex(self.incomplete(played)[0], "the program ended inside the window: "
                                 r"\d+ of 60000 ms had passed")

    def test_a_program_that_ends_before_its_number_of_kernels_says_so(self):
        played = Played("init context repeat:7 launch:k again",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 7})
        self.assertIn("the program ended inside the window: 7 of 10 kernels had run",
                      self.incomplete(played))

    def test_kernels_that_are_read_only_as_the_program_ends_count(self):
        played = Played("init context repeat:10 launch:k again",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 10})
        self.assertNotIn("fault", played.footer())

    def test_a_window_of_a_time_and_a_number_ends_by_either(self):
        played = Played("init context launch:k sleep:500 launch:k", PERFGATE_NVTX_STEPS=None,
                        PERFGATE_CUPTI_WINDOW="for=200ms,kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 1})
        self.assertNotIn("fault", played.footer())

    def test_a_range_that_there_is_no_memory_for_is_not_recorded(self):
        played = Played(f"init context starved:early pop repeat:4 {STEP} again")
        self.assertEqual(played.code, 0)
        self.assertEqual(played.names("user_annotation"),
                         {f"ProfilerStep#{n}": 1 for n in range(3)})

    def test_a_misspelled_range_is_told_with_those_that_were_seen(self):
        played = Played("init context repeat:4 push:stepp launch:k push:other pop pop again")
        self.assertEqual(played.untold(), "the program marked no NVTX range 'step'; it marked "
                                          "'other', 'stepp'")
        self.assertIn("perfgate: no trace is written: the program marked no NVTX range",
                      played.stderr)
        self.assertEqual(played.code, 0)

    def test_a_program_without_ranges_is_told(self):
        played = Played("init context launch:k")
        self.assertIn("it marked no range at all", played.untold())

    def test_a_warm_up_that_never_ends_is_told(self):
        for warmup in [4, 20]:
            with self.subTest(warmup=warmup):
                played = Played(f"init context repeat:4 {STEP} again", PERFGATE_WARMUP=warmup)
                self.assertIn(f"marked 4 ranges 'step', of which the first {warmup} are warm-up",
                              played.untold())

    def test_another_profiler_is_told_and_the_program_goes_on(self):
        played = Played(f"refuse:39 init context repeat:4 {STEP} again exit:7")
        self.assertEqual(played.code, 7)
        self.assertIn("another profiler has CUPTI already", played.untold())
        self.assertIn("another profiler has CUPTI already", played.stderr)

    def test_a_profiler_of_the_program_that_takes_the_records_is_told(self):
        played = Played(f"init context push:step steal pop repeat:3 {STEP} again")
        self.assertEqual(played.code, 0)
        self.assertIn("CUPTI recorded no call in the window: the program made none, or another "
                      "profiler in it (torch.profiler) took the records", self.incomplete(played))

    def test_a_cupti_that_does_not_start_is_told(self):
        played = Played(f"refuse:15 init context {STEP}")
        self.assertIn("CUPTI 130001 does not start: CUPTI_ERROR_NOT_INITIALIZED (15)",
                      played.untold())

    def test_settings_that_cannot_be_read_are_told(self):
        for name, value, expected in [
                ("PERFGATE_WARMUP", "some", "PERFGATE_WARMUP='some': expected a whole number"),
                ("PERFGATE_TRACED_ITERATIONS", "0", "a window needs a step"),
                ("PERFGATE_CUPTI_WINDOW", "for=2", "PERFGATE_CUPTI_WINDOW: 'for=2' is not under"),
                ("PERFGATE_CUPTI_WINDOW", "for=2s", "are both set: give one window")]:
            with self.subTest(name=name, value=value):
                played = Played("init context launch:k", **{name: value})
                self.assertIn(expected, played.untold())

    def test_a_folder_that_cannot_be_written_is_told(self):
        played = Played(f"init context repeat:4 {STEP} again", PERFGATE_ATTEMPT_DIR="/nowhere/at/all")
        self.assertIn("perfgate: no trace is written: cannot create /nowhere/at/all/trace.json: "
                      "No such file or directory", played.stderr)
        self.assertEqual(played.code, 0)


if __name__ == "__main__":
    unittest.main()
