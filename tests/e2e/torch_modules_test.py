"""The modules of perfgate-torch compute what those that are exported compute; run with the Python of
torch. An export takes half a minute, and is kept: most modules to be exported run here as they are."""

import array
import ctypes
import itertools
import os
import pathlib
import sys
import unittest

import torch
from attempt_contract import Attempt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import perfgate_export

RUNNER = os.environ["PERFGATE_TORCH_RUNNER"]
HIDDEN = ["hidden=24", "intermediate=32"]


def every(shape, *choices):
    """(settings, shape) of each combination of the choices."""
    return [(list(settings), shape) for settings in itertools.product(*choices)]


def choice(name, *values):
    return [f"{name}={value}" for value in values]


BIAS, MLP = choice("bias", "true", "false"), [[setting] for setting in HIDDEN]
CASES = {
    "linear": every("2,5,16", ["in_features=16"], ["out_features=8"], BIAS),
    "matmul_add": every("5,16", ["k=16"], ["n=8"], choice("bias", "1d", "2d")),
    "mlp": every("5,24", *MLP, ["bias=true"], choice("activation", "gelu", "relu")),
    "geglu": every("5,24", *MLP, BIAS, choice("approximate", "tanh", "none")),
    "swiglu": every("5,24", *MLP, BIAS),
    "norm_mlp": every("5,24", *MLP, ["bias=true"], ["activation=gelu"],
                      choice("norm", "layer", "rms")),
    "attention": every("2,3,6,8",
                       choice("implementation", "naive", "naive_in_place", "math", "flash"),
                       choice("causal", "true", "false")),
    "transformer_block": every("2,6,24", *MLP, ["heads=3"], choice("causal", "true", "false")),
    "moe": every("7,24", *MLP, ["experts=4"], ["top_k=2"],
                 choice("dispatch", "loop", "dense", "grouped")),
    "decode": every("2,24", ["hidden=24"], ["heads=3"], ["context=5"],
                    choice("cache", "static", "concatenated")),
    "quantized_linear": every("32,64", ["in_features=64"], ["out_features=48"],
                              choice("method", "dequantize", "int8", "fp8")),
}


def run(module, settings, shape, dtype="fp32", mode="eager", **environment):
    command = [RUNNER, "--module", module, "--input-shape", shape, "--input-dtype", dtype,
               "--mode", mode]
    for setting in settings:
        command += ["--set", setting]
    return Attempt(command, **{"PERFGATE_WARMUP": "1", "PERFGATE_ITERATIONS": "1", **environment})


def values(attempt):
    numbers = array.array("f")
    numbers.frombytes(attempt.files["output-0.f32"])
    return torch.tensor(numbers)


def exported_values(module, settings, shape, dtype=torch.float32):
    sizes = [int(size) for size in shape.split(",")]
    generator = torch.Generator().manual_seed(1)
    count = 3 if module == "attention" else 1
    inputs = [torch.randn(sizes, generator=generator).to(dtype) for _ in range(count)]
    weights = perfgate_export.Weights(0, dtype, "cpu")
    with torch.no_grad():
        model = perfgate_export.MODULES[module](weights, perfgate_export.Settings(settings, sizes))
        return model(*inputs).float().flatten()


