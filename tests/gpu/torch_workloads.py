"""Every module of perfgate-torch in every mode on a real GPU, with the kernels that its trace proves.

usage: torch_workloads.py BUILD OUT [--jobs N] [--modes eager,aoti,…] [--modules geglu,…]

Writes OUT/torch_workloads.json (every number), .md (a table) and OUT/traces/CASE.json.gz. Exports
for mode aoti take minutes the first time; they are kept under $PERFGATE_CACHE.
"""
import argparse
import concurrent.futures
import gzip
import pathlib
import shutil
import sys

from torch_attempt import Attempt, Checks, relative_error, slug, write

MODES = ["eager", "cuda_graph", "hand_fused", "aoti"]
FUSED = ("geglu", "swiglu")


class Case:
    """A module with its settings. `kernels` are those of an eager step without split-K reducers, and
    `copies` its copies, where the code says them; None: measured, and compared between modes."""

    def __init__(self, module, shape, settings="", kernels=None, copies=0, dtype="bf16"):
        self.module, self.shape, self.dtype = module, shape, dtype
        self.settings = settings.split()
        self.kernels, self.copies = kernels, copies
        self.trains = "train=true" in self.settings
        self.waits = "dispatch=loop" in self.settings
        # The C++ that AOTInductor of torch 2.11 writes for these does not compile.
        self.not_exported = module == "moe" and not {"dispatch=loop", "dispatch=grouped"}.isdisjoint(self.settings)

    def name(self, mode):
        return slug(f"{self.module}[{','.join([*self.settings, self.shape, self.dtype, mode])}]")

    def arguments(self, mode):
        pairs = [word for setting in self.settings for word in ("--set", setting)]
        return ["--module", self.module, *pairs, "--input-shape", self.shape.replace("x", ","),
                "--input-dtype", self.dtype, "--mode", mode]

    def has(self, mode):
        if mode == "hand_fused":
            return self.module in FUSED
        return mode != "aoti" or not self.trains


ATTENTION = "8x16x1024x64"
CASES = [
    Case("linear", "1024x32", kernels=1),
    Case("matmul_add", "64x64", "bias=1d", kernels=2),
    Case("matmul_add", "4096x4096", "bias=2d k=4096 n=4096", kernels=2),
    Case("mlp", "64x768", kernels=3),
    Case("geglu", "64x768", kernels=5),
    Case("geglu", "8192x768", kernels=5),
    Case("geglu", "8192x768", "approximate=none", kernels=5),
    Case("geglu", "64x768", kernels=5, dtype="fp16"),
    Case("geglu", "64x768", kernels=5, dtype="fp32"),
    Case("swiglu", "8192x768", kernels=5),
    Case("swiglu", "64x768", "bias=true", kernels=5),
    Case("norm_mlp", "512x768", "norm=layer", kernels=5),
    Case("norm_mlp", "512x768", "norm=rms", kernels=5),
    Case("attention", ATTENTION, "implementation=naive", kernels=5, copies=1),
    Case("attention", ATTENTION, "implementation=naive_in_place", kernels=5),
    Case("attention", ATTENTION, "implementation=naive causal=false", kernels=4),
    Case("attention", ATTENTION, "implementation=math"),
    Case("attention", ATTENTION, "implementation=efficient", kernels=1),
    Case("attention", ATTENTION, "implementation=flash", kernels=1),
    Case("attention", ATTENTION, "implementation=flash causal=false", kernels=1),
    Case("attention", ATTENTION, "implementation=cudnn", kernels=1),
    Case("transformer_block", "8x128x768", kernels=10),
    Case("transformer_block", "2x1024x768", kernels=10),
    Case("moe", "64x768", "dispatch=loop"),
    Case("moe", "64x768", "dispatch=dense"),
    Case("moe", "64x768", "dispatch=grouped"),
    Case("decode", "8x768", "cache=static"),
    Case("decode", "8x768", "cache=concatenated"),
    Case("quantized_linear", "64x1024", "method=dequantize", kernels=3),
    Case("quantized_linear", "64x1024", "method=int8"),
    Case("quantized_linear", "64x1024", "method=fp8"),
    Case("mlp", "64x768", "train=true optimizer=sgd"),
    Case("mlp", "64x768", "train=true optimizer=adamw"),
    Case("transformer_block", "8x128x768", "train=true optimizer=sgd"),
    Case("transformer_block", "8x128x768", "train=true optimizer=adamw"),
]


