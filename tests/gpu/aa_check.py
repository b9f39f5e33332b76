"""Does the gate keep still where nothing changed, and does it see what was planted? On a real GPU.

usage: aa_check.py BUILD OUT [--processes N] [--first N] [--seconds S] [--gpus N]
       aa_check.py BUILD OUT --judge          judges again what OUT/recordings holds; needs no GPU

Records fresh processes of five workloads in turns, then judges each against the one before it, by all
packs of rules: nothing may be found. Each defect that perfgate-torch can plant must be found in every
process that has one, and a GEMM that is 2 % larger by a rule on gpu_time of +1 %.

Processes are numbered; only those that follow each other are compared, so a later recording into the
same OUT, perhaps on another GPU, begins with a --first beyond a gap.
With several GPUs each workload stays on one of them. Writes OUT/aa.json and OUT/aa.md; a trace for each
process stays in OUT/recordings/SUBJECT/NUMBER.json.gz, with what it timed in NUMBER.samples.json.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from products import SMALL, write_products
from torch_attempt import Checks, run_attempt, write

TRAIN = ["--set", "train=true", "--set", "optimizer=adamw"]
WORKLOADS = {  # A against A
    "linear": ["--module", "linear", "--input-shape", "1024,32"],
    "geglu_small": ["--module", "geglu", "--input-shape", "64,768"],
    "geglu_large": ["--module", "geglu", "--input-shape", "8192,768"],
    "block_train": ["--module", "transformer_block", "--input-shape", "8,128,768", *TRAIN],
    "moe": ["--module", "moe", "--set", "dispatch=grouped", "--input-shape", "64,768"],
}
PLANTS = {  # defect: where it can be put
    "clone": ["linear", "geglu_small", "geglu_large", "block_train", "moe"],
    "cast": ["linear", "geglu_small", "geglu_large", "block_train", "moe"],
    "narrow": ["linear", "geglu_small", "geglu_large", "block_train", "moe"],
    "sync": ["linear", "geglu_small", "geglu_large", "block_train", "moe"],
    "split_activation": ["geglu_small", "geglu_large", "block_train", "moe"],
}
PLANTED_PROCESSES = 5
SIZES = {"gemm": 4096, "gemm_larger": 4176}  # the product's inner size: 2 % more work
SIZED_PROCESSES = 21

PACKS = "[perfgate:structure, perfgate:fusion, perfgate:precision, perfgate:gpu-time]"
NEAR = """version: 1
rules:
  - id: gpu-time-near
    why: The same kernels take the same time.
    metric: gpu_time
    change: {at_most: +1%}
