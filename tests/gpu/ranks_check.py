"""Several GPUs on a real machine: evidence per rank, collectives by name and bytes, communication that
nothing hides, a rank that left no trace, and `device: cuda:1`. Needs two GPUs, torch and what the build
left under BUILD; exits 1 if any check fails, 3 if there are fewer GPUs.

usage: ranks_check.py BUILD OUT [--backend gloo --device cpu]

Writes OUT/ranks.json (every number), OUT/ranks.md (tables) and the traces of all ranks. With gloo on a
CPU, which traces no collectives, only what is said of ranks is checked.
"""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from ranks_step import HIDDEN, INTERMEDIATE, KEPT, LAYERS
from torch_attempt import Checks, slug, write

HERE = pathlib.Path(__file__).parent
VARIANTS = ["overlapped", "exposed", "small"]
LAYER_BYTES = 3 * HIDDEN * INTERMEDIATE * 2  # of bf16
SUITE = """version: 1
suite: ranks
defaults:
  device: {device}
  threads: 1
  warmup: {{iterations: 10, until_steady: true, at_most: 5s}}
  timed: {{iterations: 10}}
  traced: {{iterations: 3, processes: 1}}
  timeout: 100s
no_baseline: warn
workloads:
  - name: ddp
    command: [{python}, {step}, "{{variant}}", --backend, {backend}, --device, {device}]
    matrix: {{variant: [overlapped, exposed, small]}}
"""
SUITE_ON_GPUS = """  - name: ddp_cupti
    command: [{python}, {step}, "{{variant}}", --profiler, cupti]
    profiler: cupti
    steps: {{nvtx: step}}
    matrix: {{variant: [overlapped, exposed]}}
  - name: geglu
    device: cuda:1
    torch:
      module: geglu
      hidden: 768
      intermediate: 3072
      input: {{shape: [64, 768], dtype: bf16}}
      mode: eager
"""
RULES = "rules: [perfgate:structure]\n"


class Gate:
    """perfgate in a suite of its own."""

    def __init__(self, build, folder, options):
        self.perfgate, self.folder = build / "perfgate", folder
        self.variables = dict.fromkeys(KEPT, "1") | {"NCCL_NVLS_ENABLE": "0"}
        self.started = time.monotonic()
        folder.mkdir(parents=True)
        facts = {"python": sys.executable, "step": HERE / "ranks_step.py",
                 "backend": options.backend, "device": options.device}
        suite = SUITE + (SUITE_ON_GPUS if options.device == "cuda" else "") + RULES
        (folder / "perfgate.yaml").write_text(suite.format(**facts))

    def __call__(self, *arguments, **variables):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("PERFGATE_") or name == "PERFGATE_PYTHON"}
        done = subprocess.run([self.perfgate, *arguments], cwd=self.folder, text=True,
                              capture_output=True, env={**kept, **self.variables, **variables},
                              timeout=400, check=False)
        print(f"{time.monotonic() - self.started:5.0f} s  perfgate {' '.join(map(str, arguments))}: "
              f"exit {done.returncode}", flush=True)
        return done

    def evidence(self, case, database=".perfgate.db"):
        done = self("inspect", f"latest:{case}", "--format", "json", "--db", database)
        return json.loads(done.stdout) if done.stdout else {}


def metric(evidence, name):
    return evidence["metrics"][name]["value"]


def collectives(evidence):
    """{(name, type, bytes, ranks): count in each step}"""
    return {(row["name"], row["dtype"], row["bytes"], row["group_size"]): row["count_per_step"]
            for row in evidence["collectives"]}


def expected_collectives(variant, profiler):
    counts = {"all_reduce": 3 * LAYERS if variant == "small" else LAYERS, "reduce_scatter": 1,
              "all_gather": 1}
    rows = {}
    for name, count in counts.items():
        size = LAYER_BYTES // 3 if variant == "small" and name == "all_reduce" else LAYER_BYTES
        key = (name, "bf16", size, 2)
        if profiler == "cupti":  # knows kernels by their names, and one name has no type
            key = (name, "" if name == "all_gather" else "bf16", None, 0)
        rows[key] = [count] * 6
    return rows


def check_ranks(case, evidence, devices, checks):
    checks.expect(f"{case}: complete", evidence.get("incomplete_because"), [])
    checks.expect(f"{case}: two ranks, each on its own device",
                  sorted((rank["rank"], rank["world_size"], rank["device"])
                         for rank in evidence.get("ranks", [])),
                  [(rank, 2, device) for rank, device in enumerate(devices)])
    checks.expect(f"{case}: both ranks have their three steps", evidence.get("steps_by_process"),
                  [3, 3])


def check_communication(evidences, checks):
    for case, evidence in evidences.items():
        variant = case.split("=")[1].rstrip("]")
        profiler = "cupti" if case.startswith("ddp_cupti") else "torch"
        checks.expect(f"{case}: collectives by name, type, bytes and ranks", collectives(evidence),
                      expected_collectives(variant, profiler))
        exposed, whole = metric(evidence, "comm_exposed"), metric(evidence, "comm_time")
        checks.that(f"{case}: what is exposed is a part of the communication",
                    0 < exposed <= whole, (exposed, whole))
    for name in ("ddp", "ddp_cupti"):
        # Of the rank that waits least for the other.
        hidden, late = (min(evidences[f"{name}[variant={variant}]"]["metrics"]["comm_exposed"]
                            ["by_rank"].values()) for variant in ("overlapped", "exposed"))
        checks.that(f"{name}: reduced after the backward pass, more of it is exposed",
                    hidden < late, (hidden, late))


