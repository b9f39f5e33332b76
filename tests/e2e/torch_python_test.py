"""A Python script with python/perfgate.py keeps the attempt contract; run with the Python of torch."""

import array
import itertools
import pathlib
import sys
import tempfile
import unittest

from attempt_contract import Attempt

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = [sys.executable, "-W", "ignore", HERE / "torch_python_program.py"]
PATH = {"PYTHONPATH": str(HERE.parent.parent / "python")}


# Frees in each step the gradients of the step before.
TRAINING = """
import perfgate, torch
settings = perfgate.read_settings()
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 64)
def step():
    optimizer.zero_grad(set_to_none=True)
    model(x).sum().backward()
    optimizer.step()
perfgate.measure(step, settings)
"""


def peaks(trace):
    """The largest growth of allocated bytes of each step, over the start of the step."""
    marks = [e for e in trace["traceEvents"] if e["name"].startswith("ProfilerStep#") and e["ph"] == "X"]
    memory = sorted((e["ts"], e["args"]["Bytes"]) for e in trace["traceEvents"] if e["name"] == "[memory]")
    growths = [list(itertools.accumulate(
        size for at, size in memory if mark["ts"] <= at < mark["ts"] + mark["dur"])) for mark in marks]
    return [max(growth) for growth in growths]


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
        self.assertEqual(samples["inputs"], "ones")
        self.assertEqual(attempt.trace["perfgate_writer"], "perfgate.py")
        steps = attempt.operators_of_steps()
        self.assertEqual(len(steps), 3)
        for step in steps:
            self.assertEqual(step.count("aten::mm"), 1)
            self.assertEqual(step.count("aten::relu"), 1)

    def test_each_step_of_a_training_has_the_same_peak_of_memory(self):
        attempt = Attempt([sys.executable, "-c", TRAINING], **PATH)
        self.assertEqual(attempt.code, 0, attempt.stderr)
        found = peaks(attempt.trace)
        self.assertEqual((len(found), len(set(found))), (3, 1), found)

    def test_outputs_with_names_alike_have_files_of_their_own(self):
        sys.path.insert(0, PATH["PYTHONPATH"])
        import perfgate
        import torch
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for value, name in enumerate(("head/0", "head-0", "head%2F0", "\u00e9", "\u00e8")):
                described = perfgate._save(name, torch.tensor([float(value)]), folder, 5)
                self.assertEqual(described["name"], name)
            values = [array.array("f", file.read_bytes())[0] for file in folder.iterdir()]
            self.assertEqual(sorted(values), [0, 1, 2, 3, 4])

    def test_elements_are_saved_as_float32_whatever_their_type(self):
        sys.path.insert(0, PATH["PYTHONPATH"])
        import perfgate
        import torch
        with tempfile.TemporaryDirectory() as folder:
            def save(tensor, outputs=1):
                described = perfgate._save("a/b", tensor, pathlib.Path(folder), outputs)
                self.assertEqual(described["file"], "a%2Fb.f32")
                saved = array.array("f", (pathlib.Path(folder) / "a%2Fb.f32").read_bytes())
                return described, list(saved)

            ones = torch.ones(2, 3)
            self.assertEqual(save(ones.bfloat16().t())[1], [1] * 6)
            for dtype, name in ((torch.bfloat16, "bf16"), (torch.float8_e5m2, "fp8_e5m2"),
                                (torch.int64, "int64"), (torch.bool, "bool")):
                self.assertEqual(save(ones.to(dtype))[0]["dtype"], name)
            described, saved = save(torch.tensor([1 + 2j, 3 - 4j]).conj())
            self.assertEqual((described["shape"], described["dtype"], saved), ([2, 2], "fp32", [1, -2, 3, 4]))
            self.assertEqual(save(torch.empty(0, 4))[1], [])
            described, saved = save(torch.arange(5_000_000.0).reshape(5000, 1000))
            self.assertEqual(described["stride"], 3)  # as perfgate/outputs.h
            self.assertEqual(saved[:3] + saved[-1:], [0, 3, 6, 4999998])
        self.assertEqual(perfgate._stride(4 << 20, 16), 1)
        self.assertEqual(perfgate._stride(4 << 20, 17), 3)

    def test_a_bad_setting_is_named(self):
        attempt = Attempt(PROGRAM, PERFGATE_ITERATIONS="0", **PATH)
        self.assertEqual(attempt.code, 1)
        self.assertIn("PERFGATE_ITERATIONS='0': expected a whole number of at least 1", attempt.stderr)


if __name__ == "__main__":
    unittest.main()
