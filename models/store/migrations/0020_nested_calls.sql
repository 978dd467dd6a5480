-- The calls that a script has made which still runs, as they stand. Once the
-- script has its result, which tells of them, they are removed: what is here at
-- a start is what a crash left.
CREATE TABLE nested_calls (
	seq        INTEGER PRIMARY KEY, -- the order in which they began
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	call_id    TEXT NOT NULL,
	parent_id  TEXT NOT NULL,       -- the script's call
	state      TEXT NOT NULL,       -- JSON
	UNIQUE (session_id, call_id)
) STRICT;

CREATE INDEX nested_calls_parent ON nested_calls (session_id, parent_id);
