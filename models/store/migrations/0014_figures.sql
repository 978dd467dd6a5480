-- How many bytes of each tool result the layers between tool and model let
-- through: what one lets through comes to the next. Counted from here on; a
-- fork's results are the original's, and have no row of their own.
CREATE TABLE passages (
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	call_id    TEXT NOT NULL,
	output_id  TEXT,             -- of the kept copy; NULL: there is none
	day        TEXT NOT NULL,    -- on which it was stored, in UTC, such as 2026-11-30
	tool       TEXT NOT NULL,    -- a name of figure_tools, or (other)
	model      TEXT NOT NULL,    -- that the turn asks
	digest     INTEGER NOT NULL, -- of what was asked for
	produced   INTEGER NOT NULL,
	captured   INTEGER NOT NULL,
	retained   INTEGER NOT NULL,
	shown      INTEGER NOT NULL,
	sent       INTEGER,          -- of the last request; NULL: none was proved
	recovered  INTEGER NOT NULL DEFAULT 0, -- of the bytes that were not shown, those read later
	truncated  INTEGER NOT NULL,
	incomplete INTEGER NOT NULL,
	failed     INTEGER NOT NULL, -- the copy could not be saved
	repaired   INTEGER NOT NULL, -- it ran on arguments that had been cut
	refused    INTEGER NOT NULL, -- it did not run on them
	rerun      INTEGER NOT NULL, -- the same had been asked before, and its result was cut
	consulted  INTEGER NOT NULL DEFAULT 0, -- the copy of a cut result was read or searched later
	PRIMARY KEY (session_id, call_id),
	CHECK (produced >= captured AND captured >= retained AND retained >= shown AND shown >= coalesce(sent, 0))
) STRICT, WITHOUT ROWID;

CREATE INDEX passages_output ON passages (session_id, output_id) WHERE output_id IS NOT NULL;
CREATE INDEX passages_cut ON passages (session_id, digest) WHERE truncated = 1;

-- The names that figures are kept under, the first ones that came: a server of
-- tools that invents a name a day does not make the figures grow without end.
CREATE TABLE figure_tools (
	n    INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;

-- The sums of a day, and of all time under the day ''. They refer to nothing:
-- they outlive the sessions. What is counted by turns stands under the tool ''.
CREATE TABLE figures (
	day           TEXT NOT NULL,
	tool          TEXT NOT NULL,
	model         TEXT NOT NULL,
	calls         INTEGER NOT NULL DEFAULT 0,
	truncated     INTEGER NOT NULL DEFAULT 0,
	produced      INTEGER NOT NULL DEFAULT 0,
	captured      INTEGER NOT NULL DEFAULT 0,
	retained      INTEGER NOT NULL DEFAULT 0,
	shown         INTEGER NOT NULL DEFAULT 0,
	sent          INTEGER NOT NULL DEFAULT 0,
	recovered     INTEGER NOT NULL DEFAULT 0,
	consulted     INTEGER NOT NULL DEFAULT 0,
	reruns        INTEGER NOT NULL DEFAULT 0,
	incomplete    INTEGER NOT NULL DEFAULT 0,
	failed_saves  INTEGER NOT NULL DEFAULT 0,
	repaired      INTEGER NOT NULL DEFAULT 0,
	refused       INTEGER NOT NULL DEFAULT 0,
	continuations INTEGER NOT NULL DEFAULT 0,
	cap_hits      INTEGER NOT NULL DEFAULT 0,
	retries       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (day, tool, model)
) STRICT, WITHOUT ROWID;

-- Whoever writes a passage, or changes one, changes the sums by as much.
CREATE TRIGGER passages_noted AFTER INSERT ON passages
BEGIN
	INSERT INTO figures (day, tool, model, calls, truncated, produced, captured, retained, shown, sent, recovered,
		consulted, reruns, incomplete, failed_saves, repaired, refused)
	SELECT day, new.tool, new.model, 1, new.truncated, new.produced, new.captured, new.retained, new.shown,
		coalesce(new.sent, new.shown), new.recovered, new.consulted, new.rerun, new.incomplete, new.failed, new.repaired, new.refused
	FROM (SELECT new.day AS day UNION ALL SELECT '') WHERE true
	ON CONFLICT (day, tool, model) DO UPDATE SET
		calls = calls + 1,
		truncated = truncated + excluded.truncated,
		produced = produced + excluded.produced,
		captured = captured + excluded.captured,
		retained = retained + excluded.retained,
		shown = shown + excluded.shown,
		sent = sent + excluded.sent,
		recovered = recovered + excluded.recovered,
		consulted = consulted + excluded.consulted,
		reruns = reruns + excluded.reruns,
		incomplete = incomplete + excluded.incomplete,
		failed_saves = failed_saves + excluded.failed_saves,
		repaired = repaired + excluded.repaired,
		refused = refused + excluded.refused;
END;

CREATE TRIGGER passages_changed AFTER UPDATE OF sent, recovered, consulted ON passages
BEGIN
	UPDATE figures SET
		sent = sent + coalesce(new.sent, new.shown) - coalesce(old.sent, old.shown),
		recovered = recovered + new.recovered - old.recovered,
		consulted = consulted + new.consulted - old.consulted
	WHERE day IN (new.day, '') AND tool = new.tool AND model = new.model;
END;

CREATE TRIGGER turns_counted AFTER UPDATE OF continuations, retries, error_code ON turns
WHEN new.started_at IS NOT NULL AND (new.continuations <> old.continuations OR new.retries <> old.retries
	OR (new.error_code <> old.error_code AND new.error_code IN ('output_limit', 'turn_limit')))
BEGIN
	INSERT INTO figures (day, tool, model, continuations, retries, cap_hits)
	SELECT day, '', new.model, new.continuations - old.continuations, new.retries - old.retries,
		new.error_code <> old.error_code AND new.error_code IN ('output_limit', 'turn_limit')
	FROM (SELECT date(new.started_at / 1000000, 'unixepoch') AS day UNION ALL SELECT '') WHERE true
	ON CONFLICT (day, tool, model) DO UPDATE SET
		continuations = continuations + excluded.continuations,
		retries = retries + excluded.retries,
		cap_hits = cap_hits + excluded.cap_hits;
END;
