"""What perfgate-torch says on a real GPU when it cannot measure, and what it records of the machine.

usage: python3 torch_faults.py BUILD OUT       with the Python of torch

Writes OUT/torch_faults.json and OUT/torch_faults.md. The GPU must have nothing else to do.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from torch_attempt import Attempt, Checks, write

LINEAR = ["--module", "linear", "--input-dtype", "bf16"]
MOE = ["--module", "moe", "--input-dtype", "bf16"]
FLASH = ["--module", "attention", "--set", "implementation=flash", "--input-dtype", "fp32"]
# Inputs and weights are small, what comes of them is not: 512 GiB.
HUGE = ["--module", "linear", "--set", "in_features=64", "--set", "out_features=65536", "--input-dtype", "bf16",
        "--input-shape", "4194304,64"]
# An index beyond its table, in a TorchScript file: an assertion inside a kernel.
BAD_INDEX = """
import sys, torch
def lookup(x): return torch.ones_like(x).index_select(0, (x.abs() * 1000).long())
torch.jit.trace(lookup, torch.zeros(8)).save(sys.argv[1])
"""
OTHER_PROCESS = "import sys, torch; torch.ones(1, device='cuda'); print('up', flush=True); sys.stdin.read()"
NUMBERS = ["sm_clock_mhz", "memory_clock_mhz", "temperature_c", "power_mw", "gpu_processes"]


def check_faults(checks, attempt):
    for name, arguments, variables, wanted in [
            ("out of memory", HUGE, {}, "out of GPU memory: use a smaller batch"),
            ("an index beyond the last GPU", LINEAR, {"PERFGATE_DEVICE": "cuda:99"},
             "device cuda:99: there "),
            ("no GPU to be seen", LINEAR, {"CUDA_VISIBLE_DEVICES": ""},
             "the driver gives no GPU (no CUDA-capable device is detected; CUDA_VISIBLE_DEVICES=)"),
            ("a loop that waits, in a graph", [*MOE, "--mode", "cuda_graph"], {}, "no CUDA graph: "),
            ("flash attention of fp32", FLASH, {}, "attention that cannot serve: ")]:
        found = attempt(arguments, **variables)
        checks.expect(f"{name}: exit code", found.code, 1)
        checks.that(f"{name}: named", wanted in found.stderr, found.stderr)
        checks.that(f"{name}: in a few lines",
                    sum("perfgate-torch: " in line for line in found.stderr.splitlines()) == 1, found.stderr)
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "lookup.pt"
        subprocess.run([sys.executable, "-c", BAD_INDEX, script], check=True, capture_output=True)
        found = attempt(["--script", str(script), "--input-shape", "8"])
        checks.expect("an assertion of a kernel: exit code", found.code, 1)
        checks.that("an assertion of a kernel: named", "assertion of a GPU kernel: " in found.stderr,
                    found.stderr[-600:])


def check_records(checks, attempt):
    found = attempt(LINEAR)
    checks.expect("a plain attempt: exit code", found.code, 0)
    environment = found.samples["environment"]
    for key, pattern in [("gpu", r"\w"), ("gpu_uuid", r"^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
                         ("driver", r"^\d+\.\d+"), ("cudnn", r"^\d{5,6}$"), ("cublas", r"^\d+\.\d+\.\d+$"),
                         ("compute_capability", r"^\d+\.\d$"), ("triton", r"^\d+\.\d+"),
                         ("throttle_before", r"\w"), ("throttle_after", r"\w"),
                         *((f"{name}_{when}", r"^\d+$") for name in NUMBERS
                           for when in ("before", "after"))]:
        text = environment.get(key, "")
        checks.that(f"records {key}", re.search(pattern, text), repr(text))
    checks.expect("alone on the GPU: no warning", environment.get("warning", ""), "")
    latency, device = (found.p50_us(name) for name in ("latency_ns", "device_latency_ns"))
    checks.that("the GPU's own clock tells less than the host's, and more than nothing",
                0 < device <= latency * 1.2, f"{device} us, {latency} us")
    checks.that("dispatch takes a part of the latency", 0 < found.p50_us("dispatch_ns") <= latency,
                found.p50_us("dispatch_ns"))
    return environment


def check_other_process(checks, attempt):
    with subprocess.Popen([sys.executable, "-c", OTHER_PROCESS], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        warning = attempt(LINEAR).samples["environment"].get("warning", "")
        other.stdin.close()
    checks.that("another process on the GPU is a warning", "1 other process uses the GPU" in warning, warning)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        def attempt(words, **variables):
            return Attempt(arguments.build.resolve(), pathlib.Path(tempfile.mkdtemp(dir=folder)), words,
                           **variables)

        check_faults(checks, attempt)
        environment = check_records(checks, attempt)
        check_other_process(checks, attempt)
    lines = ["| key | value |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in sorted(environment.items())]
    return write(arguments.out, "torch_faults", checks, lines, environment=environment)


if __name__ == "__main__":
    sys.exit(main())
