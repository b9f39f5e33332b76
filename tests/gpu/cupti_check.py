"""The collector on a real GPU: the same counts as torch.profiler, whole files however a program ends,
and what it costs. Needs torch and what the build left under BUILD. Exits 1 if any check fails, 3 if
none does but the host was too noisy for one of the cost.

usage: cupti_check.py BUILD OUT [--rounds N] [--seconds S] [--only counts|endings|cost]

Writes OUT/cupti.json (every number), OUT/cupti.md (tables), and the traces of the first part. The
cost takes N rounds, or as many as S seconds have room for.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import cost_table

HERE = pathlib.Path(__file__).parent
GPU_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
MODES = ["eager", "graph", "compile", "reduce-overhead"]
# Of one step of cupti_steps.cu, whose graph launches two Scale and a fill.
PLAIN_STEP = {"(anonymous namespace)::Scale(float*, int, float)": 5,
              "(anonymous namespace)::Add(float*, float const*, int)": 1, "Memset (Device)": 2,
              "Memcpy HtoD (Pinned -> Device)": 1, "Memcpy DtoH (Device -> Pinned)": 1}
# A fill of a graph that is older than the window is the driver's kernel.
WINDOW_STEP = PLAIN_STEP | {"Memset (Device)": 1, "memset32": 1}
SCALE = next(iter(PLAIN_STEP))
TOLD = {True: "ok", False: "FAIL", None: "not known"}


class Checks:
    def __init__(self):
        self.rows = []

    def expect(self, what, found, wanted):
        self.add(what, found == wanted, found, wanted)

    def add(self, what, passed, found, wanted):
        """passed: None if the noise hides it."""
        self.rows.append({"check": what, "passed": passed, "found": str(found),
                          "wanted": str(wanted)})
        print(f"{TOLD[passed]:10}{what}" + ("" if passed else f": {found}"), flush=True)

    def exit_code(self):
        passed = [row["passed"] for row in self.rows]
        return 1 if False in passed else 3 if None in passed else 0


class Tools:
    def __init__(self, build, out):
        self.collector = build / "libperfgate_cupti.so"
        self.empty = build / "tests/gpu/libcupti_empty.so"
        self.steps = build / "tests/gpu/cupti_steps"
        self.loop = build / "tests/gpu/libcupti_loop.so"
        self.out = out
        for path in [self.collector, self.empty, self.steps, self.loop]:
            if not path.exists():
                sys.exit(f"{path} is not there: build with -DPERFGATE_CUPTI=ON -DPERFGATE_NVCC=nvcc")

    def collected(self, folder, **settings):
        """Variables that put the collector into a program."""
        path = str(self.collector)
        return {"PERFGATE_ATTEMPT_DIR": str(folder), "CUDA_INJECTION64_PATH": path,
                "NVTX_INJECTION64_PATH": path, "LD_PRELOAD": path,
                **{name: str(value) for name, value in settings.items()}}


def plain_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith("PERFGATE_") and name != "CUDA_INJECTION64_PATH"}


def run(command, variables, **options):
    return subprocess.run([str(word) for word in command], env=plain_environment() | variables,
                          text=True, capture_output=True, timeout=400, check=False, **options)


def python(script, *arguments):
    return [sys.executable, HERE / script, *arguments]


def work_of_steps(trace):
    """[{name: count}] of the marked steps: GPU work belongs to the step that holds its launch."""
    events = trace["traceEvents"]
    marks = sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                   if event.get("cat") == "user_annotation"
                   and event["name"].startswith("ProfilerStep#"))
    launched = {event["args"]["correlation"]: event["ts"] for event in events
                if event.get("cat") in ("cuda_runtime", "cuda_driver")}
    steps = [collections.Counter() for _ in marks]
    for event in events:
        if event.get("cat") not in GPU_WORK:
            continue
        at = launched.get(event["args"]["correlation"])
        for number, (start, end) in enumerate(marks):
            if at is not None and start <= at < end:
                steps[number][event["name"]] += 1
    return [dict(step) for step in steps]


def work_of_all(trace):
    return dict(collections.Counter(event["name"] for event in trace["traceEvents"]
                                    if event.get("cat") in GPU_WORK))


def footer_is_whole(trace):
    footer = trace.get("perfgate_footer", {})
    return footer.get("records") == len(trace["traceEvents"]) and footer.get("dropped") == 0 \
        and "fault" not in footer


def check_counts(tools, checks):
    for mode in MODES:
        folder = tools.out / f"geglu-{mode}"
        folder.mkdir(parents=True, exist_ok=True)
        theirs = folder / "torch_profiler.json"
        first = run(python("cupti_geglu.py", mode, "--torch-profiler", theirs), {})
        second = run(python("cupti_geglu.py", mode), tools.collected(
            folder, PERFGATE_NVTX_STEPS="geglu", PERFGATE_WARMUP=1, PERFGATE_TRACED_ITERATIONS=5))
        checks.expect(f"geglu {mode}: both programs end well",
                      (first.returncode, second.returncode, second.stderr), (0, 0, ""))
        trace = load(folder / "trace.json")
        checks.expect(f"geglu {mode}: the file is whole", footer_is_whole(trace), True)
        ours, wanted = work_of_steps(trace), work_of_steps(load(theirs))
        checks.expect(f"geglu {mode}: 5 steps, all alike", (len(ours), len(set(map(str, ours)))),
                      (5, 1))
        checks.expect(f"geglu {mode}: names and counts of each step as torch.profiler's", ours, wanted)


def load(path):
    if not path.exists():
        return {"traceEvents": []}
    return json.loads(path.read_text())


def plain(tools, ending, **settings):
    """(exit code, trace, file names, standard error) of cupti_steps."""
    folder = pathlib.Path(tempfile.mkdtemp())
    done = run([tools.steps, ending], tools.collected(folder, **settings))
    files = sorted(path.name for path in folder.iterdir())
    trace = load(folder / "trace.json")
    shutil.rmtree(folder)
    return done.returncode, trace, files, done.stderr


def check_endings(tools, checks):
    steps = {"PERFGATE_NVTX_STEPS": "step", "PERFGATE_WARMUP": 3, "PERFGATE_TRACED_ITERATIONS": 5}
    codes = {"term": -signal.SIGTERM}
    for ending in ["return", "_exit", "term", "fork", "reset", "threads"]:
        code, trace, files, stderr = plain(tools, ending, **steps)
        step = dict(WINDOW_STEP)
        if ending == "threads":
            step[SCALE] += 2000
        checks.expect(f"plain program, {ending}: ends as it would", code, codes.get(ending, 0))
        checks.expect(f"plain program, {ending}: one whole file",
                      (files, footer_is_whole(trace), stderr), (["trace.json"], True, ""))
        checks.expect(f"plain program, {ending}: each step's work", work_of_steps(trace), [step] * 5)
    for ending, more in [("return", 0), ("_exit", 0), ("term", 0), ("reset", 1)]:
        code, trace, files, _ = plain(tools, ending)
        whole = {name: 12 * count for name, count in PLAIN_STEP.items()}
        whole[SCALE] += more
        checks.expect(f"whole process, {ending}: all its work, in a whole file",
                      (code, work_of_all(trace), footer_is_whole(trace)),
                      (codes.get(ending, 0), whole, True))
    check_others(tools, checks)


def check_others(tools, checks):
    _, _, files, stderr = plain(tools, "return", PERFGATE_NVTX_STEPS="stepp")
    checks.expect("a misspelled range is told",
                  ("it marked 'step'" in stderr, [name[:12] for name in files]),
                  (True, ["no-trace-pid"]))
    folder = pathlib.Path(tempfile.mkdtemp())
    variables = tools.collected(folder)
    done = run([sys.executable, "-c", "import torch; torch.cuda.is_available()"], variables)
    checks.expect("a program that uses no CUDA leaves nothing",
                  (done.returncode, list(folder.iterdir())), (0, []))
    ranks = [subprocess.Popen([tools.steps, "return"], env=os.environ | variables | {
        "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
    checks.expect("two ranks have a whole file each",
                  ([rank.wait() for rank in ranks],
                   [footer_is_whole(load(folder / f"trace-rank{rank}.json")) for rank in range(2)]),
                  ([0, 0], [True, True]))
    shutil.rmtree(folder)
    # Two profilers in one process: the collector may lose, but it must say so, or count rightly.
    folder = pathlib.Path(tempfile.mkdtemp())
    done = run(python("cupti_geglu.py", "eager", "--torch-profiler", folder / "torch.json"),
               tools.collected(folder, PERFGATE_NVTX_STEPS="geglu", PERFGATE_WARMUP=0))
    trace, untold = load(folder / "trace.json"), list(folder.glob("no-trace-*.txt"))
    said = bool(untold) or bool(trace["traceEvents"]) and not footer_is_whole(trace)
    counted = len(work_of_steps(trace)) == 5 and all(work_of_steps(trace))
    checks.expect("beside torch.profiler it says that it lost, or counts rightly",
                  (done.returncode, said or counted), (0, True))
    print("      it said:", [path.read_text() for path in untold], trace.get("perfgate_footer"),
          done.stderr[-500:])
    shutil.rmtree(folder)


def measure_cost(tools, arguments, checks):
    command = python("cupti_cost.py", tools.loop, tools.collector, tools.empty,
                     "--rounds", arguments.rounds, "--seconds", arguments.seconds)
    rows = []
    with subprocess.Popen([str(word) for word in command], env=plain_environment(), text=True,
                          stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            rows.append(json.loads(line))
            tell_round(rows)
    table = cost_table.cost_table(rows)
    failed = [row["failed"] for row in rows if "failed" in row]
    checks.expect("cost: every process ends well", (process.returncode, failed, bool(table)),
                  (0, [], True))
    for row in table:
        for ratio, aim in cost_table.AIMS.items():
            checks.add(f"cost, {row['program']}: {ratio} is at most {aim}",
                       cost_table.verdict(row["interval"][ratio], aim),
                       cost_table.known(row, ratio), aim)
    return {"table": table, "rounds": rows}


def tell_round(rows):
    """The ratios of the round that the last row ended, and those of all so far."""
    last = rows[-1]
    if "failed" in last:
        return print(f"cost: round {last['round']} failed: {last['failed']}", flush=True)
    whole = cost_table.whole_rounds([row for row in rows if row["round"] == last["round"]])
    for program, so_far in zip(cost_table.PROGRAMS, cost_table.cost_table(rows) if whole else []):
        ratios = cost_table.paired(whole[0], program)
        print(f"cost: round {last['round']}, {program}: " + "; ".join(
            f"{name} {value:.3f}, so far {so_far['ratios'][name]:.3f}"
            for name, value in ratios.items()), flush=True)


def write_summary(tools, checks, cost):
    import torch
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
             "cuda": torch.version.cuda, "checks": checks.rows, "cost": cost}
    (tools.out / "cupti.json").write_text(json.dumps(about, indent=1) + "\n")
    lines = [f"{about['gpu']}, torch {about['torch']}, CUDA {about['cuda']}", "",
             "| check | |", "|---|---|"]
    lines += [f"| {row['check']} | {TOLD[row['passed']]}"
              f"{'' if row['passed'] else ': ' + row['found']} |" for row in checks.rows]
    if cost:
        heads = ["ns", *cost_table.CONDITIONS, *cost_table.AIMS]
        lines += ["", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        for row in cost["table"]:
            cells = [row["program"], *map(str, row["median"].values()),
                     *(cost_table.cell(row, ratio) for ratio in cost_table.AIMS)]
            lines.append("| " + " | ".join(cells) + " |")
    (tools.out / "cupti.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("out", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--only", choices=["counts", "endings", "cost"])
    arguments = parser.parse_args()
    tools, checks, cost = Tools(arguments.build, arguments.out), Checks(), None
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.only in (None, "counts"):
        check_counts(tools, checks)
    if arguments.only in (None, "endings"):
        check_endings(tools, checks)
    if arguments.only in (None, "cost"):
        cost = measure_cost(tools, arguments, checks)
    write_summary(tools, checks, cost)
    return checks.exit_code()


if __name__ == "__main__":
    sys.exit(main())
