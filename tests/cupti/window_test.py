"""What the collector records, and when."""

import signal
import unittest

from played import STEP, Played


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


if __name__ == "__main__":
    unittest.main()
