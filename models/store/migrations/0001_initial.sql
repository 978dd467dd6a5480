-- Times are microseconds since 1970 in UTC. An id is text; where the order in
-- which rows came matters they have a number besides.

CREATE TABLE users (
	id              TEXT PRIMARY KEY,
	name            TEXT NOT NULL,
	name_key        TEXT NOT NULL UNIQUE, -- the name in lower case: "Ann" and "ann" are one
	role            TEXT NOT NULL CHECK (role IN ('admin', 'user')),
	password_hash   TEXT NOT NULL,
	disabled        INTEGER NOT NULL DEFAULT 0,
	created_at      INTEGER NOT NULL,
	last_sign_in_at INTEGER
) STRICT;

CREATE TABLE api_tokens (
	id           TEXT PRIMARY KEY,
	user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name         TEXT NOT NULL,
	hash         TEXT NOT NULL UNIQUE,
	created_at   INTEGER NOT NULL,
	last_used_at INTEGER
) STRICT;

CREATE INDEX api_tokens_user ON api_tokens (user_id);

CREATE TABLE sign_in_links (
	hash       TEXT PRIMARY KEY,
	user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_in_links_user ON sign_in_links (user_id);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

-- The sign-ins of browsers. data is empty until the request that signs in ends.
CREATE TABLE web_sessions (
	token_hash TEXT PRIMARY KEY,
	user_id    TEXT REFERENCES users (id) ON DELETE CASCADE,
	data       BLOB,
	expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX web_sessions_user ON web_sessions (user_id);
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- The audit log outlives what it tells of: it refers to nothing.
CREATE TABLE audit (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	at         INTEGER NOT NULL,
	actor_id   TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	action     TEXT NOT NULL,
	target     TEXT NOT NULL,
	detail     TEXT NOT NULL,
	address    TEXT NOT NULL
) STRICT;

CREATE INDEX audit_deed ON audit (actor_id, action, target);

CREATE TABLE sessions (
	id          TEXT PRIMARY KEY,
	owner_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	title       TEXT NOT NULL,
	model       TEXT NOT NULL,
	archived    INTEGER NOT NULL DEFAULT 0,
	pinned      INTEGER NOT NULL DEFAULT 0,
	forked_from TEXT NOT NULL, -- stays when that session is deleted
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL
) STRICT;

-- One index for each list: of an owner or of all, with or without a wish about
-- the archived ones.
CREATE INDEX sessions_owner ON sessions (owner_id, pinned, updated_at, id);
CREATE INDEX sessions_owner_archived ON sessions (owner_id, archived, pinned, updated_at, id);
CREATE INDEX sessions_all ON sessions (pinned, updated_at, id);
CREATE INDEX sessions_all_archived ON sessions (archived, pinned, updated_at, id);

CREATE TABLE turns (
	id               TEXT PRIMARY KEY,
	session_id       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	owner_id         TEXT NOT NULL,
	seq              INTEGER NOT NULL,
	client_id        TEXT, -- NULL where the client gave none: NULLs are never equal
	state            TEXT NOT NULL,
	error            TEXT NOT NULL DEFAULT '',
	error_code       TEXT NOT NULL DEFAULT '',
	continuations    INTEGER NOT NULL DEFAULT 0,
	retries          INTEGER NOT NULL DEFAULT 0,
	input_tokens     INTEGER NOT NULL DEFAULT 0,
	output_tokens    INTEGER NOT NULL DEFAULT 0,
	reasoning_tokens INTEGER NOT NULL DEFAULT 0,
	cached_tokens    INTEGER NOT NULL DEFAULT 0,
	cost             REAL NOT NULL DEFAULT 0,
	created_at       INTEGER NOT NULL,
	started_at       INTEGER, -- NULL of a turn that never left the queue
	ended_at         INTEGER,
	UNIQUE (session_id, seq),
	UNIQUE (session_id, client_id)
) STRICT;

-- Two turns never run in one session at a time, whoever starts them.
CREATE UNIQUE INDEX turns_running ON turns (session_id) WHERE state IN ('running', 'awaiting_approval');
CREATE INDEX turns_session_state ON turns (session_id, state, seq);
CREATE INDEX turns_owner_state ON turns (owner_id, state);
CREATE INDEX turns_state ON turns (state, session_id);

-- seq orders the messages of a session: the turn's seq in the upper bits, the
-- place within the turn in the lower 20. So a queued message stands after all
-- that the running turn will still say.
CREATE TABLE messages (
	id            TEXT PRIMARY KEY,
	session_id    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	turn_id       TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	seq           INTEGER NOT NULL,
	role          TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
	content       TEXT NOT NULL,
	reasoning     TEXT NOT NULL,
	is_meta       INTEGER NOT NULL,
	tool_calls    TEXT, -- JSON, of an assistant message that has some
	tool_call_id  TEXT, -- of a tool message
	metadata      TEXT, -- JSON, of a tool message
	state         TEXT NOT NULL,
	finish_reason TEXT NOT NULL,
	model         TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	UNIQUE (session_id, seq),
	UNIQUE (session_id, tool_call_id) -- a call has one result
) STRICT;

CREATE INDEX messages_turn ON messages (turn_id, state);

-- Where a call stands: which message made it. The call itself is in the
-- message's tool_calls.
CREATE TABLE calls (
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	call_id    TEXT NOT NULL,
	message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
	turn_id    TEXT NOT NULL,
	PRIMARY KEY (session_id, call_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX calls_message ON calls (message_id);
CREATE INDEX calls_turn ON calls (turn_id);

-- The kept outputs. seq is never used again (AUTOINCREMENT), because pieces of
-- a deleted output may still wait to be erased under it.
CREATE TABLE outputs (
	seq            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT NOT NULL UNIQUE,
	session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	owner_id       TEXT NOT NULL,
	turn_id        TEXT NOT NULL,
	call_id        TEXT NOT NULL,
	tool           TEXT NOT NULL,
	title          TEXT NOT NULL,
	running        INTEGER NOT NULL,
	total_bytes    INTEGER NOT NULL,
	complete       INTEGER NOT NULL,
	captured_bytes INTEGER NOT NULL,
	omitted_bytes  INTEGER NOT NULL,
	replaced_bytes INTEGER NOT NULL,
	binary         INTEGER NOT NULL,
	sha256         TEXT NOT NULL,
	raw_bytes      INTEGER NOT NULL,
	gaps           TEXT, -- JSON
	created_at     INTEGER NOT NULL,
	ended_at       INTEGER,
	deleted_at     INTEGER,
	-- What is stored of each stream, in bytes.
	text_stored    INTEGER NOT NULL DEFAULT 0,
	raw_stored     INTEGER NOT NULL DEFAULT 0,
	spill_stored   INTEGER NOT NULL DEFAULT 0,
	stored_bytes   INTEGER NOT NULL AS (text_stored + raw_stored + spill_stored) STORED
) STRICT;

CREATE INDEX outputs_session ON outputs (session_id, seq);
CREATE INDEX outputs_call ON outputs (session_id, call_id);
CREATE INDEX outputs_running ON outputs (running) WHERE running = 1;
CREATE INDEX outputs_owner ON outputs (owner_id, stored_bytes);

-- The bytes of outputs, at most 64 KiB a row, so that reading a page costs a
-- page. There is no foreign key: the pieces of a deleted output are erased
-- afterwards in small transactions, so that deleting a gigabyte neither blocks
-- other writers nor makes the log grow by a gigabyte.
CREATE TABLE pieces (
	output INTEGER NOT NULL, -- outputs.seq
	stream INTEGER NOT NULL, -- 1 text, 2 raw, 3 spill
	n      INTEGER NOT NULL, -- counted from 0
	bytes  BLOB NOT NULL,
	UNIQUE (output, stream, n)
) STRICT;

-- The outputs whose row is gone and whose pieces are still to be erased.
CREATE TABLE trash (
	output INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER outputs_deleted AFTER DELETE ON outputs WHEN old.stored_bytes > 0
BEGIN
	INSERT OR IGNORE INTO trash (output) VALUES (old.seq);
END;

-- What the model was shown of each output.
CREATE TABLE output_reads (
	id         INTEGER PRIMARY KEY,
	output     INTEGER NOT NULL REFERENCES outputs (seq) ON DELETE CASCADE,
	turn_id    TEXT NOT NULL,
	call_id    TEXT NOT NULL,
	kind       TEXT NOT NULL,
	start_byte INTEGER NOT NULL,
	end_byte   INTEGER NOT NULL,
	at         INTEGER NOT NULL
) STRICT;

CREATE INDEX output_reads_output ON output_reads (output, id, start_byte, end_byte);
