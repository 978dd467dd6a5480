-- A session's turns are a tree: parent_id is the turn that went before, and the
-- turns with the same parent are versions of each other. It alone is the truth.
-- shown follows from it and from which versions somebody chose: the shown turns
-- are one path from a root to a leaf, the conversation as it is listed and sent.
ALTER TABLE turns ADD COLUMN parent_id TEXT NOT NULL DEFAULT ''; -- '' of a first turn
ALTER TABLE turns ADD COLUMN shown INTEGER NOT NULL DEFAULT 1;
-- The turn whose question this one asks again; '' where the question is its own.
ALTER TABLE turns ADD COLUMN repeats TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN shown INTEGER NOT NULL DEFAULT 1; -- as its turn is

UPDATE turns SET parent_id = coalesce((
	SELECT before.id FROM turns AS before
	WHERE before.session_id = turns.session_id AND before.seq < turns.seq
	ORDER BY before.seq DESC LIMIT 1
), '');

CREATE INDEX turns_parent ON turns (session_id, parent_id, seq);
CREATE INDEX turns_shown ON turns (session_id, shown, seq);
CREATE INDEX messages_shown ON messages (session_id, shown, seq);
