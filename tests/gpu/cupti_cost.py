"""Times two launch-bound programs in one process: a loop of empty kernels and a GeGLU.

usage: cupti_cost.py LOOP_LIBRARY [--kineto] [--launches N] [--iterations N]

Prints one JSON object: host nanoseconds a launch, and a GeGLU step, each the fastest of five. What
records, if anything does, is the caller's affair: the environment says it. With --kineto it is
torch.profiler with CUDA activities. The timed loops stand in an NVTX range `timed`.
"""
import argparse
import contextlib
import ctypes
import json
import time

import torch

from cupti_geglu import GeGlu

REPEATS = 5



def geglu(iterations):
    model = GeGlu().to("cuda", torch.bfloat16).eval()
    x = torch.randn(64, 768, device="cuda", dtype=torch.bfloat16)

    def run():
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(iterations):
            model(x)
        taken = (time.perf_counter_ns() - start) / iterations
        torch.cuda.synchronize()
        return taken

    run()
    return run


def loop(library, launches):
    launch = ctypes.CDLL(library).LaunchLoop
    launch.restype = ctypes.c_double
    launch.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_double)]

    def run():
        return launch(launches, ctypes.byref(ctypes.c_double())) / launches * 1e9

    run()
    return run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loop_library")
    parser.add_argument("--kineto", action="store_true")
    parser.add_argument("--launches", type=int, default=20_000)
    parser.add_argument("--iterations", type=int, default=2_000)
    arguments = parser.parse_args()
    with torch.inference_mode():
        runs = [loop(arguments.loop_library, arguments.launches), geglu(arguments.iterations)]
        with torch.cuda.nvtx.range("timed"):  # the range that a collector warms up on
            for run in runs:
                run()
        profiler = contextlib.nullcontext()
        if arguments.kineto:
            profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        with profiler:
            # Both under one range: the whole is one step of the window.
            with torch.cuda.nvtx.range("timed"):
                loop_ns, geglu_ns = (min(run() for _ in range(REPEATS)) for run in runs)
    print(json.dumps({"loop_ns_per_launch": loop_ns, "geglu_ns_per_step": geglu_ns}))


if __name__ == "__main__":
    main()
