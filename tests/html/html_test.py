#!/usr/bin/env python3
"""Makes HTML pages from recorded pairs and holds each to page_check.py.

usage: html_test.py --perfgate BUILD/perfgate
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import page_check

PAIRS = pathlib.Path(__file__).parents[1] / "data" / "pairs"


def traces(name):
    return [str(PAIRS / f"{name}.{side}.json.gz") for side in ("base", "head")]


def make_pages(perfgate, folder):
    """Pages of a verdict with trouble, of one without, of one trace and of a command that fails."""
    run = lambda *words: subprocess.run([perfgate, *words], capture_output=True, text=True, check=False)
    for name in ("bias_out_of_epilogue", "kv_cache_copied", "compile_lost"):
        run("diff", *traces(name), "--report", f"html={folder}/{name}.html")
    same = traces("compile_lost")[0]
    run("diff", same, same, "--report", f"html={folder}/same.html")
    run("diff", same, "missing.json", "--report", f"html={folder}/failed.html")
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
        if len(pages) != 6:
            faults.append(f"{len(pages)} pages were made")
    print("\n".join(faults) or f"{len(pages)} pages are well formed and load nothing")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
