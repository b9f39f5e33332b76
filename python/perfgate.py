"""The attempt contract for Python scripts: one file, to be put on PYTHONPATH or copied.

    import perfgate, torch

    settings = perfgate.read_settings()
    device = "cuda" if torch.cuda.is_available() and settings.device != "cpu" else "cpu"
    model, batch = build_model().to(device), make_batch().to(device)
    perfgate.measure(lambda: model(batch), settings, device=device)

`perfgate run` starts the script with PERFGATE_* set and an empty folder (docs/attempt.md). `measure`
runs the warm-up, the timed window (no profiler) and, in the traced phase, the traced window, and
leaves samples.json and trace.json. Started by hand, it uses defaults, and prints a summary.

Of several processes that are ranks of torch.distributed, each calls `measure`: all run the same number
of iterations, each leaves trace-rankN.json, and rank 0 leaves samples.json.
"""

import ctypes
import dataclasses
import importlib.metadata
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time
import urllib.parse

import torch

_BLOCK = 10  # iterations; see _is_steady


@dataclasses.dataclass
class Settings:
    """What perfgate asks of this process. The defaults are those of a script started by hand."""

    folder: pathlib.Path
    by_hand: bool
    traced: bool = True
    warmup: int = 20
    until_steady: bool = True
    warmup_at_most_ns: int = 30_000_000_000
    iterations: int = 200
    traced_iterations: int = 5
    device: str = "auto"
    threads: int = 1
    plant: str = ""


def read_settings():
    """Reads PERFGATE_*, and sets the number of CPU threads."""
    folder = os.environ.get("PERFGATE_ATTEMPT_DIR", "")
    phase = os.environ.get("PERFGATE_PHASE") or "traced"
    if phase not in ("timed", "traced"):
        raise ValueError(f"PERFGATE_PHASE={phase!r}: expected timed or traced")
    settings = Settings(
        folder=pathlib.Path(folder or tempfile.mkdtemp(prefix="perfgate-")),
        by_hand=not folder,
        traced=phase == "traced",
        warmup=_number("PERFGATE_WARMUP", 0, 20),
        until_steady=os.environ.get("PERFGATE_WARMUP_UNTIL_STEADY", "1") in ("1", "true"),
        warmup_at_most_ns=_number("PERFGATE_WARMUP_AT_MOST_NS", 0, 30_000_000_000),
        iterations=_number("PERFGATE_ITERATIONS", 1, 200),
        traced_iterations=_number("PERFGATE_TRACED_ITERATIONS", 1, 5),
        device=os.environ.get("PERFGATE_DEVICE") or "auto",
        threads=_number("PERFGATE_THREADS", 1, 1),
        plant=os.environ.get("PERFGATE_PLANT", ""),
    )
    torch.set_num_threads(settings.threads)
    return settings


def measure(step, settings=None, *, device="cpu", synchronizes_inside=False, environment=None,
            fallback=None, plant="", inputs=""):
    """Measures `step`, one iteration, which returns a tensor or a list, tuple or dict of them.

    `device` is where it runs. With `synchronizes_inside`, `step` waits for the device by itself, so
    that there is no dispatch time. `environment` adds to what is recorded of this process, `fallback`
    is {what: why} for what was asked for and not done, `plant` the planted defect that the script
    put in because settings.plant asked for it. `inputs` names the numbers that went in, in whatever
    dtype: "seed 1, batch 8"; a case and its reference must have the same. Of several ranks rank 0 alone
    saves what `step` returned, to be compared. Returns what the last iteration returned.
    """
    settings = settings or read_settings()
    on_gpu = str(device).startswith("cuda")
    synchronize = torch.cuda.synchronize if on_gpu else lambda: None

    def iterate():
        start = time.perf_counter_ns()
        result = step()
        returned = time.perf_counter_ns()
        synchronize()
        return time.perf_counter_ns() - start, returned - start, result

    loaded_ns, compiled_before_ns = _since_process_start_ns(), _compiled_ns()
    warmup_ns = [iterate()[0]]
    cold_start_ns, compile_ns = _since_process_start_ns(), _compiled_ns()
    deadline = time.perf_counter_ns() + settings.warmup_at_most_ns
    while _as_rank_0(_goes_on(warmup_ns, settings) and time.perf_counter_ns() < deadline, device):
        warmup_ns.append(iterate()[0])

    latency_ns, dispatch_ns = [], []
    for _ in range(settings.iterations):
        latency, dispatch, result = iterate()
        latency_ns.append(latency)
        dispatch_ns.append(dispatch)
    no_dispatch = _why_no_dispatch(on_gpu, synchronizes_inside)

    result = None  # freed between the steps, so that every step allocates alike
    if settings.traced:
        _trace(step, settings, device, synchronize)
    result = step()
    synchronize()
    if _rank() > 0:
        return result

    tensors = list(_tensors(result, "output"))
    samples = {
        "schema": "perfgate.samples/1",
        "cold_start_ns": cold_start_ns,
        **_parts_of_cold_start(loaded_ns, compiled_before_ns, compile_ns, warmup_ns[0]),
        "warmup_iterations": len(warmup_ns),
        "steady": _is_steady(warmup_ns),
        "latency_ns": latency_ns,
        "dispatch_ns": [] if no_dispatch else dispatch_ns,
        "dispatch_unavailable": no_dispatch,
        "outputs": [_save(name, tensor, settings.folder, len(tensors)) for name, tensor in tensors],
        "inputs": inputs,
        "environment": {**_environment(device), **(environment or {})},
        "fallback": [{"what": what, "why": why} for what, why in (fallback or {}).items()],
        "plant": plant,
    }
    _write(settings.folder / "samples.json", json.dumps(samples, indent=1).encode())
    if settings.by_hand:
        print(f"perfgate: started by hand (PERFGATE_ATTEMPT_DIR is not set), so with default windows\n"
              f"  cold start {cold_start_ns / 1e6:.1f} ms, {len(warmup_ns)} warm-up iterations "
              f"({'steady' if samples['steady'] else 'not steady'})\n"
              f"  latency p50 {statistics.median_low(latency_ns) / 1e3:.1f} us over {len(latency_ns)} "
              f"iterations\n  files in {settings.folder}", file=sys.stderr)
    return result


