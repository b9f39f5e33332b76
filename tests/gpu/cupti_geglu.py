"""A GeGLU in Python that marks its steps by NVTX and, if asked, profiles itself with torch.profiler.

usage: cupti_geglu.py MODE [--torch-profiler FILE] [--steps N]
MODE: eager, graph (a captured CUDA graph), compile (torch.compile), reduce-overhead
"""
import argparse
import contextlib

import torch

WARMUP = 12


class GeGlu(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = torch.nn.Linear(768, 3072), torch.nn.Linear(768, 3072)
        self.down = torch.nn.Linear(3072, 768)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.gate(x)) * self.up(x))


def captured(model, x):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(x)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    return graph.replay


def step_of(mode, model, x):
    if mode == "graph":
        return captured(model, x)
    if mode == "compile":
        model = torch.compile(model)
    if mode == "reduce-overhead":
        model = torch.compile(model, mode="reduce-overhead")
    return lambda: model(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["eager", "graph", "compile", "reduce-overhead"])
    parser.add_argument("--torch-profiler", metavar="FILE")
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    with torch.inference_mode():
        model = GeGlu().to("cuda", torch.bfloat16).eval()
        x = torch.randn(64, 768, device="cuda", dtype=torch.bfloat16)
        step = step_of(arguments.mode, model, x)
        for _ in range(WARMUP):
            step()
        torch.cuda.synchronize()
        profiler = contextlib.nullcontext()
        if arguments.torch_profiler:
            profiler = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU,
                            torch.profiler.ProfilerActivity.CUDA])
        # The range before the window, which a collector warms up on.
        with torch.cuda.nvtx.range("geglu"):
            step()
        torch.cuda.synchronize()
        with profiler:
            for number in range(arguments.steps):
                with torch.cuda.nvtx.range("geglu"), \
                        torch.profiler.record_function(f"ProfilerStep#{number}"):
                    step()
                torch.cuda.synchronize()
        if arguments.torch_profiler:
            profiler.export_chrome_trace(arguments.torch_profiler)


if __name__ == "__main__":
    main()
