"""Exports a built-in module of perfgate-torch as an AOTInductor package.

perfgate-torch runs this with the definition of the module. Weights are drawn as src/torch/module.cc
draws them, so that a module has the same numbers in every mode.
"""

import argparse
import math
import sys

import torch
import torch.nn.functional as F

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Weights:
    """Parameters in the order in which they are asked for."""

    def __init__(self, seed, dtype, device):
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype, self.device = dtype, device

    def matrix(self, rows, columns, fan_in):
        return self._draw((rows, columns), 1 / math.sqrt(fan_in))

    def vector(self, size):
        return self._draw((size,), 0.1)

    def optional_vector(self, size, wanted):
        return self.vector(size) if wanted else None

    def _draw(self, shape, scale):
        drawn = torch.randn(shape, generator=self.generator).mul(scale)
        return torch.nn.Parameter(drawn.to(self.device, self.dtype), requires_grad=False)


class Linear(torch.nn.Module):
    def __init__(self, weights, given, shape):
        super().__init__()
        fan_in, out = int(given["in_features"]), int(given["out_features"])
        self.weight = weights.matrix(out, fan_in, fan_in)
        self.bias = weights.optional_vector(out, given["bias"] == "true")

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class MatmulAdd(torch.nn.Module):
    def __init__(self, weights, given, shape):
        super().__init__()
        k, n = int(given["k"]), int(given["n"])
        self.weight = weights.matrix(k, n, k)
        full = given["bias"] == "2d"
        self.bias = weights.matrix(shape[0], n, 100) if full else weights.vector(n)

    def forward(self, x):
        return torch.add(torch.matmul(x, self.weight), self.bias)


class Mlp(torch.nn.Module):
    def __init__(self, weights, given, shape):
        super().__init__()
        hidden, intermediate = int(given["hidden"]), int(given["intermediate"])
        bias = given["bias"] == "true"
        self.activation = F.relu if given["activation"] == "relu" else F.gelu
        self.up = weights.matrix(intermediate, hidden, hidden)
        self.up_bias = weights.optional_vector(intermediate, bias)
        self.down = weights.matrix(hidden, intermediate, intermediate)
        self.down_bias = weights.optional_vector(hidden, bias)

    def forward(self, x):
        h = self.activation(F.linear(x, self.up, self.up_bias))
        return F.linear(h, self.down, self.down_bias)


class Geglu(torch.nn.Module):
    def __init__(self, weights, given, shape):
        super().__init__()
        hidden, intermediate = int(given["hidden"]), int(given["intermediate"])
        bias = given["bias"] == "true"
        self.approximate = given["approximate"]
        self.gate = weights.matrix(intermediate, hidden, hidden)
        self.gate_bias = weights.optional_vector(intermediate, bias)
        self.up = weights.matrix(intermediate, hidden, hidden)
        self.up_bias = weights.optional_vector(intermediate, bias)
        self.down = weights.matrix(hidden, intermediate, intermediate)
        self.down_bias = weights.optional_vector(hidden, bias)

    def forward(self, x):
        gate = F.gelu(F.linear(x, self.gate, self.gate_bias), approximate=self.approximate)
        up = F.linear(x, self.up, self.up_bias)
        return F.linear(gate * up, self.down, self.down_bias)


MODULES = {"linear": Linear, "matmul_add": MatmulAdd, "mlp": Mlp, "geglu": Geglu}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, choices=MODULES)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--input-shape", required=True)
    parser.add_argument("--input-dtype", required=True, choices=DTYPES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--torch", help="the version that will load the package")
    parser.add_argument("--out", required=True)
    return parser.parse_args()


def main():
    args = parse_args()
    if args.torch and args.torch != torch.__version__:
        sys.exit(f"{sys.executable} has torch {torch.__version__}, the runner has {args.torch}; "
                 "set PERFGATE_PYTHON to the Python that has the runner's")
    config = torch._inductor.config
    config.cpp.enable_kernel_profile = True  # fused CPU loops show in the trace, by name
    config.cpp.dynamic_threads = True  # one package for any number of threads
    shape = [int(dim) for dim in args.input_shape.split(",")]
    dtype = DTYPES[args.input_dtype]
    weights = Weights(args.seed, dtype, args.device)
    with torch.no_grad():
        model = MODULES[args.module](weights, dict(pair.split("=", 1) for pair in args.set), shape)
        example = torch.zeros(shape, dtype=dtype, device=args.device)
        exported = torch.export.export(model.eval(), (example,))
        torch._inductor.aoti_compile_and_package(exported, package_path=args.out)


if __name__ == "__main__":
    main()