def check_whole(checks, name, attempt):
    """True if the evidence is whole: anything else would prove nothing."""
    checks.that(f"{name}: runs", attempt.code == 0, attempt.stderr[-600:])
    if attempt.code != 0:
        return False
    evidence = attempt.evidence
    checks.that(f"{name}: its trace is read", evidence is not None, "perfgate inspect failed")
    if evidence is None:
        return False
    checks.expect(f"{name}: is complete", evidence["incomplete_because"], [])
    checks.expect(f"{name}: steps", evidence["steps"], 5)
    checks.that(f"{name}: every step is alike", evidence["metrics"]["kernels"]["stable"],
                evidence["metrics"]["kernels"])
    checks.that(f"{name}: device latency for every iteration",
                len(attempt.samples["device_latency_ns"]) == len(attempt.samples["latency_ns"]),
                len(attempt.samples["device_latency_ns"]))
    return True


def check_eager(checks, case, name, attempt):
    if case.kernels is not None:
        checks.expect(f"{name}: kernels", attempt.own_kernels(), case.kernels)
        checks.expect(f"{name}: copies", attempt.metric("memcpy_count"), case.copies)
    if case.module == "moe":
        waits = attempt.metric("syncs")
        checks.that(f"{name}: the host waits only in the loop", (waits > 0) == case.waits, waits)
    if case.trains:
        functor = "FusedAdam" if "optimizer=adamw" in case.settings else "multi_tensor_apply"
        checks.expect(f"{name}: launches of the optimizer over all weights",
                      sum(count for kernel, count in attempt.kernels().items() if functor in kernel), 1)
        checks.that(f"{name}: has a backward pass",
                    any(kernel.get("backward_of") for kernel in attempt.gpu_kernels()),
                    [kernel["name"] for kernel in attempt.gpu_kernels()])


def check_graph(checks, case, name, attempt, eager):
    checks.expect(f"{name}: graph launches", attempt.metric("graph_launches"), 1)
    checks.expect(f"{name}: launches", attempt.metric("launches"), 0)
    checks.expect(f"{name}: the kernels of eager", attempt.kernels(), eager.kernels())
    checks.expect(f"{name}: the copies of eager", attempt.metric("memcpy_count"), eager.metric("memcpy_count"))
    if not case.trains:  # atomics of a backward pass add in any order
        checks.expect(f"{name}: the numbers of eager", attempt.output == eager.output, True)


def check_fused(checks, name, attempt, eager, word):
    """One kernel does what eager's activation and product do."""
    fused = [kernel for kernel in attempt.gpu_kernels()
             if word in kernel["ops"] and "mul" in kernel["ops"]]
    apart = [kernel["name"] for kernel in attempt.gpu_kernels()
             if word in kernel["ops"] and "mul" not in kernel["ops"]]
    checks.expect(f"{name}: one fused kernel", [k["count_per_step"][0] for k in fused], [1])
    checks.expect(f"{name}: no activation apart", apart, [])
    checks.expect(f"{name}: one kernel less than eager", attempt.own_kernels(),
                  eager.own_kernels() - 1)


