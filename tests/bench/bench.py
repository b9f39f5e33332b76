#!/usr/bin/env python3
"""Figures of perfgate on this machine: reading speed and memory beside RapidJSON and
HolisticTraceAnalysis, start-up time, judging speed. Prints a Markdown table a section. Called by
ci/bench.

usage: bench.py --perfgate BUILD/perfgate --judge-bench BUILD/judge_bench
                --trace-bench BUILD/trace_bench --work DIR
                [--hta-python VENV/bin/python] [--bytes 10MB,100MB,1GB] [--rounds N]
"""
import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import start_up

HERE = pathlib.Path(__file__).parent
# What the large traces are made of: small steps and large ones, eager and training.
SOURCES = [HERE.parent / "data/traces" / f"{name}.json.gz"
           for name in ("llama4_prefill_eager", "geglu_eager", "train_adamw_loop")]
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}

HTA_PROGRAM = """
import os, sys, time
from hta.common.trace_parser import parse_trace_dataframe
from hta.configs.parser_config import ParserConfig
from hta.trace_analysis import TraceAnalysis
path = sys.argv[1]
config = ParserConfig.get_default_cfg()
start = time.perf_counter()
parse_trace_dataframe(path, config)
print(time.perf_counter() - start)
start = time.perf_counter()
TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
print(time.perf_counter() - start)
"""

# Linux counts what a program holds as it starts another as a peak of the other one, so that a small one
# starts what is measured.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
seconds = time.perf_counter() - start
os.write(int(sys.argv[1]), b"%f %d %d" % (seconds, usage.ru_maxrss * 1024, status))
"""


def parse_size(text):
    return int(float(text[:-2]) * UNITS[text[-2:]])


def run(argv, **options):
    """(seconds, peak resident bytes, stdout) of a command that must succeed."""
    reads, writes = os.pipe()
    process = subprocess.Popen([sys.executable, "-ISc", LAUNCHER, str(writes), *argv],
                               stdout=subprocess.PIPE, pass_fds=[writes], **options)
    os.close(writes)
    out = process.stdout.read()
    process.wait()
    with open(reads, encoding="utf-8") as measured:
        seconds, peak_bytes, status = measured.read().split()
    if status != "0":
        sys.exit(f"{' '.join(map(str, argv))} failed with status {status}")
    return float(seconds), int(peak_bytes), out.decode()


def make_trace(path, size, *options):
    if not path.exists():
        run([sys.executable, HERE / "make_trace.py", "--bytes", str(size), *options, path, *SOURCES],
            stderr=subprocess.DEVNULL)
    return path


def packed(raw):
    path = raw.with_suffix(".json.gz")
    if not path.exists():
        subprocess.run(["gzip", "-6", "-k", raw], check=True)
    return path


def record_bytes(perfgate, path):
    """The bytes of records kept, ties between them included, as `inspect --explain` prints them."""
    _, _, out = run([perfgate, "inspect", path, "--explain"])
    match = re.search(r"([0-9]+) bytes of records in memory", out)
    if not match:
        sys.exit("inspect --explain does not print the bytes of records")
    return int(match[1])


def reading(args, work):
    print("## Reading alone: the same records by each reader, in interleaved rounds\n")
    text = args.bytes.split(",")[-1]
    raw = make_trace(work / f"trace-{text}.json", parse_size(text))
    lines = make_trace(work / f"trace-{text}-line-a-field.json", parse_size(text), "--line-a-field")
    for path in (raw, packed(raw), lines):
        print(run([args.trace_bench, str(args.rounds), path])[2], end="", flush=True)


def inspecting(args, work):
    print("## `perfgate inspect FILE --format json`, the whole process\n")
    print("| file | bytes | seconds (best of 3) | MB/s of JSON | peak resident MiB | records MiB "
          "| beside records MiB |")
    print("|---|---|---|---|---|---|---|")
    for text in args.bytes.split(","):
        raw = make_trace(work / f"trace-{text}.json", parse_size(text))
        size = raw.stat().st_size
        records = record_bytes(args.perfgate, raw)
        for path in (raw, packed(raw)):
            runs = [run([args.perfgate, "inspect", path, "--format", "json"]) for _ in range(3)]
            seconds = min(r[0] for r in runs)
            peak = max(r[1] for r in runs)
            print(f"| {path.name} | {path.stat().st_size} | {seconds:.2f} | "
                  f"{size / seconds / 1e6:.0f} | {peak / 2**20:.0f} | {records / 2**20:.0f} | "
                  f"{(peak - records) / 2**20:.0f} |", flush=True)
    print()


def beside_hta(args, work):
    if not args.hta_python:
        return
    text = "100MB"
    raw = make_trace(work / f"trace-{text}.json", parse_size(text))
    size = raw.stat().st_size
    ours = min(run([args.perfgate, "inspect", raw, "--format", "json"])[0] for _ in range(3))
    _, peak, out = run([args.hta_python, "-c", HTA_PROGRAM, raw], stderr=subprocess.DEVNULL)
    parsing, loading = (float(seconds) for seconds in out.split()[-2:])
    print(f"## The same {text} file, in this run, beside HolisticTraceAnalysis\n")
    print("| reader | seconds | MB/s | peak resident MiB |")
    print("|---|---|---|---|")
    print(f"| perfgate inspect, whole process | {ours:.2f} | {size / ours / 1e6:.0f} | |")
    for name, seconds in (("parse_trace_dataframe alone", parsing),
                          ("TraceAnalysis(), which parses and links", loading)):
        print(f"| HolisticTraceAnalysis, {name}, without imports | {seconds:.2f} | "
              f"{size / seconds / 1e6:.1f} | {peak / 2**20:.0f} |")
    print(f"\nperfgate is {parsing / ours:.0f} times as fast as the parser alone, "
          f"{loading / ours:.0f} times as fast as the whole.\n")


def judging(args):
    out = run([args.judge_bench, "--benchmark_format=json"], stderr=subprocess.DEVNULL)[2]
    print("## Judging\n")
    print("| benchmark | real time |")
    print("|---|---|")
    for row in json.loads(out)["benchmarks"]:
        print(f"| {row['name']} | {row['real_time']:.1f} {row['time_unit']} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--perfgate", required=True)
    parser.add_argument("--judge-bench", required=True)
    parser.add_argument("--trace-bench", required=True)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--hta-python")
    parser.add_argument("--bytes", default="10MB,100MB,1GB")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    print(f"# perfgate on {platform.machine()}, {os.cpu_count()} cores, "
          f"{time.strftime('%Y-%m-%d', time.gmtime())}\n")
    start_up.print_table([args.perfgate], 201)
    judging(args)
    reading(args, args.work)
    inspecting(args, args.work)
    beside_hta(args, args.work)


if __name__ == "__main__":
    main()
