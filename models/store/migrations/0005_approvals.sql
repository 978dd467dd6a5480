-- The tool calls about which somebody was asked. A call within a script has a
-- row here and none in calls.
CREATE TABLE approvals (
	id         INTEGER PRIMARY KEY,
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	turn_id    TEXT NOT NULL,
	call_id    TEXT NOT NULL,
	tool       TEXT NOT NULL,
	arguments  TEXT NOT NULL,
	folder     TEXT NOT NULL,
	deed       TEXT NOT NULL,
	unconfined INTEGER NOT NULL,
	decision   TEXT NOT NULL DEFAULT '', -- empty: it waits
	decided_by TEXT NOT NULL DEFAULT '', -- a user's id
	created_at INTEGER NOT NULL,
	decided_at INTEGER,
	revoked_at INTEGER, -- of a decision for the session that holds no longer
	UNIQUE (session_id, call_id)
) STRICT;

CREATE INDEX approvals_turn ON approvals (turn_id, decision, id);
CREATE INDEX approvals_grants ON approvals (session_id, decision, revoked_at, tool, id);

-- A parked turn waits for somebody, and nothing of it runs: it goes on after a
-- restart where it was. One of which a script waits is not.
ALTER TABLE turns ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
