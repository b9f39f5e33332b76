-- Views for people and reports: what is asked for is here, the tables are the store's own.

-- One row a run.
CREATE VIEW run_view AS
SELECT
  run.id AS run,
  run.started,
  run.suite,
  run.status,
  run.commit_id,
  json_extract(run.record, '$.dirty') AS dirty,  -- 1: the work tree had changes
  json_extract(run.record, '$.perfgate_version') AS perfgate_version,
  json_extract(run.record, '$.machine.host') AS host,
  json_extract(run.record, '$.machine.cpu') AS cpu,
  (SELECT count(*) FROM evidence WHERE evidence.run_id = run.run_id) AS case_count,
  (SELECT count(*) FROM attempt WHERE attempt.run_id = run.run_id) AS attempt_count,
  (SELECT count(*) FROM attempt WHERE attempt.run_id = run.run_id AND attempt.fault <> '')
    AS faulty_attempt_count
FROM run;

-- One row a case and run.
CREATE VIEW case_view AS
SELECT
  run.id AS run,
  run.started,
  evidence.case_name,
  evidence.complete,
  json_extract(evidence.detail, '$.incomplete_because') AS incomplete_because,  -- JSON list
  environment.digest AS environment,
  json_extract(environment.fields, '$.device') AS device,
  json_extract(environment.fields, '$.gpu') AS gpu,
  json_extract(environment.fields, '$.torch') AS torch,
  json_extract(environment.fields, '$.cuda') AS cuda
FROM evidence
JOIN run USING (run_id)
JOIN environment USING (environment_id);

-- One row a process.
CREATE VIEW attempt_view AS
SELECT
  run.id AS run,
  attempt.case_name,
  attempt.side,
  attempt.pair,
  attempt.process,
  attempt.phase,
  json_extract(attempt.document, '$.outcome') AS outcome,
  attempt.fault,
  json_extract(attempt.document, '$.wall_ns') AS wall_ns,
  json_extract(attempt.document, '$.peak_rss_bytes') AS peak_rss_bytes,
  json_extract(attempt.document, '$.dir') AS dir,
  json_extract(sample.document, '$.cold_start_ns') AS cold_start_ns,
  json_extract(attempt.document, '$.stderr_tail') AS stderr_tail
FROM attempt
JOIN run USING (run_id)
LEFT JOIN sample USING (attempt_id);

-- One row a metric, case and run.
CREATE VIEW metric_view AS
SELECT
  run.id AS run,
  run.started,
  run.commit_id,
  run.status,
  environment.digest AS environment,
  evidence.case_name,
  metric.name AS metric,
  metric.value,  -- per step
  metric.unit,
  metric.unavailable
FROM metric
JOIN evidence USING (evidence_id)
JOIN run USING (run_id)
JOIN environment USING (environment_id);

-- One row a value that a process measured: a step of the traced window, or one number for what was
-- measured in the timed window.
CREATE VIEW observation_view AS
SELECT
  run.id AS run,
  run.started,
  evidence.case_name,
  json_extract(observation.document, '$.metric') AS metric,
  json_extract(observation.document, '$.side') AS side,
  json_extract(observation.document, '$.pair') AS pair,
  json_extract(observation.document, '$.process') AS process,
  step.key AS step,  -- from 0
  step.value
FROM observation
JOIN evidence USING (evidence_id)
JOIN run USING (run_id)
JOIN json_each(observation.document, '$.per_step') AS step;

-- One row a kernel, copy, fill or synchronising call, case and run.
CREATE VIEW kernel_view AS
SELECT
  run.id AS run,
  run.started,
  evidence.case_name,
  kernel.kind,
  kernel.name,
  json_extract(kernel.document, '$.device') AS device,
  json_extract(kernel.document, '$.operator') AS operator,
  json_extract(kernel.document, '$.family') AS family,  -- as decoded when it was stored
  json_extract(kernel.document, '$.count') AS count,  -- launches in all steps
  (SELECT sum(value) FROM json_each(kernel.document, '$.time_ns_per_step')) AS time_ns
FROM kernel
JOIN evidence USING (evidence_id)
JOIN run USING (run_id);

-- One row an iteration of a timed window.
CREATE VIEW latency_view AS
SELECT
  run.id AS run,
  run.started,
  attempt.case_name,
  attempt.side,
  attempt.pair,
  attempt.process,
  attempt.phase,
  latency.key AS iteration,  -- from 0
  latency.value AS latency_ns
FROM sample
JOIN attempt USING (attempt_id)
JOIN run USING (run_id)
JOIN json_each(sample.document, '$.latency_ns') AS latency;
