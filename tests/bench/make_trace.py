#!/usr/bin/env python3
"""Writes a large valid trace by repeating recorded ones.

Every repetition gets its own times, correlations, External ids and step numbers, so that the whole
reads as one long run of one process: steps numbered on, each launch joined to its own kernel.

    tests/bench/make_trace.py big.json --bytes 1e9 tests/data/traces/*_eager.json.gz
"""

import argparse
import gzip
import json
import re
import sys

PROCESS = 661
GPU_ROWS = 16  # process numbers below this are GPUs
ID_KEYS = ("External id", "Ev Idx", "correlation")


def to_ns(text):
    whole, _, fraction = text.partition(".")
    return int(whole) * 1000 + int((fraction + "000")[:3])


class Template:
    """One recorded trace with holes for all that changes from one repetition to the next."""

    def __init__(self, path, line_a_field):
        self.between = ",\n    " if line_a_field else ", "
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt") as file:
            document = json.load(file, parse_float=str)
        events = [e for e in document["traceEvents"] if self._is_repeated(e)]
        starts = [to_ns(str(e["ts"])) for e in events]
        ends = [s + to_ns(str(e.get("dur", 0))) for s, e in zip(starts, events)]
        self.first_ns = min(starts)
        self.length_ns = max(ends) - self.first_ns + 1_000_000
        self.ids = 1 + max(
            int(v) for e in events for v in [e.get("id", 0)] + [e.get("args", {}).get(k, 0) for k in ID_KEYS]
        )
        marks = {e["name"] for e in events if str(e.get("name", "")).startswith("ProfilerStep#")}
        self.steps = len(marks)
        self.first_step = min((int(m.split("#")[1]) for m in marks), default=0)
        self.holes = []  # (kind, recorded value)
        self.text = ",\n".join(self._render(e) for e in events)

    @staticmethod
    def _is_repeated(event):
        return event["ph"] != "M" and event.get("pid") not in ("Spans", "Traces", "")

    def _hole(self, kind, value):
        self.holes.append((kind, value))
        return "%s"

    def _render(self, event):
        event = dict(event)
        process = event["pid"]
        if isinstance(process, int) and process >= GPU_ROWS:
            if event["tid"] == process:
                event["tid"] = PROCESS
            event["pid"] = PROCESS
        lines = []
        for key, value in event.items():
            if key == "args":
                continue
            if key == "ts":
                text = self._hole("ns", to_ns(str(value)))
            elif key == "id":
                text = self._hole("id", int(value))
            elif key == "name" and str(value).startswith("ProfilerStep#"):
                text = '"ProfilerStep#%s"' % self._hole("step", int(value.split("#")[1]))
            elif key == "dur":
                text = str(value)
            else:
                text = json.dumps(value).replace("%", "%%")
            lines.append('"%s": %s' % (key, text))
        arguments = ", ".join(self._argument(k, v) for k, v in event.get("args", {}).items())
        if arguments:
            lines.append('"args": {\n      %s\n    }' % arguments)
        return "  {\n    %s\n  }" % self.between.join(lines)

    def _argument(self, key, value):
        name = json.dumps(key).replace("%", "%%")
        if key in ID_KEYS:
            return "%s: %s" % (name, self._hole("id", int(value)))
        text = json.dumps(value)
        if re.fullmatch(r'"-?\d+\.\d+(e[+-]\d+)?"', text):  # a fraction, kept as text by the loader
            text = text[1:-1]
        return "%s: %s" % (name, text.replace("%", "%%"))

    def repeat(self, at_ns, id_base, step_base):
        shift_ns = at_ns - self.first_ns
        values = []
        for kind, value in self.holes:
            if kind == "ns":
                us, ns = divmod(value + shift_ns, 1000)
                values.append("%d.%03d" % (us, ns))
            elif kind == "id":
                values.append(value + id_base)
            else:
                values.append(value - self.first_step + step_base)
        return self.text % tuple(values)


def write(out, templates, size):
    header = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "numSms": 132}
  ],
  "cupti_version": 130001, "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
  "profile_memory": 1, "record_shapes": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
    out.write(header)
    written, at_ns, id_base, step = len(header), 5_132_000_000_000_000, 0, 0
    turn = 0
    while written < size:
        template = templates[turn % len(templates)]
        text = template.repeat(at_ns, id_base, step)
        text = text if turn == 0 else ",\n" + text
        out.write(text)
        written += len(text)
        at_ns += template.length_ns
        id_base += template.ids
        step += template.steps
        turn += 1
    out.write('\n  ],\n  "traceName": "big.json"\n}\n')
    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", help="file to write; gzip if it ends in .gz")
    parser.add_argument("traces", nargs="+", help="recorded traces to repeat")
    parser.add_argument("--line-a-field", action="store_true",
                        help="as torch 2.15 writes: each field of an event on a line of its own")
    parser.add_argument("--bytes", type=float, default=1e9, help="size of the JSON (default 1e9)")
    arguments = parser.parse_args()
    templates = [Template(path, arguments.line_a_field) for path in arguments.traces]
    opener = gzip.open if arguments.out.endswith(".gz") else open
    extra = {"compresslevel": 6} if opener is gzip.open else {}
    with opener(arguments.out, "wt", encoding="utf-8", **extra) as out:
        steps = write(out, templates, arguments.bytes)
    print(f"{arguments.out}: {steps} steps", file=sys.stderr)


if __name__ == "__main__":
    main()
