"""Measures a PyTorch step by perfgate's attempt contract (docs/attempt.md).

    from perfgate_attempt import device, measure

    model = Model().to(device())
    x = torch.randn(64, 768, device=device())
    measure(lambda: model(x))

Copy this file beside your script. Started by hand, without perfgate, it uses default windows and
leaves its files in a folder under $TMPDIR.
"""

import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch

_LARGEST_SAVED = 1 << 24  # elements of an output that are kept for numerics


def _number(name, default):
    return int(os.environ.get(name) or default)


def device():
    """The device to run on, as a torch.device."""
    name = os.environ.get("PERFGATE_DEVICE") or "auto"
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def plant():
    """The defect to put in on purpose; "" for none. Give what you put in to measure(planted=...)."""
    return os.environ.get("PERFGATE_PLANT", "")


def measure(step, *, synchronizes=False, planted=""):
    """Runs step() through warm-up, timed and traced window; writes samples.json and the trace.

    Tensors that step() returns are described for numerics. Say synchronizes=True if step() waits for
    the device itself (.item(), .cpu()): there is no dispatch time then.
    """
    torch.set_num_threads(_number("PERFGATE_THREADS", torch.get_num_threads()))
    folder = pathlib.Path(os.environ.get("PERFGATE_ATTEMPT_DIR") or tempfile.mkdtemp("-perfgate"))
    wait = torch.cuda.synchronize if device().type == "cuda" else lambda: None
    on_gpu = device().type == "cuda"

    def iteration():
        start = time.perf_counter_ns()
        step()
        returned = time.perf_counter_ns()
        wait()
        return returned - start, time.perf_counter_ns() - start

    iteration()
    samples = {"schema": "perfgate.samples/1", "cold_start_ns": _since_process_start_ns()}
    samples["warmup_iterations"], samples["steady"] = _warm_up(lambda: iteration()[1])
    compiled = _compiled_graphs()
    timed = [iteration() for _ in range(_number("PERFGATE_ITERATIONS", 200))]
    samples["latency_ns"] = [latency for _, latency in timed]
    samples["dispatch_ns"] = [dispatch for dispatch, _ in timed] if on_gpu and not synchronizes else []
    if not samples["dispatch_ns"]:
        samples["dispatch_unavailable"] = (
            "the step waits for the device itself" if synchronizes else
            "on a CPU the call returns when the work is done")
    if (os.environ.get("PERFGATE_PHASE") or "traced") == "traced":
        _trace(step, wait, folder / "trace.json.gz")
    samples["environment"] = _environment(compiled)
    samples["outputs"] = [_describe(i, tensor, folder) for i, tensor in enumerate(_tensors(step()))]
    samples["plant"] = planted
    whole = folder / "samples.json.tmp"
    whole.write_text(json.dumps(samples))
    whole.rename(folder / "samples.json")
    if not os.environ.get("PERFGATE_ATTEMPT_DIR"):
        print(f"perfgate: p50 {statistics.median(samples['latency_ns']) / 1e3:.1f} us, {folder}",
              file=sys.stderr)


def _since_process_start_ns():
    with open("/proc/self/stat") as file:
        start_ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    start_ns = start_ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return max(0, time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start_ns)


def _is_steady(latencies):
    """The medians of the last two blocks of ten differ by at most 5 %."""
    if len(latencies) < 20:
        return False
    before, after = statistics.median(latencies[-20:-10]), statistics.median(latencies[-10:])
    return abs(after - before) <= 0.05 * before


def _warm_up(run):
    """(iterations, whether they became steady), the first one, which is cold, counted."""
    least = _number("PERFGATE_WARMUP", 20)
    until_steady = os.environ.get("PERFGATE_WARMUP_UNTIL_STEADY", "1") != "0"
    deadline = time.perf_counter_ns() + _number("PERFGATE_WARMUP_AT_MOST_NS", 30_000_000_000)
    latencies = []
    while time.perf_counter_ns() < deadline:
        count = len(latencies)
        if count >= least - 1 and (not until_steady or (count % 10 == 0 and _is_steady(latencies))):
            break
        latencies.append(run())
    return len(latencies) + 1, _is_steady(latencies)


def _trace(step, wait, path):
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device().type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities, record_shapes=True,
                                profile_memory=True) as profile:
        for i in range(_number("PERFGATE_TRACED_ITERATIONS", 5)):
            with torch.profiler.record_function(f"ProfilerStep#{i}"):
                step()
            wait()  # outside the mark: the step's own work alone is inside
    profile.export_chrome_trace(str(path))


def _dynamo_counters():
    utils = sys.modules.get("torch._dynamo.utils")  # there only if something was compiled
    return utils.counters if utils else {}


def _compiled_graphs():
    return _dynamo_counters().get("stats", {}).get("unique_graphs", 0)


def _environment(compiled_before):
    breaks = sum(_dynamo_counters().get("graph_break", {}).values())
    facts = {
        "torch": torch.__version__,
        "torch_git": torch.version.git_version,
        "cpu_isa": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "device": device(),
        "writer": "perfgate_attempt.py",
        "graph_breaks": breaks,
        "recompiles": _compiled_graphs() - compiled_before,
    }
    if device().type == "cuda":
        properties = torch.cuda.get_device_properties(device())
        facts.update(cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(),
                     gpu=properties.name, gpu_uuid=getattr(properties, "uuid", ""))
    if "triton" in sys.modules:
        facts["triton"] = sys.modules["triton"].__version__
    return {name: str(value) for name, value in facts.items() if value not in (None, "")}


def _tensors(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = result.values()
    return [t for t in result if isinstance(t, torch.Tensor)] if hasattr(result, "__iter__") else []


def _describe(index, tensor, folder):
    words = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
    values = tensor.detach().float().cpu().contiguous()
    finite = values[values.isfinite()].double()
    file = ""
    if 0 < values.numel() <= _LARGEST_SAVED:
        file = f"output-{index}.f32"
        (folder / file).write_bytes(ctypes.string_at(values.data_ptr(), 4 * values.numel()))
    return {
        "name": f"output {index}",
        "shape": list(tensor.shape),
        "dtype": words.get(tensor.dtype, str(tensor.dtype).removeprefix("torch.")),
        "mean": finite.mean().item() if finite.numel() else None,
        "min": finite.min().item() if finite.numel() else None,
        "max": finite.max().item() if finite.numel() else None,
        "nan_count": int(values.isnan().sum()),
        "inf_count": int(values.isinf().sum()),
        "file": file,
    }
