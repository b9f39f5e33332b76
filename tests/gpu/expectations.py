"""What recorded traces hold, counted without perfgate: the golden of its tests on them.

usage: expectations.py TRACES FILE

Reads TRACES/*.json.gz and writes FILE, a JSON object: for each trace its number of steps and, of one
step, the copies, fills, launches and graph launches, and how often each kernel ran. A trace whose steps
differ is refused. Names of kernels stand once, in `kernels`; traces say their place in that list.
"""
import argparse
import collections
import gzip
import json
import pathlib
import sys

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
KERNEL_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx")


def steps_of(events):
    """[(start, end)] of the marked steps, in order."""
    return sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                  if event.get("cat") == "user_annotation" and event["name"].startswith("ProfilerStep#"))


def work_of_steps(events):
    """A counter of (category, name) for each step: work and calls of the host that began in it; work on
    the GPU belongs to the step of the call that launched it."""
    marks = steps_of(events)
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") in ("cuda_runtime", "cuda_driver")}
    steps = [collections.Counter() for _ in marks]

    def count(at, key):
        for step, (start, end) in zip(steps, marks):
            if start <= at < end:
                step[key] += 1

    for call in calls.values():
        count(call["ts"], ("call", call["name"]))
    for event in events:
        call = calls.get(event["args"]["correlation"]) if event.get("cat") in WORK else None
        if call:  # what was launched before the window has none
            count(call["ts"], (event["cat"], event["name"]))
    return steps


def summary(events, numbers):
    steps = work_of_steps(events)
    if not steps or any(step != steps[0] for step in steps):
        raise ValueError("its steps differ, or it has none")

    def count(category, names=None):
        return sum(times for (kind, name), times in steps[0].items()
                   if kind == category and (names is None or name in names))

    kernels = {numbers.setdefault(name, len(numbers)): times
               for (kind, name), times in sorted(steps[0].items()) if kind == "kernel"}
    return {"steps": len(steps), "kernels": dict(sorted(kernels.items())), "copies": count("gpu_memcpy"),
            "fills": count("gpu_memset"), "launches": count("call", KERNEL_LAUNCHES),
            "graph_launches": count("call", ("cudaGraphLaunch",))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    traces, numbers = {}, {}
    for path in sorted(arguments.traces.glob("*.json.gz")):
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        try:
            traces[path.name.removesuffix(".json.gz")] = summary(events, numbers)
        except ValueError as error:
            sys.exit(f"{path.name}: {error}")
    lines = [" " + json.dumps(name) + ": " + json.dumps(facts) for name, facts in traces.items()]
    arguments.file.write_text('{"kernels": ' + json.dumps(list(numbers), indent=1) + ',\n"traces": {\n'
                              + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
