"""Times two launch-bound programs, a loop of empty kernels and a GeGLU, with a recorder off and on.

usage: cupti_cost.py LOOP COLLECTOR EMPTY [--rounds N] [--seconds S]
LOOP, COLLECTOR, EMPTY: libcupti_loop.so, libperfgate_cupti.so, libcupti_empty.so

The host's speed drifts within seconds, and differs between cores and processes. So a round has a
process for each of RECORDERS at once, which take turns on one core, a segment each, while the others
sleep: first all with their recorders off, then all with them on. Off is `none` for torch.profiler,
which is not there before it starts, and `closed` for the collector: loaded, outside its window.

Prints a JSON object a process: {"round": 0, "recorder": "collector", "off": TIMES, "on": TIMES} with
TIMES {"loop": [host nanoseconds a launch, ...], "geglu": [of a step, ...]}, a number a segment; for
a round that fails one object with "failed", a text. Ends after N rounds, or before one that would
last beyond S seconds.
"""
import argparse
import contextlib
import ctypes
import faulthandler
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import tempfile
import time

import torch

from cupti_geglu import GeGlu

RECORDERS = ["collector", "empty", "kineto"]
# A segment is about 25 ms, of more launches than a stream's queue holds (1024).
SEGMENTS, LAUNCHES, STEPS = 10, 5000, 250
LONGEST_ANSWER_S, LONGEST_DRAIN_S = 60, 20
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@contextlib.contextmanager
def on_core(core):
    """This thread runs there, if the system lets it; threads that it made before do not."""
    anywhere = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, anywhere)


def end_of(path):
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2000))
        return file.read().decode(errors="replace")


def footer(folder):
    """The end of the collector's trace, once it is whole."""
    key = '"perfgate_footer":'
    ends = time.monotonic() + LONGEST_DRAIN_S
    while time.monotonic() < ends:
        for path in folder.iterdir():
            tail = end_of(path)
            if path.suffix == ".txt":
                raise RuntimeError(tail)
            if key in tail and tail.endswith("}}\n"):
                return json.loads(tail[tail.index(key) + len(key):].strip()[:-1])
        time.sleep(0.05)
    raise RuntimeError("the collector left no whole trace")


