#!/bin/sh
# A workload by the attempt contract that starts in no time: two steps of one matrix product and one
# GELU on a CPU. What it does besides is said by its first argument.
set -e
case "$1" in
  hang) trap '' TERM; (trap '' TERM; while :; do sleep 600; done) & echo $! > "$2"; wait; sleep 600 ;;
  slow) echo $$ > "$2"; sleep 600 & wait ;;
  fail) echo "RuntimeError: planted" >&2; exit 7 ;;
esac
cat > "$PERFGATE_ATTEMPT_DIR/trace.json" <<'TRACE'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1, "ts": 0, "dur": 90},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 30},
{"ph": "X", "cat": "cpu_op", "name": "aten::gelu", "pid": 1, "tid": 1, "ts": 50, "dur": 20},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 100, "dur": 90},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 110, "dur": 30},
{"ph": "X", "cat": "cpu_op", "name": "aten::gelu", "pid": 1, "tid": 1, "ts": 150, "dur": 20}
]}
TRACE
cat > "$PERFGATE_ATTEMPT_DIR/samples.json" <<'SAMPLES'
{"schema": "perfgate.samples/1", "cold_start_ns": 1000000, "warmup_iterations": 2, "steady": true,
 "latency_ns": [81, 80, 82, 80, 81, 80, 83, 80, 81, 80], "dispatch_unavailable": "on a CPU",
 "environment": {"torch": "2.11.0", "cpu_isa": "AVX2", "threads": "2", "device": "cpu"}}
SAMPLES
