"""perfgate-torch keeps the attempt contract, and its traces hold what the modules do."""

import array
import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

from attempt_contract import Attempt

RUNNER = os.environ["PERFGATE_TORCH_RUNNER"]
PYTHON = os.environ["PERFGATE_TORCH_PYTHON"]  # of LibTorch's wheel
FAKE_DRIVER = os.environ.get("PERFGATE_FAKE_DRIVER")  # a folder with a libcuda.so.1
GEGLU = [RUNNER, "--module", "geglu", "--set", "hidden=32", "--set", "intermediate=64",
         "--input-shape", "8,32", "--input-dtype", "fp32"]


def counts(names):
    return dict(collections.Counter(names))


def values(attempt):
    numbers = array.array("f")
    numbers.frombytes(attempt.files["output-0.f32"])
    return numbers


class TorchContractTest(unittest.TestCase):
    def assertRefused(self, attempt, code, message):
        self.assertEqual(attempt.code, code, attempt.stderr)
        self.assertIn(message, attempt.stderr)
        self.assertIsNone(attempt.samples)

    def test_eager_geglu_leaves_samples_trace_and_output(self):
        attempt = Attempt(GEGLU)
        self.assertEqual((attempt.code, attempt.stderr), (0, ""))
        self.assertEqual(set(attempt.files), {"samples.json", "trace.json", "output-0.f32"})
        samples = attempt.samples
        self.assertEqual(samples["schema"], "perfgate.samples/1")
        self.assertEqual(len(samples["latency_ns"]), 7)
        self.assertEqual(samples["dispatch_ns"], [])
        self.assertLessEqual(samples["load_ns"] + samples["first_call_ns"], samples["cold_start_ns"])
        self.assertGreater(samples["load_ns"], 0)
        self.assertEqual(samples["compile_ns"], 0)
        self.assertEqual(samples["environment"]["threads"], "2")
        self.assertEqual(samples["environment"]["device"], "cpu")
        self.assertRegex(samples["environment"]["torch"], r"^\d+\.\d+\.\d+")
        self.assertIn("cpu_isa", samples["environment"])
        output = samples["outputs"][0]
        self.assertEqual((output["shape"], output["dtype"]), ([8, 32], "fp32"))
        self.assertEqual((output["nan_count"], output["inf_count"]), (0, 0))
        self.assertLess(output["min"], output["mean"])
        self.assertEqual(len(values(attempt)), 8 * 32)

    def test_eager_steps_hold_three_gemms_gelu_and_mul(self):
        attempt = Attempt(GEGLU)
        self.assertEqual(attempt.trace["record_shapes"], 1)
        self.assertEqual(attempt.trace["profile_memory"], 1)
        self.assertEqual(attempt.trace["perfgate_writer"], "perfgate-torch")
        steps = attempt.operators_of_steps()
        self.assertEqual(len(steps), 3)
        for step in steps:
            self.assertEqual(step, steps[0])
        found = counts(steps[0])
        self.assertEqual((found["aten::linear"], found["aten::gelu"], found["aten::mul"]), (3, 1, 1))
        self.assertNotIn("aten::clone", found)

    @unittest.skipUnless(os.path.exists(PYTHON), "this LibTorch has no Python")
    def test_aoti_steps_hold_one_fused_kernel_and_the_same_numbers_as_eager(self):
        attempt = Attempt([*GEGLU, "--mode", "aoti"])
        self.assertEqual(attempt.code, 0, attempt.stderr)
        steps = attempt.operators_of_steps()
        self.assertEqual(len(steps), 3)
        for step in steps:
            fused = [name for name in step if "cpp_fused" in name]
            self.assertEqual(len(fused), 1, step)
            self.assertRegex(fused[0], "cpp_fused_gelu_mul_0$")
            self.assertNotIn("aten::gelu", step)
        for ours, theirs in zip(values(attempt), values(Attempt(GEGLU))):
            self.assertAlmostEqual(ours, theirs, places=4)
        again = Attempt([*GEGLU, "--mode", "aoti"])  # kept: nothing is exported
        self.assertEqual((again.code, again.stderr), (0, ""))

    def test_timed_phase_leaves_no_trace(self):
        attempt = Attempt(GEGLU, PERFGATE_PHASE="timed")
        self.assertEqual(attempt.code, 0)
        self.assertEqual(set(attempt.files), {"samples.json", "output-0.f32"})

    def test_the_seed_decides_the_numbers(self):
        first, same = Attempt(GEGLU), Attempt(GEGLU)
        other = Attempt([*GEGLU, "--seed", "1"])
        self.assertEqual(values(first), values(same))
        self.assertNotEqual(values(first), values(other))

    def test_every_module_and_dtype_runs(self):
        for module, settings, shape, top in [
                ("linear", ["bias=false"], "4,32", "aten::linear"),
                ("matmul_add", ["bias=2d"], "16,64", "aten::add"),
                ("mlp", ["hidden=16", "intermediate=32", "activation=relu"], "2,3,16", "aten::relu"),
                ("geglu", ["hidden=16", "intermediate=32", "bias=true", "approximate=none"], "4,16",
                 "aten::gelu")]:
            for dtype in ("fp32", "bf16", "fp16"):
                with self.subTest(module=module, dtype=dtype):
                    command = [RUNNER, "--module", module, "--input-shape", shape, "--input-dtype", dtype]
                    for pair in settings:
                        command += ["--set", pair]
                    attempt = Attempt(command)
                    self.assertEqual((attempt.code, attempt.stderr), (0, ""))
                    self.assertIn(top, attempt.operators_of_steps()[0])
                    self.assertEqual(attempt.samples["outputs"][0]["dtype"], dtype)

    def test_planted_defects_show_in_the_trace_and_in_the_samples(self):
        plain = counts(Attempt(GEGLU).operators_of_steps()[0])
        for plant, operator, more in [("clone", "aten::clone", 1), ("cast", "aten::_to_copy", 2),
                                      ("split_activation", "aten::gelu", 1)]:
            with self.subTest(plant=plant):
                attempt = Attempt(GEGLU, PERFGATE_PLANT=plant)
                self.assertEqual(attempt.samples["plant"], plant)
                found = counts(attempt.operators_of_steps()[0])
                self.assertEqual(found[operator], plain.get(operator, 0) + more)

    def test_a_planted_delay_takes_its_time_and_adds_no_operator(self):
        plain = Attempt(GEGLU)
        delayed = Attempt(GEGLU, PERFGATE_PLANT="delay_2ms")
        self.assertEqual(counts(delayed.operators_of_steps()[0]), counts(plain.operators_of_steps()[0]))
        self.assertGreaterEqual(min(delayed.samples["latency_ns"]), 2000000)

    def test_a_defect_that_cannot_be_planted_is_refused(self):
        self.assertRefused(Attempt(GEGLU, PERFGATE_PLANT="sync"), 1,
                           "cannot plant 'sync': on the CPU nothing is asynchronous")
        self.assertRefused(Attempt(GEGLU, PERFGATE_PLANT="typo"), 1,
                           "cannot plant 'typo': no such defect; there are clone, cast")
        for delay in ("delay_5", "delay_us", "delay_0us", "delay_-1us", "delay_1.5us", "delay_1001ms", "delay_5s"):
            self.assertRefused(Attempt(GEGLU, PERFGATE_PLANT=delay), 1, f"cannot plant '{delay}': a delay is")
        self.assertRefused(Attempt([*GEGLU, "--mode", "aoti"], PERFGATE_PLANT="clone"), 1,
                           "built-in modules in eager mode only")
        self.assertRefused(Attempt([RUNNER, "--module", "linear"], PERFGATE_PLANT="split_activation"), 1,
                           "linear has no activation")

    def test_usage_errors_end_with_code_2_and_name_what_is_known(self):
        for arguments, message in [
                ([], "Exactly 1 option from [--module,--package,--script]"),
                (["--module", "gegelu"], "there are linear, matmul_add, mlp, geglu"),
                (["--module", "geglu", "--set", "width=3"], "a key of geglu: hidden, intermediate, bias"),
                (["--module", "geglu", "--set", "hidden=-1"], "'-1' is no whole number"),
                (["--module", "geglu", "--set", "approximate=erf"], "expected tanh or none"),
                (["--module", "geglu", "--input-shape", "8,33"], "of the shape is 33, but hidden of module geglu is 768"),
                (["--module", "attention", "--input-shape", "8,64"],
                 "the shape has 2 dimensions, but module attention takes [8, 16, 1024, 64]"),
                (["--module", "decode", "--set", "heads=7"], "heads, 7, do not divide"),
                (["--module", "moe", "--set", "top_k=9"], "it has only 8 experts"),
                (["--module", "mlp", "--mode", "hand_fused"], "geglu and swiglu have one"),
                (["--module", "mlp", "--set", "train=true", "--mode", "aoti"], "no training step"),
                (["--module", "geglu", "--input-shape", "8,,33"], "no whole number"),
                (["--module", "geglu", "--input-dtype", "int3"], "int3"),
                (["--package", "x.pt2"], "--input-shape"),
                (["--module", "geglu", "--script", "x.pt"], "Exactly 1 option")]:
            with self.subTest(arguments=arguments):
                self.assertRefused(Attempt([RUNNER, *arguments]), 2, message)

    def test_files_that_are_no_models_are_refused_in_a_few_lines(self):
        with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
            file.write(b"no package")
            file.flush()
            for option in ("--package", "--script"):
                with self.subTest(option=option):
                    missing = Attempt([RUNNER, option, "/nowhere.pt", "--input-shape", "1"])
                    self.assertRefused(missing, 1, "no file /nowhere.pt")
                    garbage = Attempt([RUNNER, option, file.name, "--input-shape", "1"])
                    self.assertRefused(garbage, 1, "perfgate-torch: ")
                    self.assertLess(len(garbage.stderr.splitlines()), 4, garbage.stderr)

    def test_a_cuda_device_that_is_not_there_is_said(self):
        self.assertRefused(Attempt(GEGLU, PERFGATE_DEVICE="cuda:99"), 1, "device cuda:99: ")
        self.assertRefused(Attempt(GEGLU, PERFGATE_DEVICE="tpu"), 2, "expected auto, cpu, cuda or cuda:N")

    @unittest.skipUnless(FAKE_DRIVER, "this LibTorch has no CUDA part")
    def test_a_driver_that_is_too_old_or_gives_no_gpu_is_named(self):
        for cuda, visible, message in [
                ("12080", None, "the driver is too old: it serves CUDA 12.8, this LibTorch is built for"),
                ("99000", "", "the driver gives no GPU (no CUDA-capable device is detected; "
                              "CUDA_VISIBLE_DEVICES=); set device: cpu")]:
            for device in ("cuda", "auto"):
                with self.subTest(cuda=cuda, device=device):
                    attempt = Attempt(GEGLU, PERFGATE_DEVICE=device, FAKE_DRIVER_CUDA=cuda,
                                      LD_LIBRARY_PATH=FAKE_DRIVER, CUDA_VISIBLE_DEVICES=visible)
                    self.assertRefused(attempt, 1, f"device cuda: {message}")

    def test_a_workload_beyond_memory_is_named(self):
        attempt = Attempt([RUNNER, "--module", "linear", "--set", "in_features=4096",
                           "--input-shape", "2147483648,4096"])
        self.assertRefused(attempt, 1, "perfgate-torch: out of memory: use a smaller batch")

    def test_what_needs_a_gpu_says_so_on_the_cpu(self):
        self.assertRefused(Attempt([*GEGLU, "--mode", "cuda_graph"]), 1,
                           "mode cuda_graph needs a GPU, and the device is cpu")
        for implementation in ("efficient", "cudnn"):
            self.assertRefused(Attempt([RUNNER, "--module", "attention", "--set",
                                        f"implementation={implementation}"]), 1,
                               f"attention: implementation={implementation} needs a GPU; on the CPU")

    def test_a_hand_fused_kernel_that_cannot_serve_falls_back_to_eager_and_says_so(self):
        for module in ("geglu", "swiglu"):
            with self.subTest(module=module):
                command = [RUNNER, "--module", module, *GEGLU[3:]]
                eager, fused = Attempt(command), Attempt([*command, "--mode", "hand_fused"])
                self.assertEqual((fused.code, fused.stderr), (0, ""))
                self.assertEqual(fused.samples["fallback"],
                                 [{"what": "hand_fused", "why": "it needs a GPU"}])
                self.assertEqual(eager.samples["fallback"], [])
                self.assertEqual(values(fused), values(eager))
                self.assertEqual(fused.operators_of_steps(), eager.operators_of_steps())

    @unittest.skipUnless(os.path.exists(PYTHON), "this LibTorch has no Python")
    def test_a_torchscript_file_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.pt"
            program = ("import torch, sys\n"
                       "def f(x, y): return torch.relu(x @ y), {'sum': x.sum()}\n"
                       "torch.jit.trace(f, (torch.ones(4, 3), torch.ones(3, 4)), strict=False)"
                       ".save(sys.argv[1])\n")
            subprocess.run([PYTHON, "-c", program, path], check=True, capture_output=True)
            attempt = Attempt([RUNNER, "--script", path, "--input-shape", "4,3", "--input-shape", "3,4"])
            self.assertEqual(attempt.code, 0, attempt.stderr)
            self.assertEqual([o["shape"] for o in attempt.samples["outputs"]], [[4, 4], []])
            self.assertEqual(len(attempt.operators_of_steps()), 3)
            self.assertIn("aten::matmul", attempt.operators_of_steps()[0])

    @unittest.skipUnless(os.path.exists(PYTHON), "this LibTorch has no Python")
    def test_a_fault_inside_a_script_is_said_in_a_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.pt"
            program = ("import torch, sys\n"
                       "def f(x): return torch.ones_like(x).index_select(0, (x.abs() * 1000).long())\n"
                       "torch.jit.trace(f, torch.zeros(3)).save(sys.argv[1])\n")
            subprocess.run([PYTHON, "-c", program, path], check=True, capture_output=True)
            attempt = Attempt([RUNNER, "--script", path, "--input-shape", "3"])
            self.assertRefused(attempt, 1, "LibTorch: RuntimeError: index out of range in self")
            self.assertEqual(len(attempt.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
