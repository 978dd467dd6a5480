-- The index of what was said. It is a derived thing: the program makes the
-- full-text table `search` where its SQLite has FTS5, and fills it in the
-- background; a message without a place in it is looked through instead. So a
-- search finds everything at all times, and a program without FTS5 works too.

-- An owner's places are one range of numbers (block << 32 and what follows), so
-- that the index is asked for that range alone.
CREATE TABLE search_blocks (
	block    INTEGER PRIMARY KEY AUTOINCREMENT,
	owner_id TEXT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE
) STRICT;

-- The rowid of the message in the index; NULL: it is not in it.
ALTER TABLE messages ADD COLUMN place INTEGER;

CREATE UNIQUE INDEX messages_place ON messages (place) WHERE place IS NOT NULL;

-- What can be found and is not in the index.
CREATE INDEX messages_unplaced ON messages (session_id) WHERE place IS NULL AND is_meta = 0 AND content <> '';

-- The places of messages that are gone, still to be taken out of the index.
-- Place 0 stands for the index itself: something was taken out, and its bytes
-- are still in it.
CREATE TABLE search_trash (
	place INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER messages_unplace AFTER DELETE ON messages WHEN old.place IS NOT NULL
BEGIN
	INSERT OR IGNORE INTO search_trash (place) VALUES (old.place);
END;

-- A text that changes after all is indexed anew.
CREATE TRIGGER messages_replace AFTER UPDATE OF content ON messages WHEN old.place IS NOT NULL AND old.content <> new.content
BEGIN
	INSERT OR IGNORE INTO search_trash (place) VALUES (old.place);
	UPDATE messages SET place = NULL WHERE id = old.id;
END;
