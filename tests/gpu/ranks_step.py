"""A data-parallel training step of a small GeGLU model, one process a GPU.

usage: ranks_step.py VARIANT [--profiler torch|cupti] [--backend NAME] [--device cuda|cpu] [--ranks N]
VARIANT: overlapped (each layer's gradients are reduced while the backward pass goes on), exposed (all
after it), small (overlapped, each tensor by itself)

Started without RANK it starts N processes of itself. Under `--profiler torch` each measures by
python/perfgate.py; under `cupti` it marks its steps by NVTX ranges named "step".
"""
import argparse
import os
import pathlib
import socket
import subprocess
import sys
import time

LAYERS = 4
HIDDEN, INTERMEDIATE, TOKENS = 1024, 4096, 8192
ON_CPU = {"HIDDEN": 32, "INTERMEDIATE": 128, "TOKENS": 64}
KEPT = ["NCCL_NVLS_ENABLE", "TORCH_SYMM_MEM_DISABLE_MULTICAST", "NVSHMEM_DISABLE_NVLS"]


def start_ranks(count):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    facts = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    ranks = [subprocess.Popen([sys.executable, *sys.argv],
                              env={**os.environ, **facts, "RANK": str(rank), "LOCAL_RANK": str(rank)})
             for rank in range(count)]
    failed = 0
    while None in (codes := [rank.poll() for rank in ranks]):
        if any(codes) and not failed:  # the others would wait for it for ever
            failed = next(code for code in codes if code)
            for rank in ranks:
                rank.terminate()
        time.sleep(0.05)
    return failed or next((code for code in codes if code), 0)


def build_layer(torch, options):
    class GeGlu(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = torch.nn.Linear(HIDDEN, INTERMEDIATE, bias=False)
            self.up = torch.nn.Linear(HIDDEN, INTERMEDIATE, bias=False)
            self.down = torch.nn.Linear(INTERMEDIATE, HIDDEN, bias=False)

        def forward(self, x):
            return x + self.down(torch.nn.functional.gelu(self.gate(x)) * self.up(x))

    return GeGlu().to(options.device, torch.bfloat16)


class Buckets:
    """The gradients of each layer in one buffer, reduced when the last of them is there."""

    def __init__(self, torch, layers, variant):
        self.distributed, self.variant, self.waiting = torch.distributed, variant, []
        self.flat = []
        for layer in layers:
            parameters = list(layer.parameters())
            flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device,
                               dtype=parameters[0].dtype)
            self.flat.append(flat)
            for part, parameter in zip(flat.split([p.numel() for p in parameters]), parameters):
                parameter.grad = part.view_as(parameter)
            self._watch(flat, parameters)

    def _watch(self, flat, parameters):
        missing = [len(parameters)]

        def arrived(parameter):
            missing[0] -= 1
            if self.variant == "small":
                self._reduce(parameter.grad)
            elif missing[0] == 0 and self.variant == "overlapped":
                self._reduce(flat)
            if missing[0] == 0:
                missing[0] = len(parameters)

        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(arrived)

    def _reduce(self, tensor):
        self.waiting.append(self.distributed.all_reduce(tensor, async_op=True))

    def finish(self):
        if self.variant == "exposed":
            for flat in self.flat:
                self._reduce(flat)
        for work in self.waiting:
            work.wait()
        self.waiting.clear()


def build_step(torch, options):
    torch.manual_seed(0)
    layers = [build_layer(torch, options) for _ in range(LAYERS)]
    buckets = Buckets(torch, layers, options.variant)
    x = torch.randn(TOKENS, HIDDEN, device=options.device, dtype=torch.bfloat16)
    whole = torch.empty_like(buckets.flat[0])
    shard = whole.new_empty(whole.numel() // torch.distributed.get_world_size())

    def step():
        for flat in buckets.flat:
            flat.zero_()
        y = x
        for layer in layers:
            y = layer(y)
        y.float().square().mean().backward()
        buckets.finish()
        # A sharded optimizer's exchange.
        torch.distributed.reduce_scatter_tensor(shard, buckets.flat[0])
        torch.distributed.all_gather_into_tensor(whole, shard)
        return whole[:64]

    return step


def run_rank(options):
    import torch
    torch.set_num_threads(1)
    if options.device == "cuda":
        options.device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(options.device)
        torch.distributed.init_process_group(options.backend, device_id=torch.device(options.device))
    else:
        globals().update(ON_CPU)
        torch.distributed.init_process_group(options.backend)
    step = build_step(torch, options)
    if options.profiler == "torch":
        sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
        import perfgate
        perfgate.measure(step, device=options.device,
                         environment={name.lower(): os.environ.get(name, "") for name in KEPT})
    else:
        for _ in range(int(os.environ["PERFGATE_WARMUP"])
                       + int(os.environ["PERFGATE_TRACED_ITERATIONS"])):
            with torch.cuda.nvtx.range("step"):
                step()
            torch.cuda.synchronize()
    torch.distributed.destroy_process_group()
    if options.device == "cpu":
        os._exit(0)  # gloo's threads may outlive the interpreter, which then aborts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["overlapped", "exposed", "small"])
    parser.add_argument("--profiler", choices=["torch", "cupti"], default="torch")
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    if "RANK" not in os.environ:
        return start_ranks(options.ranks)
    run_rank(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
