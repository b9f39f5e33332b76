"""A C++ program that uses only perfgate/attempt.h and perfgate/spans.h keeps the attempt contract."""

import array
import os
import re
import shutil
import tempfile
import unittest

from attempt_contract import Attempt

PROGRAM = os.environ["ATTEMPT_H_PROGRAM"]


class AttemptHeaderTest(unittest.TestCase):
    def test_traced_phase_leaves_samples_and_a_trace_of_marked_steps(self):
        attempt = Attempt([PROGRAM])
        self.assertEqual((attempt.code, attempt.stderr), (0, ""))
        self.assertEqual(set(attempt.files), {"samples.json", "trace.json", "a%2Fvalues.f32"})
        samples = attempt.samples
        self.assertEqual(samples["schema"], "perfgate.samples/1")
        self.assertEqual(samples["warmup_iterations"], 3)
        self.assertEqual(len(samples["latency_ns"]), 7)
        self.assertTrue(all(ns > 0 for ns in samples["latency_ns"]))
        self.assertGreater(samples["cold_start_ns"], 0)
        self.assertLessEqual(samples["load_ns"] + samples["first_call_ns"], samples["cold_start_ns"])
        self.assertGreater(samples["first_call_ns"], 0)
        self.assertNotIn("compile_ns", samples)
        self.assertEqual(samples["dispatch_ns"], [])
        self.assertIn("returns when the work is done", samples["dispatch_unavailable"])
        self.assertEqual(samples["environment"], {"writer": "attempt_h_program"})
        self.assertEqual(samples["inputs"], "ones")
        self.assertEqual(samples["plant"], "")

    def test_an_output_is_saved_with_its_statistics(self):
        attempt = Attempt([PROGRAM])
        output, = attempt.samples["outputs"]
        self.assertEqual(output, {"name": "a/values", "shape": [64, 64], "dtype": "fp32", "mean": 1, "min": 1,
                                  "max": 1, "nan_count": 1, "inf_count": 0, "file": "a%2Fvalues.f32", "stride": 1})
        values = array.array("f", attempt.files["a%2Fvalues.f32"])
        self.assertEqual(len(values), 4096)
        self.assertEqual([i for i, value in enumerate(values) if value != 1], [5])

    def test_of_a_large_output_a_sample_is_saved_in_which_all_columns_are(self):
        attempt = Attempt([PROGRAM], WITH_LARGE_OUTPUT="1")
        output, = attempt.samples["outputs"]
        self.assertEqual(output["stride"], 3)  # 2 would leave out every second column
        self.assertEqual(output["max"], 4999999)
        values = array.array("f", attempt.files["large.f32"])
        self.assertEqual(list(values), list(range(0, 5_000_000, 3)))

    def test_a_device_clock_times_as_many_iterations_again(self):
        self.assertEqual(Attempt([PROGRAM]).samples["device_latency_ns"], [])
        samples = Attempt([PROGRAM], WITH_DEVICE_CLOCK="1").samples
        self.assertEqual(samples["device_latency_ns"], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(len(samples["latency_ns"]), 7)

    def test_compilation_that_is_known_is_a_part_of_its_own(self):
        samples = Attempt([PROGRAM], WITH_COMPILER="1").samples
        self.assertEqual(samples["compile_ns"], 10**15)
        self.assertGreater(samples["load_ns"], 0)
        self.assertEqual(samples["first_call_ns"], 0)  # what is left of it, never less

    def test_every_step_holds_its_spans_and_nothing_else(self):
        attempt = Attempt([PROGRAM])
        self.assertEqual(attempt.trace["perfgate_writer"], "attempt.h")
        self.assertEqual(attempt.operators_of_steps(),
                         [['model::"encode"', "model::scale", "model::scale"]] * 3)

    def test_timed_phase_leaves_no_trace(self):
        attempt = Attempt([PROGRAM], PERFGATE_PHASE="timed")
        self.assertEqual(attempt.code, 0)
        self.assertEqual(set(attempt.files), {"samples.json", "a%2Fvalues.f32"})

    def test_warm_up_until_steady_runs_at_least_two_blocks_of_ten(self):
        attempt = Attempt([PROGRAM], PERFGATE_WARMUP_UNTIL_STEADY="1")
        self.assertGreaterEqual(attempt.samples["warmup_iterations"], 20)
        self.assertEqual(attempt.samples["warmup_iterations"] % 10, 0)
        self.assertTrue(attempt.samples["steady"])

    def test_warm_up_ends_when_its_time_is_over(self):
        attempt = Attempt([PROGRAM], PERFGATE_WARMUP="1000000000", PERFGATE_WARMUP_AT_MOST_NS="0")
        self.assertEqual(attempt.samples["warmup_iterations"], 1)
        self.assertFalse(attempt.samples["steady"])

    def test_a_bad_setting_is_named(self):
        for name, value, expected in [
                ("PERFGATE_ITERATIONS", "many", "expected a whole number of at least 1"),
                ("PERFGATE_ITERATIONS", "0", "expected a whole number of at least 1"),
                ("PERFGATE_PHASE", "later", "expected timed or traced")]:
            with self.subTest(name=name, value=value):
                attempt = Attempt([PROGRAM], **{name: value})
                self.assertEqual(attempt.code, 1)
                self.assertIn(f"{name}='{value}': {expected}", attempt.stderr)
                self.assertEqual(attempt.files, {})

    def test_a_folder_that_is_not_there_is_named(self):
        attempt = Attempt([PROGRAM], PERFGATE_ATTEMPT_DIR="/nowhere/at/all")
        self.assertEqual(attempt.code, 1)
        self.assertIn("cannot write /nowhere/at/all/trace.json: No such file", attempt.stderr)

    def test_started_by_hand_it_says_so_and_where_the_files_are(self):
        with tempfile.TemporaryDirectory() as temporary:
            attempt = Attempt([PROGRAM], PERFGATE_ATTEMPT_DIR=None, TMPDIR=temporary)
            self.assertEqual(attempt.code, 0)
            self.assertIn("started by hand", attempt.stderr)
            self.assertIn("over 7 iterations", attempt.stderr)
            folder = re.search(r"files in (\S+)", attempt.stderr)[1]
            self.assertEqual(sorted(os.listdir(folder)), ["a%2Fvalues.f32", "samples.json", "trace.json"])
            shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main()
