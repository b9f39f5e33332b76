"""The hand-fused kernel, act(gate) * up, on a real GPU: its numbers, its edges and its bandwidth.

usage: python3 torch_fused.py BUILD OUT        with the Python of torch

Writes OUT/torch_fused.json and OUT/torch_fused.md: for each type and activation the distance from the
exact value (fp64) beside that of ATen's two operators, and the time beside a copy of as many bytes on
the same GPU (the driver's or a kernel's, whichever is faster) and Inductor's own kernel, all in the same
run, in turns.
"""
import argparse
import ctypes
import itertools
import math
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as F
from torch_attempt import Checks, write

ELEMENTS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
ACTS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu_erf": F.gelu, "silu": F.silu}
NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
L2_FACTOR = 2  # a tensor beyond L2 is this many times as large
ROUNDS, LAUNCHES = 9, 20
DEVICE = "cuda"


class Work(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("gate", "up", "out")] + [
        (name, ctypes.c_int64) for name in ("rows", "columns", "gate_stride", "up_stride",
                                            "out_stride")]


class Kernel:
    def __init__(self, build):
        self.launch = ctypes.CDLL(str(build / "libperfgate_torch_cuda.so")).perfgate_act_and_mul

    def __call__(self, act, gate, up, out):
        """Of tensors of two dimensions with neighbouring elements in a row."""
        work = Work(gate.data_ptr(), up.data_ptr(), out.data_ptr(), *out.shape, gate.stride(0),
                    up.stride(0), out.stride(0))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = self.launch(ctypes.byref(work), ELEMENTS[out.dtype], list(ACTS).index(act), stream)
        if code != 0:
            raise RuntimeError(f"perfgate_act_and_mul returned CUDA error {code}")
        return out


def special_values(dtype):
    """NaN, infinities, zeros, subnormals, the ends of the range, and the bends of the activations."""
    info = torch.finfo(dtype)
    subnormal = info.smallest_normal / 4
    positive = [0.0, subnormal, info.smallest_normal, info.max, info.max / 3, 1e-3, 0.5, 1.0, 3.0,
                5.0, 8.0, 10.0, 20.0, 88.0, 100.0, 1e4]
    return torch.tensor([math.nan, math.inf, -math.inf, *positive, *(-x for x in positive)],
                        dtype=torch.float64).to(dtype)


def inputs_of(dtype):
    """Pairs of all special values, and a million normal ones; [2, n]."""
    special = special_values(dtype)
    pairs = torch.tensor(list(itertools.product(special.tolist(), special.tolist())),
                         dtype=torch.float64).to(dtype).t()
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(2, 1 << 20, generator=generator).mul(torch.tensor([[3.0], [2.0]])).to(dtype)
    return torch.cat((pairs, drawn), 1).to(DEVICE)


def ordered(x):
    """Whole numbers in the order of the values: neighbours differ by 1, infinity follows the largest."""
    bits = x.view(torch.int32 if x.dtype == torch.float32 else torch.int16).long()
    magnitude = bits & (2 ** (8 * x.element_size() - 1) - 1)
    return torch.where(bits < 0, -magnitude, magnitude)


def compare(found, gate, up, act):
    """(NaN where ATen in fp32 has none, or the other way; largest distance from the exact value, in
    units of the type, where the activation is no small share of its input; largest error as a share of
    abs(gate up))."""
    exact = ACTS[act](gate.double()) * up.double()
    single = ACTS[act](gate.float()) * up.float()
    # An activation below fp32's resolution times infinity: NaN by one formula, infinite by another.
    vague = up.isinf() & (gate < -5)
    wrong = (found.isnan() != single.isnan()) & ~vague
    finite = gate.isfinite() & up.isfinite() & exact.isfinite()
    found, exact, size = found[finite], exact[finite], (gate.double() * up.double()).abs()[finite]
    tiny = torch.finfo(found.dtype).smallest_normal
    units = (ordered(found) - ordered(exact.to(found.dtype))).abs()
    visible = (exact.abs() > 1e-3 * size) & (exact.abs() > tiny)
    error = (found.double() - exact).abs() / size
    counted = (size > tiny) & found.isfinite() & (exact.abs() < torch.finfo(found.dtype).max)
    return int(wrong.sum()), int(units[visible].max()), float(error[counted].max())


def check_numbers(checks, kernel):
    rows = []
    for dtype, act in itertools.product(ELEMENTS, ACTS):
        gate, up = inputs_of(dtype)
        ours = kernel(act, gate[None], up[None], torch.empty_like(gate)[None])[0]
        wrong, units, error = compare(ours, gate, up, act)
        _, eager_units, eager_error = compare(ACTS[act](gate) * up, gate, up, act)
        name = f"{NAMES[dtype]} {act}"
        most = max(32, eager_units) if dtype == torch.float32 else 1
        checks.expect(f"{name}: NaN as in fp32", wrong, 0)
        checks.that(f"{name}: at most {most} units from the exact value", units <= most, units)
        checks.that(f"{name}: not farther from it than ATen", error <= 1.05 * eager_error + 1e-7,
                    f"{error} against {eager_error}")
        rows.append({"dtype": NAMES[dtype], "act": act, "units": units, "eager_units": eager_units,
                     "error": error, "eager_error": eager_error})
    return rows


