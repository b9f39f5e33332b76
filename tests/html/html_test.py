#!/usr/bin/env python3
"""Makes HTML pages from recorded pairs and holds each to page_check.py.

usage: html_test.py --perfgate BUILD/perfgate
"""
import argparse
import json
import pathlib
import shutil
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


def make_history(perfgate, folder):
    """A suite whose trace was another from its eighth run on; of the fourteenth run, and of all runs, a
    page."""
    suite = folder / "suite"
    suite.mkdir()
    git = ["git", "-C", suite, "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (suite / ".gitignore").write_text("*", encoding="utf-8")
    (suite / "perfgate.yaml").write_text(
        "version: 1\nno_baseline: warn\nworkloads:\n  - {name: gate, trace: trace.json.gz}\n"
        "rules: [perfgate:structure]\n", encoding="utf-8")
    base, head = traces("bias_out_of_epilogue")
    for number in range(14):
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "change"], check=True)
        shutil.copy(base if number < 7 else head, suite / "trace.json.gz")
        subprocess.run([perfgate, "run", "--report", f"html={folder}/run.html"], cwd=suite, check=True,
                       capture_output=True)
    history = subprocess.run([perfgate, "history", "--format", "html"], cwd=suite, check=True,
                             capture_output=True, text=True)
    (folder / "history.html").write_text(history.stdout, encoding="utf-8")


def make_pages(perfgate, folder):
    """Pages of a verdict with trouble, of one without, of hostile names, of one trace, of stored runs and
    of a command that fails."""
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
    make_history(perfgate, folder)
    return sorted(folder.glob("*.html"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfgate", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pages = make_pages(options.perfgate, pathlib.Path(scratch))
        faults = [f"{page.name}: {fault}" for page in pages for fault in page_check.check(page)]
        if len(pages) != 9:
            faults.append(f"{len(pages)} pages were made")
        for page in pages:
            trends = page.read_text(encoding="utf-8").count('class="trend"')
            if (trends > 0) != (page.stem in ("history", "run")):
                faults.append(f"{page.name}: {trends} trends")
    print("\n".join(faults) or f"{len(pages)} pages are well formed and load nothing")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
