-- What models were sent. A request is a list of places, each of which holds a
-- message as the session has it, or a text of its own where the message was
-- shortened or made for the request. Requests begin as the one before them
-- began, and a place stands for all of them in which it held the same: what is
-- stored grows with what changes, and not with the length of the conversation.
CREATE TABLE requests (
	session_id   TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	number       INTEGER NOT NULL, -- counted from 1
	turn_id      TEXT NOT NULL,
	model        TEXT NOT NULL,
	instructions INTEGER NOT NULL, -- in sent_texts
	tools        INTEGER NOT NULL, -- in sent_texts, JSON
	reasoning    INTEGER NOT NULL, -- that of earlier replies went along
	messages     INTEGER NOT NULL,
	pruned       INTEGER NOT NULL,
	hidden       INTEGER NOT NULL,
	estimate     INTEGER NOT NULL, -- about how many tokens it took
	tokens       INTEGER NOT NULL DEFAULT 0, -- as the provider counted; 0: it did not say
	at           INTEGER NOT NULL,
	PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE sent_places (
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	place      INTEGER NOT NULL, -- counted from 0
	since      INTEGER NOT NULL, -- the first request in which it held this
	until      INTEGER,          -- the last one; NULL: the newest does
	message_id TEXT,
	text_id    INTEGER,          -- in sent_texts, JSON
	PRIMARY KEY (session_id, place, since),
	CHECK ((message_id IS NULL) <> (text_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX sent_places_now ON sent_places (session_id, place) WHERE until IS NULL;

-- The texts of requests that are no message's, each once in its session.
CREATE TABLE sent_texts (
	id         INTEGER PRIMARY KEY,
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	digest     BLOB NOT NULL, -- SHA-256
	content    TEXT NOT NULL,
	UNIQUE (session_id, digest)
) STRICT;