"""


def subjects():
    """{name: (arguments, defect, processes)} of all that is recorded beside the workloads themselves."""
    planted = {f"{workload}+{defect}": (WORKLOADS[workload], defect, PLANTED_PROCESSES)
               for defect, places in PLANTS.items() for workload in places}
    sized = {name: (["--script", name, "--input-shape", SMALL], "", SIZED_PROCESSES) for name in SIZES}
    return {**planted, **sized}


def record(build, folder, words, defect, number, gpu):
    """One process. Returns what it said if it failed, else None."""
    with tempfile.TemporaryDirectory() as attempt:
        attempt = pathlib.Path(attempt)
        done = run_attempt(build, attempt, [*words, "--input-dtype", "bf16"], PERFGATE_PLANT=defect,
                           PERFGATE_DEVICE=f"cuda:{gpu}")
        if done.returncode != 0:
            return done.stderr[-600:]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(attempt / "samples.json", folder / f"{number}.samples.json")
        with open(attempt / "trace.json", "rb") as trace, \
                gzip.GzipFile(folder / f"{number}.json.gz", "wb", mtime=0) as packed:
            shutil.copyfileobj(trace, packed)
    return None


def rounds(names, processes):
    """(name, arguments, defect, number) in turns, so that what drifts, drifts for all."""
    todo = {name: (WORKLOADS[name], "", processes) for name in names if name in WORKLOADS}
    todo |= {name: subject for name, subject in subjects().items() if name.split("+")[0] in names}
    for number in range(max(count for _, _, count in todo.values())):
        for name, (words, defect, count) in todo.items():
            if number < count:
                yield name, words, defect, number


def record_all(checks, arguments):
    """Each GPU records its workloads, one process at a time; the clock ends it where they are too many."""
    names = [*WORKLOADS, *SIZES]
    shares = [names[gpu::arguments.gpus] for gpu in range(arguments.gpus)]
    end = time.monotonic() + arguments.seconds

    def share(gpu):
        # The two sizes are compared with each other, so they need the same GPU.
        mine = [name for name in shares[gpu] if name not in SIZES]
        mine += list(SIZES) if gpu == arguments.gpus - 1 else []
        faults = []
        for name, words, defect, number in rounds(mine, arguments.processes):
            if time.monotonic() > end:
                break
            fault = record(arguments.build, arguments.out / "recordings" / name, words, defect,
                           arguments.first + number, gpu)
            if fault:
                faults.append(f"{name} {number}: {fault}")
        return faults

    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(arguments.gpus) as pool:
        os.chdir(folder)
        write_products(SIZES, 2048)
        faults = [fault for found in pool.map(share, range(arguments.gpus)) for fault in found]
        os.chdir(arguments.out)
    checks.expect("every process could be recorded", faults, [])


class Gate:
    """A suite of one trace, with a baseline, in a folder of its own."""

    def __init__(self, build, folder, rules):
        self.build, self.folder = build, pathlib.Path(folder)
        (self.folder / "rules.yaml").write_text(NEAR)
        (self.folder / "perfgate.yaml").write_text(
            f"version: 1\nsuite: aa\nno_baseline: warn\nbaselines: baselines\nrules: {rules}\n"
            "workloads:\n  - name: case\n    trace: trace.json.gz\n")

    def _call(self, *words):
        return subprocess.run([self.build / "perfgate", *words], cwd=self.folder, text=True,
                              capture_output=True, check=False)

    def _run(self, trace):
        shutil.copy(trace, self.folder / "trace.json.gz")
        return self._call("run", "--format", "json")

    def accept(self, trace):
        """The trace alone is what a later one is judged against."""
        shutil.rmtree(self.folder / "baselines", ignore_errors=True)
        self._run(trace)
        accepted = self._call("baseline", "accept", "--reason", "A")
        if accepted.returncode != 0:
            raise RuntimeError(f"{trace}: {accepted.stderr}")

    def judge(self, trace):
        """(exit code, rules that failed, what was said) of this trace against the baseline."""
        done = self._run(trace)
        failed = [] if done.returncode > 1 else sorted(
            {finding["rule"] for case in json.loads(done.stdout)["cases"]
             for finding in case["findings"] if finding["status"] == "fail"})
        return done.returncode, failed, done.stderr[-300:]


def number_of(path):
    return int(path.name.split(".")[0])


def traces_of(out, name):
    return sorted((out / "recordings" / name).glob("*.json.gz"), key=number_of)


def followers(traces):
    """Each with the next, where they were recorded in one go."""
    return [(base, head) for base, head in zip(traces, traces[1:]) if number_of(head) == number_of(base) + 1]


def compare(arguments, rules, pairs):
    """(base, head, exit code, rules that failed, text) for each pair of traces."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(arguments.build, folder, rules)
        for base, head in pairs:
            gate.accept(base)
            found.append((base, head, *gate.judge(head)))
    return found


def gpu_times_us(build, trace):
    shown = subprocess.run([build / "perfgate", "inspect", trace, "--format", "json"], text=True,
                           capture_output=True, check=True)
    return json.loads(shown.stdout)["metrics"]["gpu_time"]["value"] / 1e3