def _number(name, at_least, default):
    text = os.environ.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < at_least:
        raise ValueError(f"{name}={text!r}: expected a whole number of at least {at_least}")
    return int(text)


def _is_steady(latency_ns):
    """The medians of the last two blocks of ten iterations differ by at most 5 %."""
    if len(latency_ns) < 2 * _BLOCK:
        return False
    before = statistics.median_low(latency_ns[-2 * _BLOCK:-_BLOCK])
    return abs(statistics.median_low(latency_ns[-_BLOCK:]) - before) <= 0.05 * before


def _goes_on(warmup_ns, settings):
    if len(warmup_ns) < settings.warmup:
        return True
    return settings.until_steady and (len(warmup_ns) % _BLOCK != 0 or not _is_steady(warmup_ns))


def _since_process_start_ns():
    fields = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start_ns = int(fields[22 - 3]) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))  # proc(5): starttime
    return max(0, time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start_ns)


def _compiled_ns():
    """Time that torch.compile has taken so far in this process; None if this torch does not say."""
    dynamo = sys.modules.get("torch._dynamo.utils")  # loaded before anything is compiled
    if not dynamo:
        return 0
    try:
        frames = [each for each in dynamo.get_compilation_metrics() if not getattr(each, "is_runtime", False)]
        return sum(round(each.entire_frame_compile_time_s * 1e9) for each in frames)
    except (AttributeError, TypeError):
        return None


def _parts_of_cold_start(loaded_ns, compiled_before_ns, compile_ns, first_ns):
    """What is unknown is left out. Compilation is in neither of the others, where it is known."""
    if compiled_before_ns is None or compile_ns is None:
        return {"load_ns": loaded_ns, "first_call_ns": first_ns}
    return {
        "load_ns": max(0, loaded_ns - compiled_before_ns),
        "compile_ns": compile_ns,
        "first_call_ns": max(0, first_ns - (compile_ns - compiled_before_ns)),
    }


def _ranks():
    """torch.distributed, where this process is one of several ranks."""
    ranks = torch.distributed
    if ranks.is_available() and ranks.is_initialized() and ranks.get_world_size() > 1:
        return ranks
    return None


def _rank():
    ranks = _ranks()
    return ranks.get_rank() if ranks else 0


def _as_rank_0(answer, device):
    """What rank 0 answers: a rank that went on alone would wait for the others for ever."""
    ranks = _ranks()
    if not ranks:
        return answer
    flag = torch.tensor(int(answer), device=device)
    ranks.broadcast(flag, 0)
    return bool(flag.item())


def _why_no_dispatch(on_gpu, synchronizes_inside):
    if synchronizes_inside:
        return "the workload synchronises inside"
    return "" if on_gpu else "the call returns when the work is done, so there is no dispatch apart"


