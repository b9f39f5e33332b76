#!/usr/bin/env python3
"""Makes HTML pages from recorded pairs and holds each to page_check.py.

usage: html_test.py --perfgate BUILD/perfgate
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import page_check

PAIRS = pathlib.Path(__file__).parents[1] / "data" / "pairs"


def traces(name):
    return [str(PAIRS / f"{name}.{side}.json.gz") for side in ("base", "head")]


# What a kernel, an operator or a thread may be called by someone who wants the page to do something.
HOSTILE = ("</title></script><script>console.error('got in')</script>"
           "<img src=x onerror=console.error(1)>\"'>]]>&amp;\x00\x1b[31m\u202e")


def write_hostile(file):
    """A trace whose every name is hostile, with 5,000 kernels in its step."""
    event = lambda category, name, start, duration, **args: {
        "ph": "X", "cat": category, "name": name, "pid": 1, "tid": HOSTILE, "ts": start, "dur": duration,
        "args": args}
    events = [event("user_annotation", "ProfilerStep#1", 0, 100000)]
    for i in range(5000):
        at = 10 + 15 * i
        events += [event("cpu_op", f"{HOSTILE}{i % 7}", at, 9, **{"Input Dims": [[HOSTILE]]}),
                   event("cuda_runtime", "cudaLaunchKernel", at + 1, 3, correlation=i + 1),
                   event("kernel", f"{HOSTILE}{i % 11}", at + 5, 8, correlation=i + 1, device=0, stream=7,
                         grid=[1, 1, 1], block=[32, 1, 1])]
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")


def make_pages(perfgate, folder):
    """Pages of a verdict with trouble, of one without, of hostile names, of one trace and of a
    command that fails."""
    run = lambda *words: subprocess.run([perfgate, *words], capture_output=True, text=True, check=False)
    for name in ("bias_out_of_epilogue", "kv_cache_copied", "compile_lost"):
        run("diff", *traces(name), "--report", f"html={folder}/{name}.html")
    same = traces("compile_lost")[0]
    run("diff", same, same, "--report", f"html={folder}/same.html")
    run("diff", same, "missing.json", "--report", f"html={folder}/failed.html")
    write_hostile(folder / "hostile.json")
    run("diff", folder / "hostile.json", folder / "hostile.json", "--report", f"html={folder}/hostile.html")
    one = run("inspect", same, "--format", "html")
    (folder / "inspect.html").write_text(one.stdout, encoding="utf-8")
    return sorted(folder.glob("*.html"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfgate", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pages = make_pages(options.perfgate, pathlib.Path(scratch))
        faults = [f"{page.name}: {fault}" for page in pages for fault in page_check.check(page)]
        if len(pages) != 7:
            faults.append(f"{len(pages)} pages were made")
    print("\n".join(faults) or f"{len(pages)} pages are well formed and load nothing")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