class ModulesTest(unittest.TestCase):
    def test_the_runner_and_the_export_have_the_same_modules(self):
        self.assertEqual(set(CASES), set(perfgate_export.MODULES))

    def test_every_module_has_the_numbers_of_the_one_that_is_exported(self):
        for module, cases in CASES.items():
            for settings, shape in cases:
                with self.subTest(module=module, settings=settings):
                    attempt = run(module, settings, shape, PERFGATE_PHASE="timed")
                    self.assertEqual((attempt.code, attempt.stderr), (0, ""))
                    torch.testing.assert_close(values(attempt),
                                               exported_values(module, settings, shape))

    def test_an_export_has_the_numbers_of_eager(self):
        for module in ("swiglu", "decode"):  # the second writes into a buffer of its own
            settings, shape = CASES[module][0]
            with self.subTest(module=module):
                exported = run(module, settings, shape, mode="aoti", PERFGATE_PHASE="timed")
                self.assertEqual(exported.code, 0, exported.stderr)
                torch.testing.assert_close(values(exported),
                                           exported_values(module, settings, shape))

    def test_every_way_to_do_one_thing_gives_the_same_numbers(self):
        for module, setting in [("attention", "implementation"), ("moe", "dispatch"),
                                ("decode", "cache")]:
            groups = {}
            for settings, shape in CASES[module]:
                others = tuple(s for s in settings if not s.startswith(setting + "="))
                groups.setdefault(others, []).append(exported_values(module, settings, shape))
            for others, results in groups.items():
                for result in results[1:]:
                    with self.subTest(module=module, settings=others):
                        torch.testing.assert_close(result, results[0], atol=1e-5, rtol=1e-4)

    def test_quantized_products_are_near_those_of_the_dequantized_weights(self):
        results = {settings[-1]: exported_values("quantized_linear", settings, shape)
                   for settings, shape in CASES["quantized_linear"]}
        exact = results["method=dequantize"]
        for method, most in [("method=int8", 0.02), ("method=fp8", 0.08)]:
            error = (results[method] - exact).norm() / exact.norm()
            self.assertGreater(error, 0)
            self.assertLess(error, most, method)

    def test_16_bit_types_give_nearly_the_numbers_of_fp32(self):
        for module, cases in CASES.items():
            settings, shape = cases[-1]
            for dtype, most in (("bf16", 0.06), ("fp16", 0.03)):
                with self.subTest(module=module, dtype=dtype):
                    if module == "quantized_linear":
                        most = 0.1  # the least of fp8 stands above both
                    attempt = run(module, settings, shape, dtype, PERFGATE_PHASE="timed")
                    self.assertEqual((attempt.code, attempt.stderr), (0, ""))
                    self.assertEqual(attempt.samples["outputs"][0]["dtype"], dtype)
                    exact = exported_values(module, settings, shape)
                    self.assertLess((values(attempt) - exact).norm() / exact.norm(), most)


class CudaPartTest(unittest.TestCase):
    @unittest.skipUnless("PERFGATE_TORCH_CUDA" in os.environ, "this LibTorch has no CUDA part")
    def test_it_loads_without_a_gpu_and_has_what_is_asked_of_it(self):
        library = ctypes.CDLL(os.environ["PERFGATE_TORCH_CUDA"], mode=os.RTLD_NOW)
        self.assertTrue(library.perfgate_open_gpu_1)
        work = (ctypes.c_int64 * 8)()  # no rows: nothing to launch
        # 0: there is nothing to do; 801 (not supported): built without nvcc.
        self.assertIn(library.perfgate_act_and_mul(work, 1, 0, None), (0, 801))
        self.assertIn(library.perfgate_act_and_mul(work, 1, 3, None), (1, 801))


class TrainingTest(unittest.TestCase):
    MODULES = {"mlp": ("5,24", HIDDEN), "transformer_block": ("2,6,24", [*HIDDEN, "heads=3"])}

    def test_a_step_holds_backward_and_its_optimizer(self):
        for module, (shape, settings) in self.MODULES.items():
            for optimizer, operator in [("sgd", "aten::_foreach_add_"),
                                        ("adamw", "aten::_fused_adamw_")]:
                with self.subTest(module=module, optimizer=optimizer):
                    attempt = run(module, [*settings, "train=true", f"optimizer={optimizer}"], shape)
                    self.assertEqual((attempt.code, attempt.stderr), (0, ""))
                    steps = attempt.operators_of_steps()
                    self.assertEqual(len(steps), 3)
                    for step in steps:
                        self.assertEqual(step, steps[0])
                    self.assertEqual(steps[0].count(operator), 1)
                    self.assertIn("aten::mse_loss_backward", steps[0])
                    self.assertGreaterEqual(steps[0].count("AddmmBackward0"), 2)

    def test_the_loss_is_that_of_the_output_against_the_input_at_every_step(self):
        shape, settings = self.MODULES["mlp"]
        given = [*settings, "bias=true", "activation=gelu"]
        inputs = torch.randn(5, 24, generator=torch.Generator().manual_seed(1)).flatten()
        expected = (exported_values("mlp", given, shape) - inputs).square().mean()
        for iterations in ("1", "30"):
            attempt = run("mlp", [*given, "train=true", "optimizer=adamw"], shape,
                          PERFGATE_WARMUP=iterations)
            torch.testing.assert_close(values(attempt)[0], expected)


if __name__ == "__main__":
    unittest.main()
