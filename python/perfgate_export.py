"""Exports a built-in module of perfgate-torch as an AOTInductor package.

perfgate-torch runs this with the definition of the module. The modules are those of
src/torch/modules, with weights drawn in the same order, so that each has the same numbers in every
mode.
"""

import argparse
import functools
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
        return self._parameter((rows, columns), 1 / math.sqrt(fan_in))

    def stack(self, count, rows, columns, fan_in):
        return self._parameter((count, rows, columns), 1 / math.sqrt(fan_in))

    def cache(self, shape):
        return self._draw(shape, 1).to(self.device, self.dtype)

    def vector(self, size):
        return self._parameter((size,), 0.1)

    def optional_vector(self, size, wanted):
        return self.vector(size) if wanted else None

    def scales(self, size):
        return self._parameter((size,), 0.1, offset=1)

    def float_matrix(self, rows, columns, fan_in):
        return self._draw((rows, columns), 1 / math.sqrt(fan_in))

    def _parameter(self, shape, scale, offset=0):
        drawn = self._draw(shape, scale).add(offset).to(self.device, self.dtype)
        return torch.nn.Parameter(drawn, requires_grad=False)

    def _draw(self, shape, scale):
        return torch.randn(shape, generator=self.generator).mul(scale)


class Settings(dict):
    """The module's settings, and the shape of its first input."""

    def __init__(self, pairs, shape):
        super().__init__(pair.split("=", 1) for pair in pairs)
        self.shape = shape

    def size(self, *names):
        sizes = [int(self[name]) for name in names]
        return sizes if len(sizes) > 1 else sizes[0]

    def flag(self, name):
        return self[name] == "true"


class Projection(torch.nn.Module):
    def __init__(self, weights, fan_in, out, bias):
        super().__init__()
        self.weight = weights.matrix(out, fan_in, fan_in)
        self.bias = weights.optional_vector(out, bias)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Norm(torch.nn.Module):
    def __init__(self, weights, size, rms):
        super().__init__()
        self.scale = weights.scales(size)
        self.shift = weights.optional_vector(size, not rms)

    def forward(self, x):
        if self.shift is None:
            return F.rms_norm(x, self.scale.shape, self.scale, 1e-6)
        return F.layer_norm(x, self.scale.shape, self.scale, self.shift, 1e-5)


class FeedForward(torch.nn.Module):
    def __init__(self, weights, given, bias, activation):
        super().__init__()
        hidden, intermediate = given.size("hidden", "intermediate")
        self.up = Projection(weights, hidden, intermediate, bias)
        self.down = Projection(weights, intermediate, hidden, bias)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu}


class Linear(Projection):
    def __init__(self, weights, given):
        super().__init__(weights, *given.size("in_features", "out_features"), given.flag("bias"))


