"""Records what fresh processes time on a real machine, for the tests of the statistics of time.

usage: time_record.py BUILD FILE [--rounds N] [--seconds S] [--gpus N] [--seed N]
       time_record.py --medians FILES... > tests/data/time/MACHINE_processes.txt

Two workloads on a GPU, one bound by launches and one by the GPU, or with --gpus 0 one on the CPU. A round is
a process of each series in random order: `base`, `same` (the same again), `slower` (5 % more: the host is
busy for as long, or the product is as much larger) and on the CPU `much_slower` (15 %). Appends to FILE,
JSON lines: the run, then every process with its samples in nanoseconds. Several runs make one file.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from products import LARGE, write_products
from torch_attempt import run_attempt

LAUNCHES = ["--module", "geglu", "--input-shape", "64,768", "--input-dtype", "bf16"]
ON_CPU = ["--module", "linear", "--input-shape", "256,256", "--set", "in_features=256", "--set",
          "out_features=256", "--input-dtype", "fp32"]
SIZES = {"product": 4096, "product_slower": 4304}
ITERATIONS = 200
GPU_STATE = ("sm_clock", "power", "temperature", "throttle")
KEPT = ("latency_ns", "dispatch_ns", "device_latency_ns")


def samples_of(build, words, device, plant=""):
    """What one process timed; raises RuntimeError with what it said."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        done = run_attempt(build, folder, words, PERFGATE_PHASE="timed", PERFGATE_PLANT=plant,
                           PERFGATE_ITERATIONS=str(ITERATIONS), PERFGATE_DEVICE=device)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-600:])
        return json.loads((folder / "samples.json").read_text())


def delayed(build, words, device, parts):
    """{series: (arguments, defect)}; the delays are parts of what the workload takes here."""
    times = [statistics.median(samples_of(build, words, device)["latency_ns"]) for _ in range(3)]
    planted = {name: (words, f"delay_{round(statistics.median(times) * part)}ns")
               for name, part in parts.items()}
    return {"base": (words, ""), "same": (words, ""), **planted}


def subjects(build, gpus):
    """{workload: {series: (arguments, defect)}}"""
    if gpus == 0:
        return {"cpu_bound": delayed(build, ON_CPU, "cpu", {"slower": 0.05, "much_slower": 0.15})}
    product, slower = [(["--script", name, "--input-shape", LARGE, "--input-dtype", "bf16"], "")
                       for name in SIZES]
    return {"launch_bound": delayed(build, LAUNCHES, "cuda:0", {"slower": 0.05}),
            "gpu_bound": {"base": product, "same": product, "slower": slower}}


def machine(gpus):
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    host = {"cpu": model[0] if model else platform.machine(), "cores": os.cpu_count()}
    if gpus == 0:
        return host
    gpu, driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                 text=True, capture_output=True, check=True).stdout.splitlines()[0].split(", ")
    return {"gpu": gpu, "driver": driver, **host}


class Recording:
    """Lines of JSON, appended as they come."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def add(self, line):
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(text)


def record(arguments, workload, series, device, recording):
    """Rounds of one workload until their number or the time is reached."""
    order = random.Random(f"{arguments.seed} {workload}")
    end = time.monotonic() + arguments.seconds
    for number in range(arguments.rounds):
        for name in order.sample(list(series), len(series)):
            if time.monotonic() > end:
                return
            words, plant = series[name]
            samples = samples_of(arguments.build, words, device, plant)
            recording.add({"workload": workload, "series": name, "round": number, "device": device,
                           **{kept: samples[kept] for kept in KEPT if kept in samples},
                           "gpu": {key: value for key, value in samples["environment"].items()
                                   if key.startswith(GPU_STATE)}})


def print_medians(files):
    """Of each process of the rounds that are whole; runs are numbered over all files."""
    run, rows = 0, {}
    for path in files:
        for line in map(json.loads, path.read_text().splitlines()):
            if "run" in line:
                run += 1
                print(f"# run {run}:", json.dumps(line["run"]))
                continue
            values = [round(statistics.median(line[kept])) for kept in KEPT if line.get(kept)]
            rows.setdefault((line["workload"], run, line["round"]), {})[line["series"]] = values
    for workload in sorted({key[0] for key in rows}):
        wanted = set().union(*(found for key, found in rows.items() if key[0] == workload))
        for key, found in rows.items():
            if key[0] != workload or set(found) != wanted:
                continue
            for series in sorted(wanted):
                print(*key, series, *found[series])


def main():
    if sys.argv[1:2] == ["--medians"]:
        return print_medians([pathlib.Path(name) for name in sys.argv[2:]])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=3600, help="a workload's recording ends then")
    parser.add_argument("--gpus", type=int, choices=[0, 1, 2], default=1,
                        help="2: a workload on each; 0: one on the CPU")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    recording = Recording(arguments.file.resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if arguments.gpus > 0:
            write_products(SIZES, 4096)
        all_series = subjects(arguments.build, arguments.gpus)
        planted = {name: {series: plant for series, (_, plant) in found.items() if plant}
                   for name, found in all_series.items()}
        recording.add({"run": {**machine(arguments.gpus), "date": time.strftime("%Y-%m-%d", time.gmtime()),
                               "seed": arguments.seed, "planted": planted, "sizes": SIZES,
                               "iterations": ITERATIONS}})
        devices = [f"cuda:{gpu}" for gpu in range(arguments.gpus)] or ["cpu"]
        with concurrent.futures.ThreadPoolExecutor(len(devices)) as pool:
            done = [pool.submit(record, arguments, workload, series, devices[index % len(devices)], recording)
                    for index, (workload, series) in enumerate(all_series.items())]
            for future in done:
                future.result()


if __name__ == "__main__":
    sys.exit(main())