def check_shapes(checks, kernel):
    """Any number of rows, tails, unaligned starts and rows: the numbers of whole tensors, and not a byte
    beside them."""
    guard = 64
    for dtype in ELEMENTS:
        for rows, columns, gap, shift in [(1, 1, 0, 0), (3, 5, 0, 0), (7, 3072, 0, 0), (5, 3073, 0, 1),
                                          (8192, 3072, 0, 0), (9, 1000, 24, 0), (9, 1001, 7, 3),
                                          (1, 4096, 0, 0), (1, 4103, 0, 0), (70000, 24, 8, 0), (2, 1 << 20, 16, 8),
                                          (4, 0, 0, 0)]:
            stride = columns + gap
            source = torch.randn(2, guard + rows * stride + guard, device=DEVICE).to(dtype)
            views = [each[shift:].as_strided((rows, columns), (stride, 1), each.storage_offset() + shift)
                     for each in source]
            target = torch.full((guard + rows * stride + guard,), 7.0, device=DEVICE).to(dtype)
            out = target.as_strided((rows, columns), (stride, 1), guard // 2 + shift)
            kernel("silu", *views, out)
            whole = [view.contiguous() for view in views]
            wanted = kernel("silu", *whole, torch.empty_like(whole[0]))
            name = f"{NAMES[dtype]} {rows}x{columns}, rows {gap} apart, start off by {shift}"
            checks.that(f"{name}: the same numbers", torch.equal(out, wanted), "other numbers")
            out.fill_(7.0)
            checks.that(f"{name}: nothing beside them", bool((target == 7.0).all()), "bytes changed")


def captured(body):
    """`LAUNCHES` of them as one graph: the host's time has no part."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            body()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            body()
    return graph


def time_us(graph):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e3 / LAUNCHES


def compiled_by_inductor(act):
    """act(gate) * up for one shape; forgets what was compiled before, or Dynamo, which compiles a
    function 8 times, leaves the later cases to eager."""
    torch._dynamo.reset()
    return torch.compile(lambda gate, up: ACTS[act](gate) * up, dynamic=False)


def kernels_of(body):
    """Names of the kernels of one call."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        body()
        torch.cuda.synchronize()
    return [event.name for event in profiler.events()
            if event.device_type == torch.autograd.DeviceType.CUDA]


def measure(kernel, dtype, act, rows, columns):
    gate, up = torch.randn(2, rows, columns, device=DEVICE).to(dtype)
    out = torch.empty_like(gate)
    moved = 3 * out.numel() * out.element_size()  # two reads and a write
    source = torch.randn(moved // 2 // 4, device=DEVICE)
    target = torch.empty_like(source)
    compiled = compiled_by_inductor(act)
    compiled(gate, up)
    graphs = {"driver_copy": captured(lambda: target.copy_(source)),
              "kernel_copy": captured(lambda: torch.neg(source, out=target)),
              "perfgate": captured(lambda: kernel(act, gate, up, out)),
              "inductor": captured(lambda: compiled(gate, up)),
              "eager": captured(lambda: ACTS[act](gate) * up)}
    times = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            times[name].append(time_us(graph))
    medians = {name: statistics.median(values) for name, values in times.items()}
    medians["copy"] = min(medians["driver_copy"], medians["kernel_copy"])
    return {"dtype": NAMES[dtype], "act": act, "rows": rows, "columns": columns, "bytes": moved,
            "inductor_kernels": kernels_of(lambda: compiled(gate, up)), "us": medians,
            "terabytes_s": {n: moved / us / 1e6 for n, us in medians.items() if n != "eager"},
            "of_copy": medians["copy"] / medians["perfgate"],
            "of_inductor": medians["inductor"] / medians["perfgate"]}


def check_bandwidth(checks, kernel):
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    rows = []
    for dtype, act in itertools.product(ELEMENTS, ACTS):
        for tokens in (8192, 65536):
            row = measure(kernel, dtype, act, tokens, 3072)
            rows.append(row)
            torch.cuda.empty_cache()
            name = f"{row['dtype']} {act} {tokens}x3072"
            launched = row["inductor_kernels"]
            checks.that(f"{name}: Inductor's is one fused kernel",
                        len(launched) == 1 and launched[0].startswith("triton_"), launched)
            if row["bytes"] < L2_FACTOR * l2:
                continue
            checks.that(f"{name}: at least 90 % of a copy's bandwidth", row["of_copy"] >= 0.90, row)
            checks.that(f"{name}: not slower than Inductor's", row["of_inductor"] >= 0.98, row)
    return rows


def tables(numbers, speeds):
    lines = ["| type | activation | units from exact | ATen | error / abs(gate up) | ATen |", "|---" * 6 + "|"]
    lines += ["| {dtype} | {act} | {units} | {eager_units} | {error:.2g} | {eager_error:.2g} |".format(**row)
              for row in numbers]
    lines += ["", "| type | activation | shape | TB/s | of a copy | of Inductor | us | copy | Inductor "
              "| eager |", "|---" * 10 + "|"]
    for row in speeds:
        us = row["us"]
        lines.append(f"| {row['dtype']} | {row['act']} | {row['rows']}x{row['columns']} "
                     f"| {row['terabytes_s']['perfgate']:.2f} | {row['of_copy']:.1%} "
                     f"| {row['of_inductor']:.1%} | {us['perfgate']:.1f} | {us['copy']:.1f} "
                     f"| {us['inductor']:.1f} | {us['eager']:.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    checks, kernel = Checks(), Kernel(arguments.build.resolve())
    with torch.inference_mode():
        numbers = check_numbers(checks, kernel)
        check_shapes(checks, kernel)
        speeds = check_bandwidth(checks, kernel)
    gpu = torch.cuda.get_device_properties(0)
    about = {"gpu": gpu.name, "torch": torch.__version__, "cuda": torch.version.cuda,
             "l2_bytes": gpu.L2_cache_size}
    return write(arguments.out, "torch_fused", checks, tables(numbers, speeds), about=about,
                 numbers=numbers, speeds=speeds)


if __name__ == "__main__":
    sys.exit(main())
