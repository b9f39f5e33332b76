"""`profiler: cupti` in perfgate.yaml: the gate injects the collector and judges what it recorded."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PERFGATE = os.environ["PERFGATE"]
PROGRAM = os.environ["CUPTI_PROGRAM"]
STEP = "push:step launch:_Z4geluPf launch:_Z3mulPf sync pop"


class Gate:
    """One `perfgate run` of a program that a script plays."""

    def __init__(self, script, window="steps: {nvtx: step}", **environment):
        with tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"]) as temporary:
            folder = pathlib.Path(temporary)
            (folder / "perfgate.yaml").write_text(f"""version: 1
suite: collector
no_baseline: warn
rules: [rules.yaml]
defaults:
  device: cuda
  warmup: {{iterations: 2}}
  traced: {{iterations: 3, processes: 2}}
workloads:
  - name: played
    command: [{PROGRAM}, "{script}"]
    profiler: cupti
    {window}
""")
            (folder / "rules.yaml").write_text("""version: 1
rules:
  - id: two-kernels
    metric: kernels
    limit: {at_most: 2}
""")
            process = subprocess.run(
                [PERFGATE, "run", "--out", "out", "--report", "json=verdict.json"], cwd=folder,
                env=os.environ | environment, text=True, capture_output=True, check=False)
            self.code, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
            verdict = folder / "verdict.json"
            self.verdict = json.loads(verdict.read_text()) if verdict.exists() else None
            self.files = sorted(f"{path.parent.name}/{path.name}"
                                for path in folder.glob("out/attempts/*/*/*.json"))

    def reasons(self):
        return self.stdout + self.stderr


class CuptiInTheGate(unittest.TestCase):
    def test_a_program_that_knows_nothing_of_perfgate_is_judged(self):
        gate = Gate(f"init context repeat:5 {STEP} again")
        self.assertEqual(gate.code, 0, gate.reasons())
        self.assertEqual(gate.files, ["traced-0/trace.json", "traced-1/trace.json"])

    def test_a_kernel_too_many_fails(self):
        gate = Gate(f"init context repeat:5 {STEP.replace('sync', 'launch:extra')} again")
        self.assertEqual(gate.code, 1, gate.reasons())

    def test_the_whole_process_is_one_step_and_says_so(self):
        gate = Gate("init context launch:k launch:k", window="threads: 1")
        self.assertEqual(gate.code, 0, gate.reasons())
        self.assertIn("the whole trace is taken as one step", gate.reasons())

    def test_what_stands_in_the_way_is_said_and_never_passes(self):
        for script, reason in [
                ("init context repeat:5 push:stepp launch:k pop again", "no NVTX range 'step'"),
                (f"init context repeat:4 {STEP} again", "2 of 3 ranges"),
                (f"refuse:39 init context repeat:5 {STEP} again", "another profiler has CUPTI"),
                (f"repeat:5 push:step pop again", "the program used no CUDA"),
                (f"init context repeat:3 {STEP} again drop:2 repeat:2 {STEP} again",
                 "the collector dropped 2 records")]:
            with self.subTest(reason=reason):
                gate = Gate(script)
                self.assertEqual(gate.code, 3, gate.reasons())
                self.assertIn(reason, gate.reasons())

    def test_another_tool_in_the_drivers_slot_is_an_error(self):
        gate = Gate(f"init context repeat:5 {STEP} again", CUDA_INJECTION64_PATH="/opt/nsys.so")
        self.assertEqual(gate.code, 3, gate.reasons())
        self.assertIn("CUDA_INJECTION64_PATH is set to /opt/nsys.so", gate.reasons())


if __name__ == "__main__":
    unittest.main()
