-- Schema 2. What `perfgate calibrate` found: how much one time of a case varies on one machine.

-- The newest row of a case, metric and fingerprint holds; another machine, stack or definition of
-- the case has another fingerprint and no row yet. Rows belong to no run and outlive all of them.
CREATE TABLE calibration (
  calibration_id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL CHECK (length(fingerprint) = 16),  -- hash of machine and stack
  document TEXT NOT NULL CHECK (json_valid(document)),  -- schema perfgate.calibration/1
  case_name TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.case')) VIRTUAL,
  metric TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.metric')) VIRTUAL,
  -- ISO 8601, UTC
  measured TEXT NOT NULL
    GENERATED ALWAYS AS (json_extract(document, '$.measured')) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX calibration_key ON calibration (case_name, metric, fingerprint, measured);

-- One row a time of a case that was calibrated.
CREATE VIEW calibration_view AS
SELECT
  measured,
  case_name,
  metric,
  fingerprint,
  json_extract(document, '$.pairs') AS pairs,
  json_extract(document, '$.median') AS median,  -- of the processes, in the metric's unit
  json_extract(document, '$.noise') AS noise,  -- standard deviation of one pair's log ratio
  json_extract(document, '$.bimodal') AS bimodal,  -- 1: processes go one of two ways
  json_extract(document, '$.machine.cpu') AS cpu,
  json_extract(document, '$.stack.gpu') AS gpu
FROM calibration;
