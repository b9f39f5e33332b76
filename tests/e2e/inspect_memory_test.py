"""What `perfgate inspect` holds beside the records that it keeps: little, and as much for a large
trace as for a small one."""

import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

PERFGATE = os.environ["PERFGATE"]
STEPS = 10
EVENT_BYTES = 65  # a record, and its kind once more

STEP = ('{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{step}", "pid": 1, "tid": 1, '
        '"ts": {at}, "dur": {length}}},\n')
# Two threads and two streams take turns.
LAUNCH = (
    '{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": {thread}, "ts": {at}.5, '
    '"dur": 5, "args": {{"External id": {id}, "Sequence number": {id}, "Fwd thread id": 0}}}},\n'
    '{{"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": {thread}, "ts": {at}.7, '
    '"args": {{"Device Type": 1, "Device Id": 0, "Bytes": 512}}}},\n'
    '{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": {thread}, '
    '"ts": {at}.9, "dur": 1, "args": {{"correlation": {id}, "External id": {id}}}}},\n'
    '{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {at}.95, "dur": 9, '
    '"args": {{"device": 0, "stream": {stream}, "correlation": {id}}}}},\n')


def write_trace(path, launches):
    each = launches // STEPS
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"schemaVersion": 1, "profile_memory": 1, "traceEvents": [\n')
        for step in range(STEPS):
            begin = step * each * 10
            out.write(STEP.format(step=step, at=begin, length=each * 10 - 1))
            for i in range(each):
                out.write(LAUNCH.format(at=begin + 10 * i, id=step * each + i + 1, thread=1 + i % 2,
                                        stream=7 + i % 2))
        out.write('{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]}\n')


class Reading:
    """One run of inspect: its peak of resident memory, and what it says that it kept."""

    def __init__(self, path):
        process = subprocess.Popen([PERFGATE, "inspect", path, "--explain"],
                                   stdout=subprocess.PIPE, text=True)
        with process.stdout:
            out = process.stdout.read()
        _, self.status, usage = os.wait4(process.pid, 0)
        process.returncode = self.status
        self.peak_bytes = usage.ru_maxrss * 1024
        found = re.search(r"([0-9]+) bytes of records in memory, ([0-9]+) of them ties", out)
        self.record_bytes, self.tie_bytes = int(found[1]), int(found[2])
        self.kept = int(re.search(r"events in the file, ([0-9]+) kept", out)[1])
        self.beside_bytes = self.peak_bytes - self.record_bytes


class InspectMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(os.environ["TEST_TMPDIR"], exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"]) as folder:
            path = pathlib.Path(folder) / "trace.json"
            write_trace(path, 50_000)
            cls.small = Reading(path)
            write_trace(path, 250_000)
            cls.large = Reading(path)

    def test_the_traces_are_read_in_full(self):
        self.assertEqual((self.small.status, self.large.status), (0, 0))
        self.assertEqual((self.small.kept, self.large.kept), (200_010, 1_000_010))
        # A peak is that of the process only where it is above that of its parent.
        own_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.assertGreater(self.small.peak_bytes, own_bytes)

    def test_little_is_held_beside_the_records(self):
        self.assertLess(self.large.beside_bytes, 32_000_000)

    def test_what_is_held_beside_the_records_does_not_grow_with_the_trace(self):
        more_bytes = self.large.record_bytes - self.small.record_bytes
        self.assertLess(self.large.beside_bytes - self.small.beside_bytes, 0.04 * more_bytes)

    def test_the_bytes_of_records_are_those_of_the_events_kept_and_of_their_ties(self):
        texts = 64 * 1024
        for reading in (self.small, self.large):
            events = reading.record_bytes - reading.tie_bytes
            self.assertGreaterEqual(events, EVENT_BYTES * reading.kept)
            self.assertLess(events, EVENT_BYTES * reading.kept + texts)
            # By event 4 bytes; of four events two are of the host, one a launch and one GPU work.
            self.assertLessEqual(reading.tie_bytes, (4 + (2 * 4 + 24 + 24) / 4) * reading.kept)


if __name__ == "__main__":
    unittest.main()
