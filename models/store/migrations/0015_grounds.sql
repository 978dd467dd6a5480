-- What the answer of a turn rests on: the outputs of which something was in the
-- last request that a reply to has come. It is as it was then, and stays when an
-- output is deleted, and in a fork, which has no outputs of its own.
CREATE TABLE grounds (
	turn_id       TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	n             INTEGER NOT NULL, -- their order
	output_id     TEXT NOT NULL,
	tool          TEXT NOT NULL,
	title         TEXT NOT NULL,
	total_bytes   INTEGER NOT NULL,
	omitted_bytes INTEGER NOT NULL,
	complete      INTEGER NOT NULL,
	running       INTEGER NOT NULL,
	seen          TEXT NOT NULL,    -- JSON, the ranges that the request held
	seen_bytes    INTEGER NOT NULL,
	taken         TEXT NOT NULL,    -- JSON, those that an earlier one held, and it did not
	taken_bytes   INTEGER NOT NULL,
	searched      INTEGER NOT NULL,
	queried       INTEGER NOT NULL,
	earlier       INTEGER NOT NULL, -- nothing of the turn itself showed anything of it
	PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;

-- The user does not want answers marked that say that something is absent.
ALTER TABLE users ADD COLUMN unmarked INTEGER NOT NULL DEFAULT 0;
