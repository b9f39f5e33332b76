#!/usr/bin/env python3
"""What a comparison in pairs costs: how many pairs of processes a case takes that is screened, and what
`perfgate run --against` takes beyond the processes themselves, for a workload of 1 ms.

usage: run_cost.py PERFGATE [--runs N]
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """#include <perfgate/attempt.h>
#include <perfgate/spans.h>
#include <chrono>
namespace attempt = perfgate::attempt;
int main() {
  attempt::Spans spans;
  attempt::Workload workload;
  workload.tracer = spans.AsTracer();
  workload.iterate = [&] {
    const attempt::Spans::Scope scope(spans, "model::step");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < end) {}
  };
  const attempt::Settings settings = attempt::ReadSettings();
  attempt::Finish(settings, attempt::Measure(settings, workload));
}
"""
SUITE = """version: 1
suite: cost
no_baseline: warn
rules: [rules.yaml]
defaults: {device: cpu, warmup: {iterations: 5}, timed: {iterations: 200}}
workloads:
  - name: millisecond
    command: [./step]
"""
RULES = """version: 1
rules:
  - id: p50
    metric: latency.p50
    regression: {tolerance: 5%}
"""


def measure(perfgate, folder):
    """(processes, milliseconds of the whole command beyond them, of each)"""
    start = time.perf_counter()
    done = subprocess.run([perfgate, "run", "--against", ".", "--out", "out", "--db", "db"], cwd=folder,
                          capture_output=True, text=True, check=False)
    passed_ms = (time.perf_counter() - start) * 1e3
    if done.returncode not in (0, 4):  # 4: what else the machine did left it undecided
        sys.exit(f"run_cost: perfgate ended with {done.returncode}\n{done.stdout}{done.stderr}")
    record = json.loads((folder / "out" / "run.json").read_text())
    children_ms = sum(attempt["wall_ns"] for attempt in record["attempts"]) / 1e6
    return len(record["attempts"]), (passed_ms - children_ms) / len(record["attempts"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfgate", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, text in [("step.cc", PROGRAM), ("perfgate.yaml", SUITE), ("rules.yaml", RULES)]:
            (folder / name).write_text(text)
        subprocess.run(["c++", "-std=c++17", "-O2", f"-I{REPOSITORY / 'include'}", "-o", "step", "step.cc"],
                       cwd=folder, check=True)
        found = [measure(arguments.perfgate.resolve(), folder) for _ in range(arguments.runs)]
    processes, beyond = [row[0] for row in found], [row[1] for row in found]
    print(f"## A case in pairs: a workload of 1 ms, 200 iterations, {arguments.runs} runs\n")
    print("| processes of a run: median | most | beyond a process: median ms | most |")
    print("|---|---|---|---|")
    print(f"| {statistics.median(processes):g} | {max(processes)} | {statistics.median(beyond):.1f} "
          f"| {max(beyond):.1f} |\n")


if __name__ == "__main__":
    main()