def check_mode(checks, case, mode, attempt, eager):
    name = case.name(mode)
    word = "silu" if case.module == "swiglu" else "gelu"
    if mode != "eager" and eager is None:
        checks.that(f"{name}: has an eager run to be compared with", False, "eager was not measured")
        return
    if mode == "eager":
        check_eager(checks, case, name, attempt)
    elif mode == "cuda_graph":
        check_graph(checks, case, name, attempt, eager)
    elif case.module in FUSED:
        check_fused(checks, name, attempt, eager, word)
    if mode == "hand_fused":
        checks.expect(f"{name}: nothing fell back", attempt.samples["fallback"], [])
        checks.that(f"{name}: by the kernel of perfgate",
                    any("perfgate::act_and_mul_kernel" in kernel for kernel in attempt.kernels()),
                    list(attempt.kernels()))
    if mode == "aoti":
        checks.that(f"{name}: no more kernels than eager",
                    attempt.own_kernels() <= eager.own_kernels() or case.module == "moe",
                    f"{attempt.own_kernels()} against {eager.own_kernels()}")
    most = 1e-4 if case.dtype == "fp32" and case.module not in FUSED else 2e-2
    if mode != "eager" and not case.waits:
        error = relative_error(attempt.output, eager.output)
        checks.that(f"{name}: near the numbers of eager", error <= most, error)


def row_of(name, attempt):
    value = attempt.metric
    return {"case": name, "kernels": value("kernels"), "gemm_aux": attempt.count("gemm_aux"),
            "memcpy": value("memcpy_count"), "launches": value("launches"),
            "graph_launches": value("graph_launches"), "syncs": value("syncs"),
            "gpu_time_us": (value("gpu_time") or 0) / 1e3,
            "latency_us": attempt.p50_us("latency_ns"),
            "device_latency_us": attempt.p50_us("device_latency_ns"),
            "dispatch_us": attempt.p50_us("dispatch_ns"), "names": attempt.kernels()}


def measure(arguments, wanted):
    """Yields (case, mode, attempt) in the order wanted, each as soon as it is there."""
    def attempt(case, mode):
        folder = arguments.out / "attempts" / case.name(mode)
        return Attempt(arguments.build, folder, case.arguments(mode))

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = [(case, mode, pool.submit(attempt, case, mode)) for case, mode in wanted]
        for case, mode, future in futures:
            yield case, mode, future.result()


def keep_trace(out, name):
    (out / "traces").mkdir(parents=True, exist_ok=True)
    with open(out / "attempts" / name / "trace.json", "rb") as trace, \
            gzip.GzipFile(out / "traces" / f"{name}.json.gz", "wb", mtime=0) as packed:
        shutil.copyfileobj(trace, packed)


def table_of(rows):
    columns = [column for column in (rows[0] if rows else {}) if column != "names"]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return lines + ["| " + " | ".join(f"{row[c]:.1f}" if isinstance(row[c], float) else str(row[c])
                                      for c in columns) + " |" for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=4, help="attempts at a time; times are only good with 1")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--modules", default=",".join(dict.fromkeys(case.module for case in CASES)))
    arguments = parser.parse_args()
    arguments.build, arguments.out = arguments.build.resolve(), arguments.out.resolve()
    wanted = [(case, mode) for case in CASES for mode in arguments.modes.split(",")
              if case.module in arguments.modules.split(",") and case.has(mode)]
    checks, rows, eager_of, failed = Checks(), [], {}, 0
    for case, mode, attempt in measure(arguments, wanted):
        name = case.name(mode)
        if mode == "cuda_graph" and case.waits:
            checks.that(f"{name}: is refused with its reason",
                        attempt.code == 1 and "no CUDA graph: " in attempt.stderr, attempt.stderr)
        elif mode == "aoti" and case.not_exported:
            checks.that(f"{name}: is refused with its reason", attempt.code == 1 and
                        "the C++ that AOTInductor wrote does not compile" in attempt.stderr, attempt.stderr)
        elif check_whole(checks, name, attempt):
            if mode == "eager":
                eager_of[case] = attempt
            check_mode(checks, case, mode, attempt, eager_of.get(case))
            rows.append(row_of(name, attempt))
            keep_trace(arguments.out, name)
        # After each, so that a run that is cut off keeps what it has.
        failed = write(arguments.out, "torch_workloads", checks, table_of(rows), rows=rows)
    shutil.rmtree(arguments.out / "attempts")
    return failed


if __name__ == "__main__":
    sys.exit(main())
