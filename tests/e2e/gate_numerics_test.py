"""Numerics against a reference: the real runner on the CPU, judged by the gate."""

import array
import json
import shutil
import unittest

from gate_case import GateCase

DEFAULTS = """\
version: 1
defaults:
  device: cpu
  warmup: {iterations: 1, until_steady: false}
  timed: {iterations: 2}
  traced: {iterations: 1, processes: 1}
"""

SUITE = DEFAULTS + """\
workloads:
  - name: geglu
    matrix: {dtype: [bf16, fp16], mode: [eager, hand_fused]}
    torch: {module: geglu, hidden: 64, intermediate: 256, input: {shape: [8, 64], dtype: "{dtype}"}, mode: "{mode}"}
    reference: {mode: eager, dtype: fp32}
rules: [perfgate:numerics, mine.yaml]
"""

MINE = """\
version: 1
rules:
  - id: no-outlier
    metric: max_abs_error
    limit: {at_most: 0.1}
"""

SEEDS = DEFAULTS + """\
workloads:
  - name: linear
    torch: {module: linear, in_features: 16, out_features: 16, input: {shape: [4, 16], dtype: fp32}}
    reference: other
  - name: other
    torch: {module: linear, in_features: 16, out_features: 16, input: {shape: [4, 16], dtype: fp32}, seed: 7}
rules: [perfgate:numerics]
"""


class Numerics(GateCase):
    def perfgate_json(self, *arguments):
        """(exit code, what it said, stderr)"""
        done = self.perfgate(*arguments, "--format", "json")
        return done.returncode, json.loads(done.stdout), done.stderr

    def suite(self, text):
        self.write("perfgate.yaml", text)
        self.write("mine.yaml", MINE)

    def findings(self, verdict, rule):
        return {case["case"]: finding for case in verdict["cases"] for finding in case["findings"]
                if finding["rule"] == rule}

    def elements(self, case):
        folder, = (self.folder / "perfgate-out/attempts").glob(case)
        return array.array("f", (folder / "traced-0/output-0.f32").read_bytes())

    def test_half_precision_is_near_its_reference_in_every_mode(self):
        self.suite(SUITE)
        code, verdict, stderr = self.perfgate_json("run")
        self.assertEqual(code, 0, stderr)
        found = self.findings(verdict, "perfgate:numerics/accuracy")
        self.assertEqual(len(found), 4)  # the reference is measured and not judged
        for name, finding in found.items():
            least, most = (1e-3, 2e-2) if "bf16" in name else (1e-4, 3e-3)
            self.assertTrue(least < finding["head"] < most, (name, finding["message"]))
            self.assertEqual(finding["output"]["reference_dtype"], "fp32")
            self.assertEqual(finding["output"]["compared"], 8 * 64)
        notes = [note for case in verdict["cases"] for note in case["notes"]]
        self.assertFalse([note for note in notes if "inputs" in note], notes)

    def test_a_planted_loss_of_bits_fails_and_names_where(self):
        self.suite(SUITE)
        code, verdict, stderr = self.perfgate_json("run", "--case", "geglu[dtype=bf16,mode=eager]",
                                                   "--plant", "geglu*=narrow")
        self.assertEqual(code, 1, stderr)
        finding, = self.findings(verdict, "perfgate:numerics/accuracy").values()
        self.assertEqual(finding["status"], "fail")
        output = finding["output"]
        # Where two lists of the files of the out folder are furthest apart, and what the norms are.
        head, wanted = self.elements("geglu-dtype-bf16*"), self.elements("geglu-dtype-fp32*")
        gaps = [abs(a - b) for a, b in zip(head, wanted)]
        at = gaps.index(max(gaps))
        self.assertEqual(output["index"], [at // 64, at % 64])
        self.assertEqual((output["value"], output["reference"]), (head[at], wanted[at]))
        self.assertAlmostEqual(output["max_abs_error"], max(gaps))
        norm = sum(gap * gap for gap in gaps) / sum(b * b for b in wanted)
        self.assertAlmostEqual(output["relative_error"], norm ** 0.5)
        self.assertIn(f"furthest apart at [{at // 64}, {at % 64}] of [8, 64]", finding["message"])

    def test_an_out_folder_that_was_moved_gives_the_same_verdict(self):
        self.suite(SUITE)
        code, here, stderr = self.perfgate_json("run", "--case", "geglu[dtype=bf16,mode=eager]")
        self.assertEqual(code, 0, stderr)
        shutil.move(self.folder / "perfgate-out", self.folder / "moved")
        ingested = self.perfgate("ingest", "moved", "--db", "other.db")
        self.assertEqual(ingested.returncode, 0, ingested.stderr)
        code, there, stderr = self.perfgate_json("judge", "--db", "other.db", "--case", "geglu[dtype=bf16,mode=eager]")
        self.assertEqual(code, 0, stderr)
        self.assertEqual(self.findings(there, "perfgate:numerics/accuracy"),
                         self.findings(here, "perfgate:numerics/accuracy"))

    def test_other_inputs_are_not_compared(self):
        self.suite(SEEDS)
        code, verdict, _ = self.perfgate_json("run")
        self.assertEqual(code, 3)
        linear = verdict["cases"][0]
        self.assertEqual(linear["incomplete_because"],
                         ["not compared with the reference other: its inputs are other ones "
                          "(seed 0: randn [4, 16], there seed 7: randn [4, 16])"])


if __name__ == "__main__":
    unittest.main()
