#!/usr/bin/env python3
"""How long `perfgate --version` takes, with the loading of libraries. Several programs take turns, so that
what else the machine does meets all of them. Called by bench.py, and by hand to compare two builds.

usage: start_up.py [--runs N] PERFGATE...
"""
import argparse
import pathlib
import statistics
import subprocess
import time


def start_ms(program):
    start = time.perf_counter()
    subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def loaded_libraries(program):
    return len(subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines())


def print_table(programs, runs):
    """Medians and quartiles, in milliseconds."""
    times = {program: [] for program in programs}
    for _ in range(runs):
        for program in programs:
            times[program].append(start_ms(program))
    print(f"## Start-up: `perfgate --version`, {runs} runs each\n")
    print("| program | libraries | median ms | quarter of the runs below | above | best |")
    print("|---|---|---|---|---|---|")
    for program in programs:
        low, median, high = statistics.quantiles(times[program], n=4)
        print(f"| {program} | {loaded_libraries(program)} | {median:.1f} | {low:.1f} | {high:.1f} "
              f"| {min(times[program]):.1f} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", metavar="PERFGATE", type=pathlib.Path)
    parser.add_argument("--runs", default=201, type=int)
    args = parser.parse_args()
    print_table(args.programs, args.runs)


if __name__ == "__main__":
    main()
