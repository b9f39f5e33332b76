"""A small repository with a suite of `trace:` workloads, and a server of releases."""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import tarfile
import threading

PERFGATE = os.environ["PERFGATE"]
SUITE = """\
version: 1
suite: model
rules: [perfgate:structure]
workloads:
  - name: block
    trace: traces/block.json
"""


def trace(*operators, steps=2):
    """A trace of a CPU in the format of PyTorch's profiler: each step calls these operators."""
    events = []
    for step in range(steps):
        start = step * 1000
        events.append(("user_annotation", f"ProfilerStep#{step}", start, 900))
        events += [("cpu_op", name, start + 10 + 50 * i, 30) for i, name in enumerate(operators)]
    return json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur}
        for cat, name, ts, dur in events]})


GOOD = trace("aten::mm", "aten::gelu")
WORSE = trace("aten::mm", "aten::clone", "aten::gelu")


class Repository:
    """In `folder`, with an accepted baseline of GOOD unless told otherwise."""

    def __init__(self, folder, baseline=True):
        self.folder = folder
        (folder / "traces").mkdir(parents=True)
        self.write("perfgate.yaml", SUITE)
        self.write("traces/block.json", GOOD)
        self.git("init", "-q", "-b", "main")
        self.commit("A model and its gate")
        if baseline:
            self.perfgate("run", "--db", "../first.db", "--out", "../first", code=4)
            self.perfgate("baseline", "accept", "--from", "../first", "--reason", "first")
            self.commit("Its baseline")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, *command, code=0):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != code:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}")
        return done.stdout

    def git(self, *arguments):
        return self.run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def perfgate(self, *arguments, code=0):
        return self.run(PERFGATE, *arguments, code=code)


class Releases:
    """A server with the releases of octo/perfgate, as a context manager; `name` of a file below a
    release -> bytes."""

    def __init__(self, folder):
        self.folder = folder

    def folder_of(self, version):
        return self.folder / "octo/perfgate/releases/download" / f"v{version}"

    def add(self, version, program=PERFGATE, stated=None):
        """A release as ci/release packs it, of this program alone."""
        release = self.folder_of(version)
        release.mkdir(parents=True)
        stem = f"perfgate-{version}-linux-{os.uname().machine}"
        name = f"{stem}.tar.gz"
        with tarfile.open(release / name, "w:gz") as archive:
            archive.add(program, arcname=f"{stem}/perfgate")
        digest = hashlib.sha256((release / name).read_bytes()).hexdigest()
        (release / "SHA256SUMS").write_text(f"{stated or digest}  {name}\n{'0' * 64}  other.tar.gz\n")
        return digest

    def __enter__(self):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=self.folder))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def program_folder(path):
    """The folder that a cache would bring: perfgate alone."""
    path = pathlib.Path(path)
    path.mkdir(parents=True, exist_ok=True)
    (path / "perfgate").symlink_to(PERFGATE)