class Timed:
    """What one process does, by the names of its commands."""

    def __init__(self, recorder, libraries, folder, core):
        self.recorder, self.library, self.folder = recorder, libraries.get(recorder), folder
        self.core, self.profiler = core, None
        if self.library:  # the driver loads it when CUDA starts
            os.environ["CUDA_INJECTION64_PATH"] = str(self.library)
        if recorder == "collector":
            os.environ |= {"NVTX_INJECTION64_PATH": str(self.library),
                           "PERFGATE_ATTEMPT_DIR": str(folder), "PERFGATE_NVTX_STEPS": "timed",
                           "PERFGATE_WARMUP": "1", "PERFGATE_TRACED_ITERATIONS": "1"}
        self.launch = ctypes.CDLL(str(libraries["loop"])).LaunchLoop
        self.launch.restype = ctypes.c_double
        self.launch.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_double)]
        self.model = GeGlu().to("cuda", torch.bfloat16).eval()
        self.x = torch.randn(64, 768, device="cuda", dtype=torch.bfloat16)

    def warm_up(self):
        self.run_loop(LAUNCHES)
        self.run_steps(STEPS)

    def loop(self):
        """Nanoseconds a launch."""
        with on_core(self.core):
            self.run_loop(LAUNCHES // 8)
            return self.run_loop(LAUNCHES) / LAUNCHES

    def geglu(self):
        """Nanoseconds a step."""
        with on_core(self.core):
            self.run_steps(STEPS // 8)
            return self.run_steps(STEPS) / STEPS

    def run_loop(self, launches):
        seconds = self.launch(launches, ctypes.byref(ctypes.c_double()))
        if seconds < 0:
            raise RuntimeError("a launch of the loop failed")
        return seconds * 1e9

    def run_steps(self, steps):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(steps):
            self.model(self.x)
        taken = time.perf_counter_ns() - start
        torch.cuda.synchronize()
        return taken

    def start(self):
        """The recorder is on, and warm, when this returns."""
        if self.recorder == "kineto":
            cuda = torch.profiler.ProfilerActivity.CUDA
            self.profiler = torch.profiler.profile(activities=[cuda])
            self.profiler.start()
        if self.recorder == "empty" and ctypes.CDLL(str(self.library)).StartRecording() != 1:
            raise RuntimeError("the driver did not load the empty collector, or CUPTI refused it")
        with torch.cuda.nvtx.range("timed"):  # the range that the collector warms up on
            self.warm_up()
        torch.cuda.nvtx.range_push("timed")  # its window

    def finish(self):
        """The footer of the collector's trace."""
        torch.cuda.nvtx.range_pop()
        if self.recorder != "collector":
            return None
        found = footer(self.folder)
        if found["dropped"] or "fault" in found:
            raise RuntimeError(f"the collector's trace is not whole: {found}")
        return found


def serve(pipe, *arguments):
    """In a process of its own, which ends without tearing anything down, and with its parent."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    faulthandler.enable()
    try:
        with torch.inference_mode():
            timed = Timed(*arguments)
            while command := pipe.recv():
                pipe.send((getattr(timed, command)(), ""))
    except Exception as error:  # whatever it is, the next round is to run
        pipe.send((None, f"{type(error).__name__}: {error}"))
    os._exit(0)


class Process:
    """Forked: torch is imported once, and not for seconds in each process; CUDA starts in each."""

    def __init__(self, recorder, *arguments):
        self.recorder = recorder
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, recorder, *arguments))
        self.process.start()
        theirs.close()

    def send(self, command):
        with contextlib.suppress(BrokenPipeError):  # it has ended: what it answered says why
            self.pipe.send(command)

    def answer(self):
        try:
            if not self.pipe.poll(LONGEST_ANSWER_S):
                raise RuntimeError(f"{self.recorder}: no answer in {LONGEST_ANSWER_S} s")
            value, fault = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            raise RuntimeError(f"{self.recorder}: ended with {self.process.exitcode}") from None
        if fault:
            raise RuntimeError(f"{self.recorder}: {fault}")
        return value

    def end(self):
        if self.process.exitcode is None:
            self.process.kill()
        self.process.join()


def take_turns(processes, order):
    """{recorder: TIMES}"""
    times = {process.recorder: {"loop": [], "geglu": []} for process in processes}
    for _ in range(SEGMENTS):
        for program in ["loop", "geglu"]:
            for process in order.sample(processes, len(processes)):
                process.send(program)
                times[process.recorder][program].append(process.answer())
    return times


def all_at_once(processes, command):
    for process in processes:
        process.send(command)
    return {process.recorder: process.answer() for process in processes}


def time_round(libraries, order):
    """[{"recorder", "off", "on"}]"""
    folder, processes = pathlib.Path(tempfile.mkdtemp()), []
    core = order.choice(sorted(os.sched_getaffinity(0)))
    try:
        for recorder in order.sample(RECORDERS, len(RECORDERS)):
            processes.append(Process(recorder, libraries, folder, core))
        all_at_once(processes, "warm_up")  # answered once all is loaded
        off = take_turns(processes, order)
        all_at_once(processes, "start")
        on = take_turns(processes, order)
        footers = all_at_once(processes, "finish")
    finally:
        for process in processes:
            process.end()
        shutil.rmtree(folder)
    return [{"recorder": name, "off": off[name], "on": on[name], "footer": footers[name]}
            for name in RECORDERS]


def main():
    parser = argparse.ArgumentParser()
    for name in ["loop", "collector", "empty"]:
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=170)
    arguments = parser.parse_args()
    libraries = {name: getattr(arguments, name).resolve() for name in ["loop", "collector", "empty"]}
    order, longest, began = random.Random(1), 0, time.monotonic()
    for number in range(arguments.rounds):
        round_began = time.monotonic()
        if round_began + longest > began + arguments.seconds:
            break
        try:
            rows = time_round(libraries, order)
        except RuntimeError as error:
            rows = [{"failed": str(error)}]
        for row in rows:
            print(json.dumps({"round": number, **row}), flush=True)
        longest = max(longest, time.monotonic() - round_began)


if __name__ == "__main__":
    main()
