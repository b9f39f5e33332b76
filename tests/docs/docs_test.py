#!/usr/bin/env python3
"""Runs the commands that the documentation shows and compares what they print.

A fenced block marked `console` is a session at a desk, at the root of the repository:

    $ perfgate diff base.json head.json      a command; `perfgate` is the one that was built
    FAIL  ...                                output: each line must be printed, in this order;
    …                                        a line of … stands for any lines
    $ echo $?                                the exit status of the command before
    1

Scripts of ci/ are not run here (continuous integration runs them); they must exist.

usage: docs_test.py --perfgate BUILD/perfgate FILE.md...
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
COPIED = ["examples", "tests/data/traces", "tests/data/pairs", "rules", "docs/schema"]


def sessions(path):
    """Lists of (line number, command, expected output lines), a list a block."""
    text = path.read_text()
    for block in BLOCK.finditer(text):
        number = text.count("\n", 0, block.start(1)) + 1
        steps = []
        for offset, line in enumerate(block[1].splitlines()):
            if line.startswith("$ "):
                steps.append((number + offset, line[2:], []))
            elif steps:
                steps[-1][2].append(line.rstrip())
            else:
                sys.exit(f"{path}:{number + offset}: output before the first command")
        yield steps


def missing_line(expected, printed):
    """The first expected line that does not follow in order, or None."""
    lines = iter(printed.splitlines())
    gap = True  # what is printed before the first shown line may be left out
    for want in expected:
        if want.strip() in ("…", "..."):
            gap = True
            continue
        found = False
        for line in lines:
            if line.rstrip() == want:
                found = True
                break
            if not gap:
                return want
        if not found:
            return want
        gap = False
    return None


def run_session(path, steps, folder, environment):
    status = 0
    for number, command, expected in steps:
        if command == "echo $?":
            printed = f"{status}\n"
        elif re.match(r"(bash )?ci/\w+", command):
            script = ROOT / re.match(r"(?:bash )?(ci/\w+)", command)[1]
            if not os.access(script, os.X_OK):
                return f"{path.name}:{number}: {command}: there is no such script"
            continue
        else:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                                  stdin=subprocess.DEVNULL)
            status, printed = done.returncode, done.stdout
            if status == 127:
                return f"{path.name}:{number}: {command}: no such program\n{printed}"
        line = missing_line(expected, printed)
        if line is not None:
            return (f"{path.name}:{number}: $ {command}\n  does not print: {line}\n"
                    f"  but (exit {status}):\n{printed}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--perfgate", required=True, type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    commands = failures = 0
    for path in args.files:
        with tempfile.TemporaryDirectory() as folder:
            for part in COPIED:
                shutil.copytree(ROOT / part, pathlib.Path(folder) / part)
            build = args.perfgate.resolve().parent
            os.symlink(build, pathlib.Path(folder) / "build")
            environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", NO_COLOR="1")
            for steps in sessions(path):
                commands += len(steps)
                problem = run_session(path, steps, folder, environment)
                if problem:
                    print(problem)
                    failures += 1
    print(f"{commands} commands of {len(args.files)} pages, {failures} sessions failed")
    return 1 if failures or commands == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