def check_missing_rank(gate, out, checks):
    copy = gate.folder / "without-rank-1"
    shutil.copytree(gate.folder / "perfgate-out", copy)
    for trace in copy.glob("attempts/*/*/trace-rank1.json"):
        trace.unlink()
    gate("ingest", copy, "--db", "lost.db")
    done = gate("inspect", "latest:ddp[variant=overlapped]", "--db", "lost.db")
    (out / "missing-rank.txt").write_text(done.stdout)
    checks.expect("a rank that left no trace makes the evidence incomplete",
                  (done.returncode, "1 of 2 ranks left no trace: rank 1" in done.stdout), (3, True))
    shutil.rmtree(copy)


def physical_uuids():
    """Of the GPUs of this machine, asked by a process that ends before anything is measured."""
    asked = ("import torch\n"
             "for index in range(torch.cuda.device_count()):\n"
             "    print('GPU-' + str(torch.cuda.get_device_properties(index).uuid))")
    listed = subprocess.run([sys.executable, "-c", asked], text=True, capture_output=True, check=False)
    return listed.stdout.split()


def check_devices(gate, evidences, uuids, checks):
    for case, evidence in evidences.items():
        found = {rank["rank"]: rank["gpu_uuid"] for rank in evidence["ranks"]}
        checks.expect(f"{case}: says which GPUs they are", found, dict(enumerate(uuids[:2])))
    geglu = gate.evidence("geglu")
    checks.expect("geglu: ran on cuda:1, the second GPU",
                  (geglu["incomplete_because"], {row["device"] for row in geglu["kernels"]},
                   geglu["recorded"].get("gpu_uuid"), geglu["key"]["gpu_count"]),
                  ([], {"cuda:1"}, uuids[1], "1"))
    visible = {"CUDA_VISIBLE_DEVICES": "1"}
    done = gate("run", "--case", "geglu", "--device", "cuda:0", "--db", "visible.db", "--out",
                "visible-out", **visible)
    again = gate.evidence("geglu", "visible.db")
    checks.expect("CUDA_VISIBLE_DEVICES=1: cuda:0 is the second GPU",
                  (done.returncode, again.get("incomplete_because"),
                   {row["device"] for row in again.get("kernels", [])},
                   again.get("recorded", {}).get("gpu_uuid"),
                   again.get("recorded", {}).get("cuda_visible_devices")),
                  (0, [], {"cuda:0"}, uuids[1], "1"))
    done = gate("run", "--case", "geglu", "--db", "gone.db", "--out", "gone-out", **visible)
    checks.expect("CUDA_VISIBLE_DEVICES=1: cuda:1 is not there, and that is said",
                  (done.returncode, "there is 1 GPU" in " ".join(done.stdout.split())), (3, True))


def keep_traces(gate, out):
    for trace in gate.folder.glob("perfgate-out/attempts/*/*/trace*.json"):
        kept = out / f"{trace.parent.parent.name}.{trace.stem}.json.gz"
        kept.write_bytes(gzip.compress(trace.read_bytes(), 9, mtime=0))


def table(evidences):
    names = ["kernels", "gpu_time", "comm_count", "comm_bytes", "comm_time", "comm_exposed"]
    lines = ["| case | " + " | ".join(f"`{name}`" for name in names) + " |",
             "|---" * (len(names) + 1) + "|"]
    for case, evidence in evidences.items():
        cells = [f"{metric(evidence, name):,.0f}" if metric(evidence, name) is not None else "-"
                 for name in names]
        lines.append(f"| `{case}` | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("out", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    on_gpus = options.device == "cuda"
    uuids = physical_uuids() if on_gpus else []
    if on_gpus and len(uuids) < 2:
        print(f"ranks: needs two GPUs, here are {len(uuids)}", file=sys.stderr)
        return 3
    options.out.mkdir(parents=True, exist_ok=True)
    suite = options.out / "suite"
    shutil.rmtree(suite, ignore_errors=True)
    checks, gate = Checks(), Gate(options.build, suite, options)
    done = gate("run", "--db", ".perfgate.db")
    (options.out / "run.txt").write_text(done.stdout + done.stderr)
    keep_traces(gate, options.out)
    checks.that("the run measures all cases", done.returncode == 0, done.stdout + done.stderr)
    cases = [f"ddp[variant={variant}]" for variant in VARIANTS]
    cases += [f"ddp_cupti[variant={variant}]" for variant in VARIANTS[:2]] if on_gpus else []
    evidences = {case: gate.evidence(case) for case in cases}
    for case, evidence in evidences.items():
        check_ranks(case, evidence, ["cuda:0", "cuda:1"] if on_gpus else ["cpu", "cpu"], checks)
    samples = json.loads(next(suite.glob("perfgate-out/attempts/*/*/samples.json")).read_text())
    checks.expect("the ranks have the environment that perfgate was started with",
                  [samples["environment"][name.lower()] for name in KEPT], ["0", "1", "1"])
    if on_gpus:
        check_communication(evidences, checks)
        check_devices(gate, evidences, uuids, checks)
    check_missing_rank(gate, options.out, checks)
    for variant in VARIANTS[1:]:
        done = gate("diff", f"latest:{cases[0]}", f"latest:ddp[variant={variant}]", "--db",
                    ".perfgate.db")
        (options.out / f"diff-overlapped-{variant}.txt").write_text(done.stdout + done.stderr)
    for case in cases:
        done = gate("inspect", f"latest:{case}", "--db", ".perfgate.db")
        (options.out / f"{slug(case)}.txt").write_text(done.stdout)
    if not checks.failed():
        shutil.rmtree(suite)  # what is left says nothing more
    return write(options.out, "ranks", checks, table(evidences))


if __name__ == "__main__":
    sys.exit(main())
