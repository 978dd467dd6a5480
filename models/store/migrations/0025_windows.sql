-- What the requests of a session have taught of a model's window, where that is
-- not what its configuration says.
CREATE TABLE windows (
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	model      TEXT NOT NULL,    -- the provider's name of it
	tokens     INTEGER NOT NULL, -- that it has at most, as its provider refused more; 0: it did not
	refused_at INTEGER NOT NULL,
	scale      REAL NOT NULL,    -- tokens that the provider counts for one of the estimate; 0: not known
	PRIMARY KEY (session_id, model)
) STRICT, WITHOUT ROWID;