# The timed window leaves a GPU with its clock lowered by the power limit, by more or less, so that
# kernels bound by compute took 0 to 13 % longer in the traced window right after it (H200).
_SETTLE_S = 0.3


def _trace(step, settings, device, synchronize):
    """The traced window; the device is waited for outside the marks. Once a process."""
    from torch.profiler import ProfilerActivity, profile, record_function

    activities = [ProfilerActivity.CPU]
    if str(device).startswith("cuda"):
        activities.append(ProfilerActivity.CUDA)
    else:  # Kineto asks for GPUs even so, and calls it an error that there is no driver
        os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    with profile(activities=activities, record_shapes=True, profile_memory=True) as profiler:
        profiler.add_metadata("perfgate_writer", "perfgate.py")
        profiler.add_metadata_json("perfgate_environment", json.dumps(_environment(device)))
        if ProfilerActivity.CUDA in activities:
            time.sleep(_SETTLE_S)
        else:  # a CPU counts as freed only what the profiler saw allocated, such as the last step's gradients
            step()
        for index in range(settings.traced_iterations):
            with record_function(f"ProfilerStep#{index}"):
                result = step()
            synchronize()
            del result
    name = f"trace-rank{_rank()}.json" if _ranks() else "trace.json"
    profiler.export_chrome_trace(str(settings.folder / name))


def _tensors(value, name):
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, element in value.items():
            yield from _tensors(element, f"{name}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, element in enumerate(value):
            yield from _tensors(element, f"{name}-{index}")


_DTYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16", torch.float64: "fp64",
           torch.float8_e4m3fn: "fp8_e4m3", torch.float8_e5m2: "fp8_e5m2"}
_SAVE_AT_MOST_ELEMENTS = 64 << 20  # of all outputs together: 256 MiB


def _stride(elements, outputs):
    """Every how many-th element is saved: all of up to 4 Mi, fewer where there are more than 16 outputs.

    It depends on these numbers alone, so that a case and its reference save the same elements, and it
    shares no factor with `elements`, so that no row or column is left out.
    """
    most = max(1, _SAVE_AT_MOST_ELEMENTS // max(outputs, 16))
    stride = max(1, -(-elements // most))
    while math.gcd(stride, elements) > 1:
        stride += 1
    return stride


def _save(name, tensor, folder, outputs):
    """Statistics over the finite elements, and elements as little-endian float32 in a file.

    A complex tensor is one of twice as many real numbers.
    """
    tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    values = tensor.detach().to("cpu", torch.float32).contiguous().flatten()
    finite = values[torch.isfinite(values)].double()
    stride = _stride(values.numel(), outputs)
    saved = values[::stride].contiguous()
    file = urllib.parse.quote(name, safe="") + ".f32"  # two names never become one
    _write(folder / file, ctypes.string_at(saved.data_ptr(), saved.numel() * 4))  # without NumPy
    return {
        "name": name,
        "shape": list(tensor.shape),
        "dtype": _DTYPES.get(tensor.dtype, str(tensor.dtype).removeprefix("torch.")),
        "mean": finite.mean().item() if finite.numel() else 0,
        "min": finite.min().item() if finite.numel() else 0,
        "max": finite.max().item() if finite.numel() else 0,
        "nan_count": int(torch.isnan(values).sum()),
        "inf_count": int(torch.isinf(values).sum()),
        "file": file,
        "stride": stride,
    }


def _environment(device):
    found = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cpu_isa": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        "device": str(device),
        "python": sys.version.split()[0],
        "writer": "perfgate.py",
    }
    if str(device).startswith("cuda"):
        properties = torch.cuda.get_device_properties(device)
        found["gpu"] = properties.name
        if uuid := str(getattr(properties, "uuid", "")):
            found["gpu_uuid"] = "GPU-" + uuid.removeprefix("GPU-")  # as nvidia-smi says it
        found["cudnn"] = str(torch.backends.cudnn.version())
    if _ranks():
        found["world_size"] = str(_ranks().get_world_size())
    try:
        found["triton"] = importlib.metadata.version("triton")  # installed, used or not
    except importlib.metadata.PackageNotFoundError:
        pass
    dynamo = sys.modules.get("torch._dynamo.utils")  # loaded before anything is compiled
    if dynamo:
        found["graph_breaks"] = str(sum(dynamo.counters["graph_break"].values()))
        compilations = dynamo.get_compilation_metrics()
        found["recompiles"] = str(sum(1 for each in compilations if each.recompile_reason))
    return {key: value for key, value in found.items() if value}


def _write(path, data):
    """Atomically: readers see the whole file or none."""
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
