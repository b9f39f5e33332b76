"""Records what fresh processes time on a real GPU, for the tests of the statistics of time.

usage: time_record.py BUILD FILE [--rounds N] [--seconds S] [--gpus N] [--seed N]

Two workloads, one bound by launches and one by the GPU, three processes of each in a round, in random
order: `base`, `same` (the same again) and `slower` (5 % more: the host is busy for as long, or the product
is as much larger). Appends to FILE, JSON lines: the run, then every process with its samples in
nanoseconds. Several runs make one file.
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

LAUNCHES = ["--module", "geglu", "--input-shape", "64,768"]
SIZES = {"product": 4096, "product_slower": 4304}
ITERATIONS = 200
SERIES = ["base", "same", "slower"]
GPU_STATE = ("sm_clock", "power", "temperature", "throttle")
KEPT = ("latency_ns", "dispatch_ns", "device_latency_ns")


def samples_of(build, words, gpu, plant=""):
    """What one process timed; raises RuntimeError with what it said."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        done = run_attempt(build, folder, [*words, "--input-dtype", "bf16"], PERFGATE_PHASE="timed",
                           PERFGATE_ITERATIONS=str(ITERATIONS), PERFGATE_PLANT=plant,
                           PERFGATE_DEVICE=f"cuda:{gpu}")
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-600:])
        return json.loads((folder / "samples.json").read_text())


def subjects(build):
    """{workload: {series: (arguments, defect)}}; the delay is 5 % of what the workload takes here."""
    times = [statistics.median(samples_of(build, LAUNCHES, 0)["latency_ns"]) for _ in range(3)]
    delay = f"delay_{round(statistics.median(times) * 0.05)}ns"
    product = {name: (["--script", name, "--input-shape", LARGE], "") for name in SIZES}
    return {"launch_bound": {"base": (LAUNCHES, ""), "same": (LAUNCHES, ""), "slower": (LAUNCHES, delay)},
            "gpu_bound": {"base": product["product"], "same": product["product"],
                          "slower": product["product_slower"]}}


def machine():
    gpu, driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                 text=True, capture_output=True, check=True).stdout.splitlines()[0].split(", ")
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"gpu": gpu, "driver": driver, "cpu": model[0] if model else platform.machine(),
            "cores": os.cpu_count()}


class Recording:
    """Lines of JSON, appended as they come."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def add(self, line):
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(text)


def record(arguments, workload, series, gpu, recording):
    """Rounds of one workload until their number or the time is reached."""
    order = random.Random(f"{arguments.seed} {workload}")
    end = time.monotonic() + arguments.seconds
    for number in range(arguments.rounds):
        for name in order.sample(SERIES, len(SERIES)):
            if time.monotonic() > end:
                return
            words, plant = series[name]
            samples = samples_of(arguments.build, words, gpu, plant)
            recording.add({"workload": workload, "series": name, "round": number, "gpu_index": gpu,
                           **{kept: samples[kept] for kept in KEPT},
                           "gpu": {key: value for key, value in samples["environment"].items()
                                   if key.startswith(GPU_STATE)}})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=3600, help="a workload's recording ends then")
    parser.add_argument("--gpus", type=int, choices=[1, 2], default=1, help="2: a workload on each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    recording = Recording(arguments.file.resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_products(SIZES, 4096)
        all_series = subjects(arguments.build)
        recording.add({"run": {**machine(), "date": time.strftime("%Y-%m-%d", time.gmtime()),
                               "seed": arguments.seed, "delay": all_series["launch_bound"]["slower"][1],
                               "sizes": SIZES, "iterations": ITERATIONS}})
        workers = 1 if arguments.gpus == 1 else len(all_series)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            done = [pool.submit(record, arguments, workload, series, index % arguments.gpus, recording)
                    for index, (workload, series) in enumerate(all_series.items())]
            for future in done:
                future.result()


if __name__ == "__main__":
    sys.exit(main())
