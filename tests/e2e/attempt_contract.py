"""Runs a program as `perfgate run` would: what the e2e tests of the attempt contract share."""

import json
import os
import pathlib
import subprocess
import tempfile

WINDOWS = {
    "PERFGATE_PHASE": "traced",
    "PERFGATE_WARMUP": "3",
    "PERFGATE_WARMUP_UNTIL_STEADY": "0",
    "PERFGATE_WARMUP_AT_MOST_NS": "5000000000",
    "PERFGATE_ITERATIONS": "7",
    "PERFGATE_TRACED_ITERATIONS": "3",
    "PERFGATE_DEVICE": "cpu",
    "PERFGATE_THREADS": "2",
}


class Attempt:
    """One finished process: exit code, streams, and what it left in its folder."""

    def __init__(self, command, **environment):
        with tempfile.TemporaryDirectory() as folder:
            variables = {**os.environ, **WINDOWS, "PERFGATE_ATTEMPT_DIR": folder, **environment}
            done = subprocess.run(command, env={k: v for k, v in variables.items() if v is not None},
                                  capture_output=True, text=True, timeout=500)
            self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            self.files = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        self.samples = self._json("samples.json")
        self.trace = self._json("trace.json")

    def _json(self, name):
        return json.loads(self.files[name]) if name in self.files else None

    def operators_of_steps(self):
        """For each ProfilerStep#N in order, the names of the operators inside, in order."""
        events = [e for e in self.trace["traceEvents"] if e.get("ph") == "X"]
        marks = [e for e in events if e["name"].startswith("ProfilerStep#")]
        marks.sort(key=lambda e: e["ts"])
        operators = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: e["ts"])
        return [[e["name"] for e in operators if mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"]]
                for mark in marks]
