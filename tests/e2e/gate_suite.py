"""A suite of tiny workloads in a folder of its own, and the perfgate binary to run it."""

import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

PERFGATE = os.environ["PERFGATE"]
WORKLOAD = str(pathlib.Path(__file__).parent / "gate_workload.sh")
TEMPORARY = os.environ.get("TEST_TMPDIR") or tempfile.gettempdir()
os.environ["GIT_CEILING_DIRECTORIES"] = TEMPORARY  # the build may lie in a repository


def temporary_folder():
    return tempfile.TemporaryDirectory(dir=TEMPORARY)


class Suite:
    """Each workload is (name, arguments of gate_workload.sh); used as a context manager."""

    def __init__(self, *workloads, timeout="60s", processes=1):
        self._temporary = temporary_folder()
        self.folder = pathlib.Path(self._temporary.name)
        self.out, self.db = self.folder / "out", self.folder / "perfgate.db"
        text = ["version: 1", "suite: e2e", "rules: [perfgate:structure]", "defaults:",
                "  device: cpu", f"  timeout: {timeout}",
                f"  traced: {{iterations: 2, processes: {processes}}}", "workloads:"]
        for name, arguments in workloads:
            command = ", ".join([WORKLOAD, *(a.format(folder=self.folder) for a in arguments)])
            text += [f"  - name: {name}", f"    command: [{command}]"]
        (self.folder / "perfgate.yaml").write_text("\n".join(text) + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._temporary.cleanup()

    def start(self, *arguments, **options):
        command = [PERFGATE, *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def start_run(self, *arguments, out=None, db=None, **options):
        return self.start("run", "perfgate.yaml", "--out", out or self.out, "--db", db or self.db,
                          *arguments, **options)

    def finish(self, process):
        """(exit code, stdout, stderr)"""
        stdout, stderr = process.communicate(timeout=120)
        return process.returncode, stdout, stderr

    def run(self, *arguments, **options):
        return self.finish(self.start_run(*arguments, **options))


def query(db, sql):
    connection = sqlite3.connect(db)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def wait_for(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"waited a minute for {what}")


def pid_in(path):
    """The process that a workload named in a file, once it has."""
    wait_for(lambda: path.exists() and path.read_text().endswith("\n"), path)
    return int(path.read_text())


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes_of(folder):
    """Processes whose environment names the folder: attempts that still live."""
    alive = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"PERFGATE_ATTEMPT_DIR=" + os.fsencode(folder) in environment:
            alive.append(int(entry.name))
    return alive
