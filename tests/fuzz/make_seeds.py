"""Small inputs for the fuzz targets, made of what the tests hold.

    make_seeds.py PROJECT OUT

OUT gets a folder for each target. Recorded traces are cut down to a few events of each kind: a
fuzzer is after odd bytes, not after many.
"""

import gzip
import hashlib
import json
import pathlib
import re
import sys

EVENTS_OF_A_KIND = 2
LONGEST = 4096


class Seeds:
    def __init__(self, out):
        self.out = out

    def add(self, target, data):
        if isinstance(data, str):
            data = data.encode()
        if not data or len(data) > LONGEST:
            return
        folder = self.out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def cut_trace(trace):
    """The trace with a few events of each category."""
    kept, seen = [], {}
    for event in trace.get("traceEvents", []):
        kind = (event.get("ph"), event.get("cat"))
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= EVENTS_OF_A_KIND:
            event = dict(event)
            event["name"] = str(event.get("name", ""))[:80]
            args = event.get("args")
            if isinstance(args, dict):
                event["args"] = {k: v for k, v in args.items() if len(json.dumps(v)) < 120}
            kept.append(event)
    head = {k: v for k, v in trace.items() if k != "traceEvents" and len(json.dumps(v)) < 400}
    return {**head, "traceEvents": kept}


def traces(project, seeds):
    for path in sorted((project / "tests/data/traces").glob("*.json.gz")):
        trace = cut_trace(json.loads(gzip.decompress(path.read_bytes())))
        events = trace.pop("traceEvents")
        for begin in range(0, len(events), 6):
            text = json.dumps({**trace, "traceEvents": events[begin : begin + 6]})
            seeds.add("trace_reader", text)
            seeds.add("trace_reader", json.dumps({"traceEvents": events[begin : begin + 6]}, indent=1))
            seeds.add("trace_reader", text[: len(text) * 3 // 5])
    for path in sorted((project / "tests/data/defects").rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            seeds.add("trace_reader", data)
            if data[:2] == b"\x1f\x8b":
                try:
                    seeds.add("trace_reader", gzip.decompress(data))
                except (OSError, EOFError):
                    pass


def names(project, seeds):
    truth = json.loads((project / "tests/data/traces/truth.json").read_text())
    for facts in truth.values():
        for name in facts.get("names", {}):
            seeds.add("kernel_name", name)
    for path in sorted((project / "tests/data/names").glob("*.txt")):
        seeds.add("kernel_name", path.read_text().strip())
    for path in sorted((project / "tests/unit").glob("kernel_*_test.cc")):
        for name in re.findall(r'"([^"\\\n]{8,})"', path.read_text()):
            seeds.add("kernel_name", name)


def sections(project):
    """Name and text of the files that specifications put in place."""
    for path in sorted((project / "tests/spec").rglob("*.test")):
        text = path.read_text(errors="replace")
        for name, body in re.findall(r"^--- file (\S+)\n(.*?)(?=^(?:---|\$) |\Z)", text, re.M | re.S):
            yield name, body


def declarations(project, seeds):
    for path in [*project.glob("examples/**/*.yaml"), *project.glob("rules/*.yaml")]:
        text = path.read_text()
        seeds.add("declaration", text)
        for rule in re.split(r"^  - id:", text, flags=re.M)[1:]:
            seeds.add("declaration", "version: 1\nrules:\n  - id:" + rule)
    for name, body in sections(project):
        # Aliases that multiply are tested elsewhere: each takes a tenth of a second.
        if name.endswith(".yaml") and len(re.findall(r"[*]\w", body)) < 8:
            seeds.add("declaration", body)


BASELINE = {
    "schema": "perfgate.baseline/1", "perfgate": "0.1.0", "case": "geglu[tokens=64]",
    "commit": "1a2b3c4", "date": "2027-01-31T10:15:00Z", "reason": "first", "extractor": 1,
    "device": {"kind": "cuda", "name": "NVIDIA H200"},
    "key": {"gpu": "NVIDIA H200", "device": "cuda"}, "recorded": {"driver": "580"}, "steps": 2,
}


def baselines(project, seeds):
    seeds.add("baseline", json.dumps(BASELINE))
    for name, body in sections(project):
        if "perfgate.baseline" in body:
            seeds.add("baseline", body)
    for path in sorted((project / "tests/data/defects").rglob("*baseline*.json")):
        seeds.add("baseline", path.read_bytes())


def main():
    project, out = map(pathlib.Path, sys.argv[1:])
    seeds = Seeds(out)
    traces(project, seeds)
    names(project, seeds)
    declarations(project, seeds)
    baselines(project, seeds)
    for path in sorted((project / "tests/fuzz/seeds").glob("*/*")):
        seeds.add(path.parent.name, path.read_bytes())
    for length in (16, 64, 256):
        for salt in range(8):
            block = b"".join(hashlib.sha256(bytes([salt, i])).digest() for i in range(length // 16))
            seeds.add("diff", block[:length])


main()
