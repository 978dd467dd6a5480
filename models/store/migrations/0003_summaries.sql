-- The summaries that stand for old turns in what a model is sent, each under the
-- last turn that it covers.
CREATE TABLE summaries (
	session_id    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	upto_turn     TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
	content       TEXT NOT NULL,
	messages      INTEGER NOT NULL,
	outputs       INTEGER NOT NULL,
	tokens_before INTEGER NOT NULL,
	tokens_after  INTEGER NOT NULL,
	model         TEXT NOT NULL, -- empty where no model wrote it
	created_at    INTEGER NOT NULL,
	PRIMARY KEY (session_id, upto_turn)
) STRICT, WITHOUT ROWID;

CREATE INDEX summaries_turn ON summaries (upto_turn);

-- The tool results that are sent shortened: once shortened they stay so.
CREATE TABLE prunings (
	session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	call_id    TEXT NOT NULL,
	keep       INTEGER NOT NULL, -- characters at each end; 0: the body is cleared
	PRIMARY KEY (session_id, call_id)
) STRICT, WITHOUT ROWID;

-- What the turn's last request and its reply took of the model's window; 0
-- where nothing was sent yet.
ALTER TABLE turns ADD COLUMN context_tokens INTEGER NOT NULL DEFAULT 0;