def judge_same(checks, arguments):
    rows = []
    for name in WORKLOADS:
        traces = traces_of(arguments.out, name)
        found = compare(arguments, PACKS, followers(traces))
        times = [gpu_times_us(arguments.build, trace) for trace in traces]
        for base, head, code, failed, text in found:
            if code != 0:
                checks.that(f"{name}: {head.name} against {base.name}", False, (code, failed, text))
        checks.that(f"{name}: A against A is green", found and all(row[2] == 0 for row in found), len(found))
        rows.append({"workload": name, "processes": len(traces), "comparisons": len(found),
                     "not_green": sum(row[2] != 0 for row in found), "gpu_time_us": times})
    return rows


def judge_planted(checks, arguments):
    rows = []
    for defect, places in PLANTS.items():
        for workload in places:
            bases = traces_of(arguments.out, workload)
            heads = traces_of(arguments.out, f"{workload}+{defect}")
            found = compare(arguments, PACKS, list(zip(bases, heads)))
            checks.that(f"{workload} with {defect}: found in every process",
                        found and all(row[2] == 1 for row in found), [row[2:] for row in found])
            rows.append({"workload": workload, "defect": defect, "processes": len(found),
                         "found": sum(row[2] == 1 for row in found),
                         "by": sorted({rule for row in found for rule in row[3]})})
    return rows


def judge_sizes(checks, arguments):
    small, large = (traces_of(arguments.out, name) for name in SIZES)
    row = {"gpu_time_us": {name: [gpu_times_us(arguments.build, trace) for trace in traces]
                           for name, traces in zip(SIZES, (small, large))}}
    for what, wanted, pairs in [("the same size", 0, followers(small)),
                                ("2 % larger", 1, zip(small, large))]:
        found = compare(arguments, "[rules.yaml]", list(pairs))
        row[what] = {"comparisons": len(found), "found": sum(entry[2] == 1 for entry in found)}
        checks.that(f"a GEMM of {what}: exit code {wanted} in every comparison, gpu_time at +1 %",
                    found and all(entry[2] == wanted for entry in found), [entry[2:] for entry in found])
    return row


def table_of(same, planted, sizes):
    def spread(times):
        return f"{min(times):.2f} to {max(times):.2f}" if times else "-"

    lines = ["| A against A | processes | comparisons | not green | gpu_time, us |", "|---|---|---|---|---|"]
    lines += [f"| {row['workload']} | {row['processes']} | {row['comparisons']} | {row['not_green']} | "
              f"{spread(row['gpu_time_us'])} |" for row in same]
    lines += ["", "| planted | in | found | by |", "|---|---|---|---|"]
    lines += [f"| {row['defect']} | {row['workload']} | {row['found']} of {row['processes']} | "
              f"{', '.join(row['by'])} |" for row in planted]
    lines += ["", "| GEMM | comparisons | found by +1 % | gpu_time, us |", "|---|---|---|---|"]
    lines += [f"| {what} | {sizes[what]['comparisons']} | {sizes[what]['found']} | "
              f"{spread(sizes['gpu_time_us'][name])} |"
              for what, name in [("the same size", "gemm"), ("2 % larger", "gemm_larger")]]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=41, help="of each workload")
    parser.add_argument("--first", type=int, default=0, help="the number of the first process")
    parser.add_argument("--seconds", type=float, default=3600, help="recording ends then")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--judge", action="store_true")
    arguments = parser.parse_args()
    arguments.build, arguments.out = arguments.build.resolve(), arguments.out.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    if not arguments.judge:
        record_all(checks, arguments)
    same, planted = judge_same(checks, arguments), judge_planted(checks, arguments)
    sizes = judge_sizes(checks, arguments)
    return write(arguments.out, "aa", checks, table_of(same, planted, sizes), same=same, planted=planted,
                 sizes=sizes)


if __name__ == "__main__":
    sys.exit(main())
