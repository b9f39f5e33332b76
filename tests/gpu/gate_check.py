"""perfgate judges its own workloads (perfgate.yaml of this repository) on a real GPU.

usage: gate_check.py BUILD OUT

Measures them and accepts that as OUT/baselines, measures again, which must be green, also against the
baselines of the repository if they have this GPU, and once more with a planted defect, which must not be.
Writes OUT/gate.json and OUT/gate.md, and what each run printed to OUT/gate-RUN.txt.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

from torch_attempt import Checks, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLANTED = "geglu[mode=eager*"


class Gate:
    """perfgate in the root of this repository; all that it writes goes to `out`."""

    def __init__(self, build, out):
        self.build, self.out = build, out

    def call(self, name, *words):
        done = subprocess.run([self.build / "perfgate", *words], cwd=ROOT, text=True, capture_output=True,
                              check=False)
        (self.out / f"gate-{name}.txt").write_text(done.stdout + done.stderr)
        print(done.stdout + done.stderr, flush=True)
        return done.returncode

    def where(self, baselines):
        return ["--db", self.out / "gate.db", "--baselines", baselines]

    def run(self, name, baselines, *words):
        return self.call(name, "run", *self.where(baselines), "--out", self.out / f"gate-{name}",
                         "--report", f"json={self.out / f'gate-{name}.json'}", *words)


def gpu_name():
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], text=True,
                           capture_output=True, check=True)
    return re.sub(r"[^a-z0-9]+", "-", asked.stdout.splitlines()[0].lower()).strip("-")


def cases_of(report):
    return {case["case"]: case["status"] for case in json.loads(report.read_text())["cases"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    gate, checks = Gate(arguments.build.resolve(), out), Checks()
    fresh = out / "baselines"
    checks.expect("no baseline of this GPU yet: exit code", gate.run("first", fresh), 4)
    checks.expect("accepted: exit code", gate.call("accept", "baseline", "accept", *gate.where(fresh),
                                                   "--reason", "measured by ci/gpu"), 0)
    checks.expect("measured again: exit code", gate.run("again", fresh, "--verbose"), 0)
    checks.expect("baselines are sound: exit code",
                  gate.call("verify", "baseline", "verify", "--baselines", fresh), 0)
    if list((ROOT / "baselines").glob(f"*{gpu_name()}*")):
        checks.expect("against the repository's baselines: exit code",
                      gate.call("kept", "judge", *gate.where(ROOT / "baselines")), 0)
    for defect in ("clone", "cast", "sync", "split_activation"):
        code = gate.run(defect, fresh, "--case", PLANTED, "--plant", f"{PLANTED}={defect}", "--quick")
        checks.expect(f"{defect} planted: exit code", code, 1)
    cases = cases_of(out / "gate-again.json")
    lines = ["| case | verdict |", "|---|---|", *(f"| `{name}` | {status} |" for name, status in cases.items())]
    return write(out, "gate", checks, lines, cases=cases)


if __name__ == "__main__":
    sys.exit(main())
