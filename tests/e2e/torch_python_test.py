"""A Python script with python/perfgate.py keeps the attempt contract; run with the Python of torch."""

import pathlib
import sys
import unittest

from attempt_contract import Attempt

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = [sys.executable, "-W", "ignore", HERE / "torch_python_program.py"]
PATH = {"PYTHONPATH": str(HERE.parent.parent / "python")}


class PythonHelperTest(unittest.TestCase):
    def test_traced_phase_leaves_samples_trace_and_outputs(self):
        attempt = Attempt(PROGRAM, PERFGATE_PLANT="clone", **PATH)
        self.assertEqual((attempt.code, attempt.stderr), (0, ""))
        self.assertEqual(set(attempt.files),
                         {"samples.json", "trace.json", "output.y.f32", "output.nan.f32"})
        samples = attempt.samples
        self.assertEqual(samples["schema"], "perfgate.samples/1")
        self.assertEqual(samples["warmup_iterations"], 3)
        self.assertEqual(len(samples["latency_ns"]), 7)
        self.assertEqual(samples["dispatch_ns"], [])
        parts = [samples[part] for part in ("load_ns", "compile_ns", "first_call_ns")]
        self.assertTrue(all(ns > 0 for ns in parts), parts)
        self.assertLessEqual(sum(parts), samples["cold_start_ns"])
        self.assertEqual(samples["plant"], "clone")
        self.assertEqual(samples["fallback"], [{"what": "flash", "why": "no GPU"}])
        environment = samples["environment"]
        self.assertEqual((environment["model"], environment["threads"]), ("v2", "2"))
        self.assertEqual((environment["graph_breaks"], environment["recompiles"]), ("1", "0"))
        y, nan = samples["outputs"]
        self.assertEqual((y["name"], y["shape"], y["dtype"]), ("output.y", [8, 16], "fp32"))
        self.assertEqual((nan["nan_count"], nan["inf_count"], nan["mean"]), (1, 0, 1.0))
        self.assertEqual(len(attempt.files["output.y.f32"]), 8 * 16 * 4)
        self.assertEqual(attempt.trace["perfgate_writer"], "perfgate.py")
        steps = attempt.operators_of_steps()
        self.assertEqual(len(steps), 3)
        for step in steps:
            self.assertEqual(step.count("aten::mm"), 1)
            self.assertEqual(step.count("aten::relu"), 1)

    def test_a_bad_setting_is_named(self):
        attempt = Attempt(PROGRAM, PERFGATE_ITERATIONS="0", **PATH)
        self.assertEqual(attempt.code, 1)
        self.assertIn("PERFGATE_ITERATIONS='0': expected a whole number of at least 1", attempt.stderr)


if __name__ == "__main__":
    unittest.main()
