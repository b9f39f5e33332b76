-- Schema 1. A row keeps the document that it stands for in one JSON column, exactly as it was
-- written; the other columns are generated from it, so that the two cannot disagree.
-- Comments of generated columns stand above them: SQLite takes what follows a type into the type.
-- Times are integer nanoseconds, sizes integer bytes. docs/sql.md has examples.

-- One run of a suite.
CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,  -- order in which runs were stored
  id TEXT NOT NULL UNIQUE CHECK (length(id) > 0),  -- "20270131T101500Z-1a2b3c"
  record TEXT NOT NULL CHECK (json_valid(record)),  -- run.json without its list `attempts`
  -- declared name of the suite
  suite TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(record, '$.suite')) VIRTUAL,
  -- ISO 8601, UTC
  started TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(record, '$.started')) VIRTUAL,
  -- of the suite's repository; '' if there is none
  commit_id TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(record, '$.commit')) VIRTUAL,
  -- interrupted: not all ran
  status TEXT NOT NULL CHECK (status IN ('finished', 'interrupted'))
    GENERATED ALWAYS AS (iif(json_extract(record, '$.finished'), 'finished', 'interrupted'))
    VIRTUAL
) STRICT;

CREATE INDEX run_by_start ON run (started, run_id);

-- One process that a run launched, in the order of the run.
CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),  -- from 0 within the run
  document TEXT NOT NULL CHECK (json_valid(document)),  -- one of `attempts` of run.json
  case_name TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.case')) VIRTUAL,
  side TEXT NOT NULL CHECK (side IN ('head', 'base'))
    GENERATED ALWAYS AS (json_extract(document, '$.side')) VIRTUAL,
  -- number of the pair of head and base
  pair INTEGER NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.pair')) VIRTUAL,
  -- number among the attempts of the case and side
  process INTEGER NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.process')) VIRTUAL,
  phase TEXT NOT NULL CHECK (phase IN ('timed', 'traced'))
    GENERATED ALWAYS AS (json_extract(document, '$.phase')) VIRTUAL,
  -- '' if all went well
  fault TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.fault')) VIRTUAL,
  UNIQUE (run_id, position)
) STRICT;

-- What a workload said of its attempt: samples.json, with the raw latencies of the timed window.
CREATE TABLE sample (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,
  document TEXT NOT NULL CHECK (json_valid(document))  -- samples.json
) STRICT;

-- A set of key fields (GPU, versions, definition of the case): evidence is compared only within one.
CREATE TABLE environment (
  environment_id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE CHECK (length(digest) = 16),  -- hash of the fields
  fields TEXT NOT NULL CHECK (json_valid(fields))  -- {"gpu": "NVIDIA H200", "torch": "2.11.0", ...}
) STRICT;

-- The evidence of one case in one run.
CREATE TABLE evidence (
  evidence_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),  -- from 0 within the run
  case_name TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environment,
  detail TEXT NOT NULL CHECK (json_valid(detail)),  -- evidence without the lists that have tables
  -- 0: can neither pass nor fail a rule
  complete INTEGER NOT NULL CHECK (complete IN (0, 1))
    GENERATED ALWAYS AS (json_array_length(detail, '$.incomplete_because') = 0) VIRTUAL,
  UNIQUE (run_id, position)
) STRICT;

CREATE INDEX evidence_by_case ON evidence (case_name, run_id);

-- One metric of one case.
CREATE TABLE metric (
  evidence_id INTEGER NOT NULL REFERENCES evidence ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),  -- order of the metric table
  name TEXT NOT NULL,  -- "kernels", "latency.p50"
  document TEXT NOT NULL CHECK (json_valid(document)),  -- the metric's object in the evidence
  -- per step; NULL if unstable or unavailable
  value REAL
    GENERATED ALWAYS AS (CAST(json_extract(document, '$.value') AS REAL)) VIRTUAL,
  unit TEXT
    GENERATED ALWAYS AS (json_extract(document, '$.unit')) VIRTUAL,
  -- the reason, if there is no value
  unavailable TEXT
    GENERATED ALWAYS AS (json_extract(document, '$.unavailable')) VIRTUAL,
  PRIMARY KEY (evidence_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX metric_by_name ON metric (name, evidence_id);

-- What one process measured of one metric.
CREATE TABLE observation (
  evidence_id INTEGER NOT NULL REFERENCES evidence ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),  -- from 0 within the evidence
  document TEXT NOT NULL CHECK (json_valid(document)),  -- one of `observations` of the evidence
  PRIMARY KEY (evidence_id, position)
) STRICT, WITHOUT ROWID;

-- Launches of one kernel, copy, fill or synchronising call under one operator.
CREATE TABLE kernel (
  evidence_id INTEGER NOT NULL REFERENCES evidence ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('kernel', 'transfer', 'sync')),
  position INTEGER NOT NULL CHECK (position >= 0),  -- from 0 within the kind
  document TEXT NOT NULL CHECK (json_valid(document)),  -- the row's object in the evidence
  -- exact, as in the trace
  name TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.name')) VIRTUAL,
  PRIMARY KEY (evidence_id, kind, position)
) STRICT, WITHOUT ROWID;