class MatmulAdd(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        k, n = given.size("k", "n")
        self.weight = weights.matrix(k, n, k)
        full = given["bias"] == "2d"
        self.bias = weights.matrix(given.shape[0], n, 100) if full else weights.vector(n)

    def forward(self, x):
        return torch.add(torch.matmul(x, self.weight), self.bias)


class Mlp(FeedForward):
    def __init__(self, weights, given):
        super().__init__(weights, given, given.flag("bias"), ACTIVATIONS[given["activation"]])


class NormMlp(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        self.norm = Norm(weights, given.size("hidden"), given["norm"] == "rms")
        self.feed_forward = FeedForward(weights, given, given.flag("bias"),
                                        ACTIVATIONS[given["activation"]])

    def forward(self, x):
        return x + self.feed_forward(self.norm(x))


class GatedMlp(torch.nn.Module):
    def __init__(self, weights, given, activation):
        super().__init__()
        hidden, intermediate = given.size("hidden", "intermediate")
        self.gate = Projection(weights, hidden, intermediate, given.flag("bias"))
        self.up = Projection(weights, hidden, intermediate, given.flag("bias"))
        self.down = Projection(weights, intermediate, hidden, given.flag("bias"))
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Geglu(GatedMlp):
    def __init__(self, weights, given):
        gelu = functools.partial(F.gelu, approximate=given["approximate"])
        super().__init__(weights, given, gelu)


class Swiglu(GatedMlp):
    def __init__(self, weights, given):
        super().__init__(weights, given, F.silu)


class Attention(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        self.implementation, self.causal = given["implementation"], given.flag("causal")
        tokens, features = given.shape[2:]
        self.scale = 1 / math.sqrt(features)
        future = torch.ones(tokens, tokens, dtype=torch.bool, device=weights.device).triu(1)
        self.register_buffer("future", future)
        if not self.implementation.startswith("naive"):
            allow_only(self.implementation)

    def forward(self, query, key, value):
        if not self.implementation.startswith("naive"):
            return F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        in_place = self.implementation == "naive_in_place"
        scores = torch.matmul(query, key.transpose(-2, -1))
        scores = scores.mul_(self.scale) if in_place else scores * self.scale
        if self.causal:
            fill = scores.masked_fill_ if in_place else scores.masked_fill
            scores = fill(self.future, -math.inf)
        return torch.matmul(torch.softmax(scores, -1), value)


def allow_only(implementation):
    torch.backends.cuda.enable_math_sdp(implementation == "math")
    torch.backends.cuda.enable_flash_sdp(implementation == "flash")
    torch.backends.cuda.enable_mem_efficient_sdp(implementation == "efficient")
    torch.backends.cuda.enable_cudnn_sdp(implementation == "cudnn")


def split_heads(x, heads):
    return x.view(x.size(0), x.size(1), heads, x.size(2) // heads).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).reshape(x.size(0), x.size(2), x.size(1) * x.size(3))


class TransformerBlock(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        hidden, self.heads = given.size("hidden", "heads")
        self.causal = given.flag("causal")
        self.norm_1 = Norm(weights, hidden, rms=False)
        self.qkv = Projection(weights, hidden, 3 * hidden, bias=True)
        self.out = Projection(weights, hidden, hidden, bias=True)
        self.norm_2 = Norm(weights, hidden, rms=False)
        self.feed_forward = FeedForward(weights, given, True, F.gelu)

    def forward(self, x):
        query, key, value = (split_heads(each, self.heads)
                             for each in self.qkv(self.norm_1(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        x = x + self.out(join_heads(attended))
        return x + self.feed_forward(self.norm_2(x))


class Decode(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        hidden, self.heads, self.context = given.size("hidden", "heads", "context")
        self.static = given["cache"] == "static"
        self.qkv = Projection(weights, hidden, 3 * hidden, bias=False)
        self.out = Projection(weights, hidden, hidden, bias=False)
        shape = (given.shape[0], self.heads, self.context, hidden // self.heads)
        for name in ("keys", "values"):
            cache = weights.cache(shape)
            kept = cache if self.static else cache[:, :, :self.context - 1].contiguous()
            self.register_buffer(name, kept)

    def forward(self, x):
        query, key, value = (split_heads(each, self.heads)
                             for each in self.qkv(x.unsqueeze(1)).chunk(3, -1))
        keys, values = self.extended(self.keys, key), self.extended(self.values, value)
        attended = F.scaled_dot_product_attention(query, keys, values)
        return self.out(join_heads(attended)).squeeze(1)

    def extended(self, cache, fresh):
        if not self.static:
            return torch.cat((cache, fresh), 2)
        cache[:, :, self.context - 1:].copy_(fresh)
        return cache


class Moe(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        hidden, intermediate, self.experts, self.top_k = given.size(
            "hidden", "intermediate", "experts", "top_k")
        self.dispatch = getattr(self, given["dispatch"])
        self.router = weights.matrix(self.experts, hidden, hidden)
        self.gate = weights.stack(self.experts, intermediate, hidden, hidden)
        self.up = weights.stack(self.experts, intermediate, hidden, hidden)
        self.down = weights.stack(self.experts, hidden, intermediate, intermediate)

    def forward(self, x):
        tokens = x.reshape(-1, x.size(-1))
        scores = torch.softmax(F.linear(tokens, self.router), -1, dtype=torch.float32)
        shares, chosen = torch.topk(scores, self.top_k)
        shares = (shares / shares.sum(-1, keepdim=True)).to(x.dtype)
        return self.dispatch(tokens, chosen, shares).view(x.shape)

    def loop(self, tokens, chosen, shares):
        out = torch.zeros_like(tokens)
        for i in range(self.experts):
            row, slot = torch.nonzero(chosen == i).unbind(1)
            x = tokens.index_select(0, row)
            h = F.silu(F.linear(x, self.gate[i])) * F.linear(x, self.up[i])
            out.index_add_(0, row, F.linear(h, self.down[i]) * shares[row, slot].unsqueeze(-1))
        return out

    def dense(self, tokens, chosen, shares):
        shares = tokens.new_zeros(tokens.size(0), self.experts).scatter(1, chosen, shares)
        x = tokens.unsqueeze(0).expand(self.experts, -1, -1)
        h = F.silu(torch.bmm(x, self.gate.transpose(1, 2))) * torch.bmm(x, self.up.transpose(1, 2))
        return (torch.bmm(h, self.down.transpose(1, 2)) * shares.t().unsqueeze(-1)).sum(0)

    def grouped(self, tokens, chosen, shares):
        order = chosen.flatten().argsort(stable=True)
        source = order.div(self.top_k, rounding_mode="floor")
        numbers = torch.arange(self.experts, device=chosen.device)
        counts = (chosen.flatten().unsqueeze(0) == numbers.unsqueeze(1)).sum(1)
        ends = counts.cumsum(0, dtype=torch.int32)
        x = tokens.index_select(0, source)
        gate = torch._grouped_mm(x, self.gate.transpose(1, 2), ends)
        h = F.silu(gate) * torch._grouped_mm(x, self.up.transpose(1, 2), ends)
        out = torch._grouped_mm(h, self.down.transpose(1, 2), ends)
        shares = shares.flatten().index_select(0, order).unsqueeze(-1)
        return torch.zeros_like(tokens).index_add_(0, source, out * shares)


def to_int8(x):
    scale = x.abs().amax(-1, keepdim=True).float() / 127
    return (x / scale).round().to(torch.int8), scale


def to_fp8(x):
    scale = x.abs().amax().float() / 448
    return (x / scale).to(torch.float8_e4m3fn), scale


class QuantizedLinear(torch.nn.Module):
    def __init__(self, weights, given):
        super().__init__()
        fan_in, out = given.size("in_features", "out_features")
        self.method = given["method"]
        weight = weights.float_matrix(out, fan_in, fan_in)
        values, scale = to_fp8(weight) if self.method == "fp8" else to_int8(weight)
        self.register_buffer("values", values.to(weights.device))
        kept = weights.dtype if self.method == "dequantize" else torch.float32
        self.register_buffer("scale", scale.to(weights.device, kept))

    def forward(self, x):
        if self.method == "dequantize":
            return F.linear(x, self.values.to(x.dtype) * self.scale)
        if self.method == "int8":
            values, scale = to_int8(x)
            product = torch._int_mm(values, self.values.t()).float()
            return (product * scale * self.scale.t()).to(x.dtype)
        values, scale = to_fp8(x)
        return torch._scaled_mm(values, self.values.t(), scale, self.scale, out_dtype=x.dtype)


MODULES = {
    "linear": Linear, "matmul_add": MatmulAdd, "mlp": Mlp, "geglu": Geglu, "swiglu": Swiglu,
    "norm_mlp": NormMlp, "attention": Attention, "transformer_block": TransformerBlock, "moe": Moe,
    "decode": Decode, "quantized_linear": QuantizedLinear,
}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, choices=MODULES)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--input-shape", action="append", required=True)
    parser.add_argument("--input-dtype", action="append", required=True, choices=DTYPES)
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
    inputs = [([int(size) for size in shape.split(",")], DTYPES[dtype])
              for shape, dtype in zip(args.input_shape, args.input_dtype, strict=True)]
    shape, dtype = inputs[0]
    with torch.no_grad():
        weights = Weights(args.seed, dtype, args.device)
        model = MODULES[args.module](weights, Settings(args.set, shape))
        examples = [torch.zeros(shape, dtype=dtype, device=args.device) for shape, dtype in inputs]
        exported = torch.export.export(model.eval(), tuple(examples))
        torch._inductor.aoti_compile_and_package(exported, package_path=args.out)


if __name__ == "__main__":
    main()
