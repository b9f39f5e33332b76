"""The collector below programs that a script plays, on a CUPTI that replays what the script says."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["CUPTI_PROGRAM"]
COLLECTOR = os.environ["PERFGATE_CUPTI_COLLECTOR"]
PERFGATE = os.environ["PERFGATE"]
STEP = "push:step launch:_Z4geluPf launch:_Z3mulPf pop"


class Played:
    """One process: what it left in its folder, and how it ended."""

    def __init__(self, script, program=PROGRAM, **environment):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cupti-", dir=os.environ["TEST_TMPDIR"]))
        variables = {
            "PERFGATE_ATTEMPT_DIR": folder,
            "CUDA_INJECTION64_PATH": COLLECTOR,
            "NVTX_INJECTION64_PATH": COLLECTOR,
            "LD_PRELOAD": COLLECTOR,
            "PERFGATE_NVTX_STEPS": "step",
            "PERFGATE_WARMUP": 1,
            "PERFGATE_TRACED_ITERATIONS": 3,
            "FAKE_CUDA": os.environ["FAKE_CUDA"],
            **environment,
        }
        inherited = {name: value for name, value in os.environ.items() if "PERFGATE" not in name}
        set_ones = {name: str(value) for name, value in variables.items() if value is not None}
        for name in variables.keys() - set_ones.keys():
            inherited.pop(name, None)
        process = subprocess.run([program, script], env=inherited | set_ones, cwd=folder, text=True,
                                 capture_output=True, timeout=60, check=False)
        self.code, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
        self.files = sorted(path.name for path in folder.iterdir())
        self.texts = {path.name: path.read_text() for path in folder.iterdir()}
        self.evidence = None
        if "trace.json" in self.files:
            self.evidence = json.loads(subprocess.run(
                [PERFGATE, "inspect", folder / "trace.json", "--format", "json"], text=True,
                capture_output=True, check=False).stdout or "null")
        shutil.rmtree(folder)

    def trace(self, name="trace.json"):
        return json.loads(self.texts[name])

    def events(self, category, name="trace.json"):
        return [event for event in self.trace(name)["traceEvents"] if event["cat"] == category]

    def names(self, category, name="trace.json"):
        return collections.Counter(event["name"] for event in self.events(category, name))

    def footer(self, name="trace.json"):
        return self.trace(name)["perfgate_footer"]

    def untold(self):
        """The text of the only no-trace file."""
        name, = [name for name in self.files if name.startswith("no-trace-pid")]
        return self.texts[name].strip()


class Windows(unittest.TestCase):
    def test_the_steps_after_the_warm_up_are_the_window(self):
        played = Played(f"init context repeat:6 {STEP} again")
        self.assertEqual((played.code, played.stderr, played.files), (0, "", ["trace.json"]))
        self.assertEqual(played.names("user_annotation"),
                         {f"ProfilerStep#{n}": 1 for n in range(3)})
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 3, "mul(float*)": 3})
        self.assertEqual(played.names("cuda_runtime"), {"cudaLaunchKernel": 6})

    def test_the_gate_reads_the_counts_of_each_step(self):
        step = "push:step launch:_Z4geluPf driver:triton_poi graph:2 copy:1024 fill:64 sync pop"
        evidence = Played(f"init context repeat:4 {step} again").evidence
        self.assertTrue(evidence["complete"], evidence["incomplete_because"])
        self.assertEqual(evidence["steps"], 3)
        value = {name: metric["value"] for name, metric in evidence["metrics"].items()}
        self.assertEqual(value["kernels"], 4)
        self.assertEqual(value["gpu_activities"], 6)
        self.assertEqual(value["launches"], 2)
        self.assertEqual(value["graph_launches"], 1)
        self.assertEqual(value["memcpy_count"], 1)
        self.assertEqual(value["memset_count"], 1)
        self.assertEqual(value["syncs"], 1)
        self.assertEqual({row["name"]: row["count_per_step"] for row in evidence["kernels"]},
                         {"gelu(float*)": [1] * 3, "triton_poi": [1] * 3, "node": [2] * 3})

    def test_the_file_is_whole_long_before_the_process_ends(self):
        # Nothing of the collector runs at this end.
        played = Played(f"init context repeat:4 {STEP} again sleep:1000 _exit:0", LD_PRELOAD=None)
        self.assertEqual(played.footer()["records"], len(played.trace()["traceEvents"]))

    def test_work_after_the_window_is_not_recorded(self):
        played = Played(f"init context repeat:4 {STEP} again repeat:50 launch:later again sleep:300 "
                        "launch:later")
        self.assertNotIn("later", played.names("kernel"))
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_work_that_an_unknown_call_of_the_warm_up_launched_is_not_counted(self):
        # It is written if a flush came before the window's first call, and is then before the window.
        evidence = Played("init context push:step unseen:early pop repeat:3 push:step launch:k pop "
                          "again").evidence
        self.assertTrue(evidence["complete"], evidence["incomplete_because"])
        self.assertEqual({row["name"]: row["count_per_step"] for row in evidence["kernels"]},
                         {"k": [1] * 3})

    def test_work_that_an_unknown_call_of_the_window_launched_is_told(self):
        played = Played("init context push:step pop repeat:3 push:step launch:k unseen:u launch:k pop "
                        "again")
        self.assertEqual(played.names("kernel"), {"k": 6, "u": 3})
        self.assertIn("3 GPU activities without a launch call in the trace",
                      played.evidence["incomplete_because"][0])

    def test_a_program_that_launches_on_and_on_is_cut_at_the_window(self):
        played = Played(f"init context repeat:4 {STEP} again repeat:40 threads:4 late:20 again")
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 3, "mul(float*)": 3})
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_work_that_ends_after_the_window_is_waited_for(self):
        step = "push:step late:400 pop"
        played = Played(f"init context repeat:4 {step} again")
        self.assertEqual(played.names("kernel"), {"late": 3})
        self.assertGreater(played.footer()["drain_ns"], 3e8)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_launches_that_become_a_graph_owe_no_work(self):
        played = Played("init context repeat:4 push:step capture:5 graph:2 pop again")
        self.assertEqual(played.names("cuda_runtime"),
                         {"cudaStreamBeginCapture": 3, "cudaLaunchKernel": 15,
                          "cudaStreamEndCapture": 3, "cudaGraphLaunch": 3})
        self.assertEqual(played.names("kernel"), {"node": 6})
        self.assertLess(played.footer()["drain_ns"], 3e9)

    def test_work_launched_after_a_capture_is_waited_for(self):
        played = Played("init context repeat:4 push:step capture:5 late:400 pop again")
        self.assertEqual(played.names("kernel"), {"late": 3})
        self.assertGreater(played.footer()["drain_ns"], 3e8)
        self.assertLess(played.footer()["drain_ns"], 3e9)

    def test_steps_can_be_ranges_of_any_kind(self):
        for begin, end in [("start:step", "end"), ("dpush:step", "dpop")]:
            with self.subTest(begin=begin):
                played = Played(f"init context repeat:5 {begin} push:inner launch:k pop {end} again")
                self.assertEqual(played.names("user_annotation"),
                                 {"ProfilerStep#0": 1, "ProfilerStep#1": 1, "ProfilerStep#2": 1,
                                  "inner": 3})

    def test_a_step_inside_a_step_is_a_range_like_any_other(self):
        played = Played("init context repeat:5 push:step push:step launch:k pop pop again")
        self.assertEqual(played.names("user_annotation")["step"], 3)
        self.assertEqual(played.evidence["steps"], 3)

    def test_a_step_deeper_than_ranges_are_heard_is_none(self):
        deep = "repeat:128 push:x again repeat:2 push:step pop again repeat:128 pop again"
        played = Played(f"init context {deep} repeat:4 {STEP} again")
        self.assertEqual(played.names("user_annotation"),
                         {f"ProfilerStep#{n}": 1 for n in range(3)})

    def test_the_first_step_may_be_where_cuda_starts(self):
        played = Played("push:step init context launch:first pop repeat:3 push:step launch:k pop again",
                        PERFGATE_WARMUP=0)
        self.assertEqual(played.names("kernel"), {"first": 1, "k": 2})
        self.assertEqual(played.evidence["steps"], 3)

    def test_without_steps_the_whole_process_is_the_window(self):
        played = Played("init context repeat:20 launch:k again", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.names("kernel"), {"k": 20})
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])
        self.assertIn("no ProfilerStep marks: the whole trace is taken as one step",
                      played.evidence["notes"])
        self.assertEqual(played.evidence["metrics"]["kernels"]["value"], 20)

    def test_a_window_can_be_a_time(self):
        played = Played("init context launch:early sleep:500 launch:inside sleep:1500 launch:late",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="after=200ms,for=1s")
        self.assertEqual(played.names("kernel"), {"inside": 1})
        self.assertNotIn("fault", played.footer())

    def test_a_window_can_be_a_number_of_kernels(self):
        played = Played("init context repeat:50 launch:k sleep:10 again",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="kernels=10")
        self.assertGreaterEqual(played.names("kernel")["k"], 10)
        self.assertLess(played.names("kernel")["k"], 50)
        self.assertNotIn("fault", played.footer())


    def test_an_open_window_is_left_alone(self):
        for window in [{}, {"PERFGATE_NVTX_STEPS": None},
                       {"PERFGATE_NVTX_STEPS": None, "PERFGATE_CUPTI_WINDOW": "for=60s"}]:
            with self.subTest(window=window):
                played = Played("init context push:step pop push:step launch:k sleep:400 flushes pop",
                                **window)
                self.assertEqual(played.stdout, "flushes 0\n")
                self.assertEqual(played.names("kernel"), {"k": 1})

    def test_what_was_recorded_before_a_window_is_not_read_in_it(self):
        played = Played("init context push:step threads:30 pop push:step launch:k sleep:400 reads pop "
                        "push:step launch:k pop push:step launch:k pop")
        self.assertEqual(played.stdout, "reads 0\n")
        self.assertEqual(played.names("kernel"), {"k": 3})
        self.assertNotIn("fault", played.footer())

    def test_more_records_than_there_are_buffers_for_are_read_as_they_come(self):
        played = Played("init context push:step repeat:1200 threads:1 again pop "
                        f"repeat:3 {STEP} again")
        self.assertEqual(played.footer()["dropped"], 0)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_a_process_that_is_killed_in_its_window_leaves_a_file_without_a_footer(self):
        played = Played("init context launch:k sleep:300 kill", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, -signal.SIGKILL)
        self.assertEqual(played.files, ["trace.json"])
        self.assertNotIn("perfgate_footer", played.texts["trace.json"])


class Records(unittest.TestCase):
    def test_events_say_what_kineto_says(self):
        played = Played("init context repeat:4 push:step launch:_Z4geluPf copy:1024 fill:64 "
                        "overhead:500 pop again")
        kernel = played.events("kernel")[0]
        self.assertEqual((kernel["ph"], kernel["pid"], kernel["tid"]), ("X", 0, 7))
        arguments = dict(kernel["args"])
        launches = {event["args"]["correlation"] for event in played.events("cuda_runtime")}
        self.assertIn(arguments.pop("correlation"), launches)
        self.assertEqual(arguments, {
            "device": 0, "context": 1, "stream": 7, "registers per thread": 168,
            "shared memory": 5120, "grid": [2, 64, 1], "block": [384, 1, 1]})
        self.assertEqual(played.names("gpu_memcpy"), {"Memcpy HtoD (Pageable -> Device)": 3})
        self.assertEqual(played.events("gpu_memcpy")[0]["args"]["bytes"], 1024)
        self.assertEqual(played.names("gpu_memset"), {"Memset (Device)": 3})
        self.assertEqual(played.names("overhead"), {"Lazy Function Loading": 3})
        call = played.events("cuda_runtime")[0]
        self.assertEqual(call["args"]["cbid"], 211)
        self.assertEqual(call["pid"], call["tid"])

    def test_the_header_says_gpus_and_versions(self):
        played = Played(f"init context repeat:4 {STEP} again", RANK=1, WORLD_SIZE=2)
        trace = played.trace("trace-rank1.json")
        self.assertEqual((trace["perfgate_profiler"], trace["perfgate_writer"]),
                         ("cupti", "perfgate-cupti"))
        self.assertEqual((trace["cupti_version"], trace["cuda_driver_version"]), (130001, 13000))
        self.assertEqual(trace["distributedInfo"], {"rank": 1, "world_size": 2})
        self.assertEqual([device["name"] for device in trace["deviceProperties"]],
                         ["NVIDIA H200"] * 2)
        self.assertEqual(trace["deviceProperties"][0]["numSms"], 132)
        self.assertEqual(trace["deviceProperties"][1]["uuid"],
                         "GPU-5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a01")

    def test_nodes_of_a_graph_are_told_apart(self):
        played = Played("init context repeat:4 push:step graph:3 pop again")
        nodes = [(event["args"]["graph id"], event["args"]["graph node id"])
                 for event in played.events("kernel")]
        self.assertEqual(nodes, [(5, 1), (5, 2), (5, 3)] * 3)

    def test_a_driver_call_inside_a_runtime_call_is_one_call(self):
        played = Played("init context repeat:4 push:step nested:k sync driver:d pop again")
        self.assertEqual(played.names("cuda_runtime"),
                         {"cudaLaunchKernel": 3, "cudaDeviceSynchronize": 3})
        self.assertEqual(played.names("cuda_driver"), {"cuLaunchKernel": 3})

    def test_calls_that_only_ask_are_left_out(self):
        played = Played("init context repeat:4 push:step query launch:k pop again")
        self.assertEqual(played.names("cuda_runtime"), {"cudaLaunchKernel": 3})
        self.assertEqual(played.names("cuda_driver"), {})

    def test_a_name_that_needs_escapes_stays_one_json_text(self):
        name = 'a"b\\c\td'
        played = Played("init context repeat:4 push:step push:" + name.replace("\t", "\x01") +
                        " launch:k pop pop again")
        self.assertIn(name.replace("\t", "\x01"), played.names("user_annotation"))

    def test_a_symbol_longer_than_kineto_demangles_stays_as_it_is(self):
        symbol = "_Z1100" + "k" * 1100 + "v"
        played = Played(f"init context repeat:4 push:step launch:{symbol} pop again")
        self.assertEqual(played.names("kernel"), {symbol: 3})

    def test_all_launches_of_all_threads_are_there(self):
        played = Played("init context repeat:4 push:step threads:8 pop again")
        self.assertEqual(played.names("kernel"), {"threaded": 24000})
        self.assertEqual(played.names("cuda_runtime"), {"cudaLaunchKernel": 24000})
        self.assertEqual(len({event["tid"] for event in played.events("cuda_runtime")}), 24)
        self.assertEqual(played.evidence["metrics"]["kernels"]["value"], 8000)


class Faults(unittest.TestCase):
    def incomplete(self, played):
        self.assertFalse(played.evidence["complete"])
        return played.evidence["incomplete_because"]

    def test_dropped_records_make_it_incomplete(self):
        played = Played(f"init context repeat:2 {STEP} again drop:7 repeat:2 {STEP} again")
        self.assertEqual(played.footer()["dropped"], 7)
        self.assertIn("the collector dropped 7 records", self.incomplete(played))

    def test_kernels_that_never_end_make_it_incomplete(self):
        played = Played("init context repeat:4 push:step launch:k stuck pop again")
        self.assertIn("3 GPU activities had not finished when the recording ended",
                      self.incomplete(played))

    def test_buffers_that_never_come_back_make_it_incomplete(self):
        played = Played(f"init context repeat:3 {STEP} again keep {STEP}")
        self.assertEqual(played.names("kernel"), {})
        self.assertIn("CUPTI kept 1 buffers of records", self.incomplete(played))

    def test_an_empty_buffer_that_never_comes_back_is_no_fault(self):
        played = Played(f"init context repeat:2 {STEP} again hoard repeat:2 {STEP} again")
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])
        self.assertLess(played.footer()["drain_ns"], 3e9)

    def test_too_many_events_close_the_window(self):
        played = Played("init context repeat:4 push:step threads:1 pop again",
                        PERFGATE_CUPTI_MOST_EVENTS=500)
        self.assertEqual(played.footer()["records"], 500)
        self.assertIn("the window holds more than 500 events", self.incomplete(played)[0])

    def test_a_program_that_ends_inside_the_window_says_how_far_it_came(self):
        for end in ["", "exit:0", "_exit:0"]:
            with self.subTest(end=end):
                played = Played(f"init context repeat:2 {STEP} again push:step launch:k {end}")
                self.assertEqual(played.code, 0)
                self.assertIn("the program ended inside the window: 1 of 3 ranges 'step' had ended",
                              self.incomplete(played))

    def test_a_program_that_ends_before_its_window_of_time_is_over_says_so(self):
        for end in ["", "_exit:0", "term"]:
            with self.subTest(end=end):
                played = Played(f"init context launch:k sleep:300 launch:k {end}",
                                PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="for=60s")
                self.assertEqual(played.names("kernel"), {"k": 2})
                self.assertRegex(self.incomplete(played)[0], "the program ended inside the window: "
                                 r"\d+ of 60000 ms had passed")

    def test_a_program_that_ends_before_its_number_of_kernels_says_so(self):
        played = Played("init context repeat:7 launch:k again",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 7})
        self.assertIn("the program ended inside the window: 7 of 10 kernels had run",
                      self.incomplete(played))

    def test_kernels_that_are_read_only_as_the_program_ends_count(self):
        played = Played("init context repeat:10 launch:k again",
                        PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 10})
        self.assertNotIn("fault", played.footer())

    def test_a_window_of_a_time_and_a_number_ends_by_either(self):
        played = Played("init context launch:k sleep:500 launch:k", PERFGATE_NVTX_STEPS=None,
                        PERFGATE_CUPTI_WINDOW="for=200ms,kernels=10")
        self.assertEqual(played.names("kernel"), {"k": 1})
        self.assertNotIn("fault", played.footer())

    def test_a_range_that_there_is_no_memory_for_is_not_recorded(self):
        played = Played(f"init context starved:early pop repeat:4 {STEP} again")
        self.assertEqual(played.code, 0)
        self.assertEqual(played.names("user_annotation"),
                         {f"ProfilerStep#{n}": 1 for n in range(3)})

    def test_a_misspelled_range_is_told_with_those_that_were_seen(self):
        played = Played("init context repeat:4 push:stepp launch:k push:other pop pop again")
        self.assertEqual(played.untold(), "the program marked no NVTX range 'step'; it marked "
                                          "'other', 'stepp'")
        self.assertIn("perfgate: no trace is written: the program marked no NVTX range",
                      played.stderr)
        self.assertEqual(played.code, 0)

    def test_a_program_without_ranges_is_told(self):
        played = Played("init context launch:k")
        self.assertIn("it marked no range at all", played.untold())

    def test_a_warm_up_that_never_ends_is_told(self):
        for warmup in [4, 20]:
            with self.subTest(warmup=warmup):
                played = Played(f"init context repeat:4 {STEP} again", PERFGATE_WARMUP=warmup)
                self.assertIn(f"marked 4 ranges 'step', of which the first {warmup} are warm-up",
                              played.untold())

    def test_another_profiler_is_told_and_the_program_goes_on(self):
        played = Played(f"refuse:39 init context repeat:4 {STEP} again exit:7")
        self.assertEqual(played.code, 7)
        self.assertIn("another profiler has CUPTI already", played.untold())
        self.assertIn("another profiler has CUPTI already", played.stderr)

    def test_a_profiler_of_the_program_that_takes_the_records_is_told(self):
        played = Played(f"init context push:step steal pop repeat:3 {STEP} again")
        self.assertEqual(played.code, 0)
        self.assertIn("CUPTI recorded no call in the window: the program made none, or another "
                      "profiler in it (torch.profiler) took the records", self.incomplete(played))

    def test_a_cupti_that_does_not_start_is_told(self):
        played = Played(f"refuse:15 init context {STEP}")
        self.assertIn("CUPTI 130001 does not start: CUPTI_ERROR_NOT_INITIALIZED (15)",
                      played.untold())

    def test_settings_that_cannot_be_read_are_told(self):
        for name, value, expected in [
                ("PERFGATE_WARMUP", "some", "PERFGATE_WARMUP='some': expected a whole number"),
                ("PERFGATE_TRACED_ITERATIONS", "0", "a window needs a step"),
                ("PERFGATE_CUPTI_WINDOW", "for=2", "PERFGATE_CUPTI_WINDOW: 'for=2' is not under"),
                ("PERFGATE_CUPTI_WINDOW", "for=2s", "are both set: give one window")]:
            with self.subTest(name=name, value=value):
                played = Played("init context launch:k", **{name: value})
                self.assertIn(expected, played.untold())

    def test_a_folder_that_cannot_be_written_is_told(self):
        played = Played(f"init context repeat:4 {STEP} again", PERFGATE_ATTEMPT_DIR="/nowhere/at/all")
        self.assertIn("perfgate: no trace is written: cannot create /nowhere/at/all/trace.json: "
                      "No such file or directory", played.stderr)
        self.assertEqual(played.code, 0)


class Processes(unittest.TestCase):
    def test_a_program_without_cuda_leaves_nothing(self):
        for script in [f"repeat:4 push:step pop again", "init", ""]:
            with self.subTest(script=script):
                played = Played(script)
                self.assertEqual((played.code, played.files, played.stderr), (0, [], ""))

    def test_a_child_of_a_program_with_cuda_is_silent(self):
        child = f"fork repeat:4 {STEP} again join"
        played = Played(f"init context repeat:2 {STEP} again {child} repeat:2 {STEP} again")
        self.assertEqual((played.stderr, played.files), ("", ["trace.json"]))
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 3, "mul(float*)": 3})

    def test_a_child_that_is_the_first_to_use_cuda_is_recorded(self):
        played = Played(f"push:step pop fork init context repeat:4 {STEP} again join")
        self.assertEqual((played.stderr, played.files), ("", ["trace.json"]))
        self.assertEqual(played.evidence["steps"], 3)

    def test_each_process_has_a_file_of_its_own(self):
        child = f"fork init context repeat:4 {STEP} again join"
        played = Played(f"{child} {child} init context repeat:4 {STEP} again")
        self.assertEqual(len(played.files), 3)
        self.assertEqual(played.files[-1], "trace.json")
        for name in played.files:
            self.assertRegex(name, r"^trace(-pid\d+)?\.json$")
            self.assertEqual(played.names("kernel", name), {"gelu(float*)": 3, "mul(float*)": 3})

    def test_ranks_have_files_by_their_numbers(self):
        for launcher in [{"RANK": 1}, {"OMPI_COMM_WORLD_RANK": 1}, {"SLURM_PROCID": 1}]:
            with self.subTest(launcher=launcher):
                played = Played(f"init context repeat:4 {STEP} again", **launcher)
                self.assertEqual(played.files, ["trace-rank1.json"])

    def test_a_helper_process_without_steps_leaves_only_a_text(self):
        helper = "fork init context launch:k join"
        played = Played(f"{helper} init context repeat:4 {STEP} again")
        self.assertIn("trace.json", played.files)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])
        self.assertIn("it marked no range at all", played.untold())

    def test_an_end_without_exit_handlers_leaves_a_whole_file(self):
        played = Played("init context repeat:9 launch:k again _exit:5", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, 5)
        self.assertEqual(played.names("kernel"), {"k": 9})
        self.assertNotIn("fault", played.footer())

    def test_an_end_in_a_signal_handler_that_interrupted_malloc_leaves_a_whole_file(self):
        played = Played(f"init context repeat:2 {STEP} again push:step launch:k handler:5")
        self.assertEqual(played.code, 5)
        self.assertEqual(played.names("kernel"), {"gelu(float*)": 1, "mul(float*)": 1, "k": 1})
        self.assertIn("1 of 3 ranges 'step' had ended", played.footer()["fault"])

    def test_an_end_while_another_thread_is_inside_cupti_for_good_is_not_held_for_good(self):
        began = time.monotonic()
        played = Played("init context launch:k held:5", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, 5)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_program_that_ends_just_as_its_window_opens_is_not_held(self):
        for late_ms in range(-4, 12):
            with self.subTest(late_ms=late_ms):
                began = time.monotonic()
                played = Played(f"init context launch:k sleep:{50 + late_ms}",
                                PERFGATE_NVTX_STEPS=None, PERFGATE_CUPTI_WINDOW="after=50ms")
                self.assertLess(time.monotonic() - began, 5)
                if "trace.json" in played.files:
                    self.assertEqual(played.footer()["dropped"], 0)
                else:
                    self.assertEqual(played.untold(), "the program ended before its window began")

    def test_sigterm_finishes_the_file_and_ends_the_process(self):
        played = Played("init context repeat:9 launch:k again term", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.code, -signal.SIGTERM)
        self.assertEqual(played.names("kernel"), {"k": 9})
        inside = Played(f"init context repeat:2 {STEP} again push:step term")
        self.assertEqual(inside.code, -signal.SIGTERM)
        self.assertIn("1 of 3 ranges 'step' had ended", inside.footer()["fault"])

    def test_sigterm_outside_the_window_ends_the_process_as_ever(self):
        for script in ["init context term", f"init context repeat:4 {STEP} again sleep:300 term"]:
            with self.subTest(script=script):
                self.assertEqual(Played(script).code, -signal.SIGTERM)

    def test_sigterm_ends_a_forked_child_too(self):
        played = Played(f"init context repeat:2 {STEP} again fork term join repeat:2 {STEP} again")
        self.assertIn("the child ended with 15", played.stderr)
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_another_program_in_the_same_process_starts_anew(self):
        played = Played(f"init context repeat:4 {STEP} again exec:init")
        self.assertEqual(played.files, ["trace.json"])
        inside = Played("init context repeat:9 launch:k again exec:init", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(inside.names("kernel"), {"k": 9})
        self.assertNotIn("fault", inside.footer())

    def test_an_exec_that_finds_no_program_ends_no_window(self):
        for call in ["execv:/nowhere/at/all", "execvp:/nowhere/at/all", "execvp:no-such-program"]:
            with self.subTest(call=call):
                played = Played(f"init context launch:a {call} launch:b", PERFGATE_NVTX_STEPS=None)
                self.assertEqual(played.stdout, "exec: No such file or directory\n")
                self.assertEqual(played.names("kernel"), {"a": 1, "b": 1})
                self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_an_exec_that_fails_after_the_end_of_the_recording_is_told(self):
        no_program = pathlib.Path(os.environ["TEST_TMPDIR"], "no_program")
        no_program.write_bytes(b"\0\0\0\0")
        no_program.chmod(0o755)
        played = Played(f"init context launch:a execv:{no_program} launch:b", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.stdout, "exec: Exec format error\n")
        self.assertEqual(played.names("kernel"), {"a": 1})
        self.assertEqual(played.evidence["incomplete_because"],
                         ["the recording ended before an exec that failed: the program went on "
                          "without it"])

    def test_an_exec_that_fails_after_the_window_changes_nothing(self):
        no_program = pathlib.Path(os.environ["TEST_TMPDIR"], "no_program")
        no_program.write_bytes(b"\0\0\0\0")
        no_program.chmod(0o755)
        played = Played(f"init context repeat:4 {STEP} again sleep:500 execv:{no_program}")
        self.assertEqual(played.stdout, "exec: Exec format error\n")
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_a_child_that_marks_ranges_is_not_held_by_what_its_parent_was_doing(self):
        # The parent's thread is inside a range's start or end at most of these forks.
        for first in ["", "init context"]:
            with self.subTest(first=first):
                played = Played(f"{first} start:step end hammer repeat:100 fork start:step end join again _exit:0")
                self.assertEqual((played.code, played.stderr), (0, ""))

    def test_a_device_reset_loses_nothing(self):
        played = Played("init context launch:a reset context launch:b", PERFGATE_NVTX_STEPS=None)
        self.assertEqual(played.names("kernel"), {"a": 1, "b": 1})

    def test_it_is_subscribed_only_while_it_records(self):
        played = Played(f"init context hears {STEP} hears repeat:3 {STEP} again sleep:500 hears")
        self.assertEqual(played.stdout.split(), ["hears", "-1", "hears", "2", "hears", "-1"])
        self.assertTrue(played.evidence["complete"], played.evidence["incomplete_because"])

    def test_it_shows_nothing_but_what_it_is_called_by(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", COLLECTOR], text=True,
                                 capture_output=True, check=True).stdout.split()[2::3]
        self.assertEqual(set(symbols), {"InitializeInjection", "InitializeInjectionNvtx2", "_exit",
                                        "_Exit", "execv", "execve", "execvp"})
        needed = subprocess.run(["readelf", "-d", COLLECTOR], text=True, capture_output=True,
                                check=True).stdout
        self.assertNotIn("libstdc++", needed)
        self.assertNotIn("libcupti", needed)


if __name__ == "__main__":
    unittest.main()
