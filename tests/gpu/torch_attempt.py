"""Attempts of perfgate-torch on a GPU, read by perfgate inspect: what the torch_*.py share."""
import array
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess

WINDOWS = {"PERFGATE_PHASE": "traced", "PERFGATE_WARMUP": "20", "PERFGATE_WARMUP_UNTIL_STEADY": "1",
           "PERFGATE_ITERATIONS": "100", "PERFGATE_TRACED_ITERATIONS": "5",
           "PERFGATE_DEVICE": "cuda", "PERFGATE_THREADS": "1"}


class Checks:
    """What was expected and what was found; every one is printed and kept."""

    def __init__(self):
        self.rows = []

    def expect(self, what, found, wanted):
        self.that(what, found == wanted, f"{found}, wanted {wanted}")

    def that(self, what, passed, found):
        self.rows.append({"check": what, "passed": bool(passed), "found": str(found)})
        print(("ok    " if passed else "FAIL  ") + what + ("" if passed else f": {str(found)[:400]}"),
              flush=True)

    def failed(self):
        return sum(not row["passed"] for row in self.rows)


def run_attempt(build, folder, arguments, **variables):
    """One process of perfgate-torch with `folder` as its own."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PERFGATE_") or name in ("PERFGATE_CACHE", "PERFGATE_PYTHON")}
    return subprocess.run([build / "perfgate-torch", *arguments], text=True, capture_output=True,
                          env={**environment, **WINDOWS, "PERFGATE_ATTEMPT_DIR": str(folder), **variables},
                          timeout=560, check=False)


class Attempt:
    """One process of perfgate-torch in a folder of its own, and the evidence of its trace."""

    def __init__(self, build, folder, arguments, **variables):
        done = run_attempt(build, folder, arguments, **variables)
        self.code, self.stderr = done.returncode, done.stderr
        self.samples = self.evidence = None
        if self.code != 0:
            return
        self.samples = json.loads((folder / "samples.json").read_text())
        self.output = array.array("f")
        self.output.frombytes((folder / "output-0.f32").read_bytes())
        (folder / "output-0.f32").unlink()
        inspected = subprocess.run([build / "perfgate", "inspect", folder / "trace.json", "--format",
                                    "json"], text=True, capture_output=True, check=False)
        if inspected.returncode == 0:
            self.evidence = json.loads(inspected.stdout)

    def metric(self, name):
        return self.evidence["metrics"][name]["value"]

    def kernels(self):
        """{name: launches a step}, of the first step."""
        counts = collections.Counter()
        for kernel in self.gpu_kernels():
            counts[kernel["name"]] += kernel["count_per_step"][0]
        return dict(counts)

    def gpu_kernels(self):
        return [kernel for kernel in self.evidence["kernels"] if kernel["device"].startswith("cuda")]

    def count(self, *families):
        return sum(kernel["count_per_step"][0] for kernel in self.gpu_kernels()
                   if kernel["family"] in families)

    def own_kernels(self):
        """Kernels a step without what a GEMM brings along: split-K reducers differ between GPUs."""
        return self.metric("kernels") - self.count("gemm_aux")

    def p50_us(self, array_name):
        values = self.samples[array_name]
        return statistics.median(values) / 1e3 if values else None


def relative_error(found, wanted):
    """|found - wanted| / |wanted|, of two arrays of equal length; NaN counts as infinite."""
    if len(found) != len(wanted):
        return float("inf")
    error = sum((a - b) ** 2 for a, b in zip(found, wanted)) ** 0.5
    size = sum(b ** 2 for b in wanted) ** 0.5
    return error / size if error == error and size > 0 else float("inf")


def slug(name):
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", name).strip("-")


def write(out, name, checks, lines, **more):
    """OUT/NAME.json with everything, OUT/NAME.md with the tables."""
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    document = {"checks": checks.rows, "failed": checks.failed(), **more}
    (out / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (out / f"{name}.md").write_text("\n".join(lines) + "\n")
    print(f"{name}: {len(checks.rows)} checks, {checks.failed()} failed")
    return 1 if checks.failed() else 0
