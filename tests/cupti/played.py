"""A program that a script plays, below the collector and on a CUPTI that replays what the script says."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PROGRAM = os.environ["CUPTI_PROGRAM"]
COLLECTOR = os.environ["PERFGATE_CUPTI_COLLECTOR"]
PERFGATE = os.environ["PERFGATE"]
STEP = "push:step launch:_Z4geluPf launch:_Z3mulPf pop"


class Played:
    """One process: what it left in its folder, and how it ended."""

    def __init__(self, script, program=PROGRAM, **environment):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cupti-", dir=os.environ["TEST_TMPDIR"]))
        variables = {
            "PERFGATE_ATTEMPT_DIR": folder,
            "CUDA_INJECTION64_PATH": COLLECTOR,
            "NVTX_INJECTION64_PATH": COLLECTOR,
            "LD_PRELOAD": COLLECTOR,
            "PERFGATE_NVTX_STEPS": "step",
            "PERFGATE_WARMUP": 1,
            "PERFGATE_TRACED_ITERATIONS": 3,
            "FAKE_CUDA": os.environ["FAKE_CUDA"],
            **environment,
        }
        inherited = {name: value for name, value in os.environ.items() if "PERFGATE" not in name}
        set_ones = {name: str(value) for name, value in variables.items() if value is not None}
        for name in variables.keys() - set_ones.keys():
            inherited.pop(name, None)
        process = subprocess.run([program, script], env=inherited | set_ones, cwd=folder, text=True,
                                 capture_output=True, timeout=60, check=False)
        self.code, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
        self.files = sorted(path.name for path in folder.iterdir())
        self.texts = {path.name: path.read_text() for path in folder.iterdir()}
        self.evidence = None
        if "trace.json" in self.files:
            self.evidence = json.loads(subprocess.run(
                [PERFGATE, "inspect", folder / "trace.json", "--format", "json"], text=True,
                capture_output=True, check=False).stdout or "null")
        shutil.rmtree(folder)

    def trace(self, name="trace.json"):
        return json.loads(self.texts[name])

    def events(self, category, name="trace.json"):
        return [event for event in self.trace(name)["traceEvents"] if event["cat"] == category]

    def names(self, category, name="trace.json"):
        return collections.Counter(event["name"] for event in self.events(category, name))

    def footer(self, name="trace.json"):
        return self.trace(name)["perfgate_footer"]

    def untold(self):
        """The text of the only no-trace file."""
        name, = [name for name in self.files if name.startswith("no-trace-pid")]
        return self.texts[name].strip()
