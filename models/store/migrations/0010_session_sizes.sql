-- What is stored of each session, kept up with every change: administrators sort
-- the list of all sessions by it, which must not cost a count of every message.
ALTER TABLE sessions ADD COLUMN size_messages INTEGER NOT NULL DEFAULT 0; -- of all versions
ALTER TABLE sessions ADD COLUMN size_outputs INTEGER NOT NULL DEFAULT 0;  -- kept and not deleted
ALTER TABLE sessions ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;    -- of kept outputs

UPDATE sessions SET
	size_messages = (SELECT count(*) FROM messages WHERE messages.session_id = sessions.id),
	size_outputs = (SELECT count(*) FROM outputs WHERE outputs.session_id = sessions.id AND deleted_at IS NULL),
	size_bytes = (SELECT coalesce(sum(stored_bytes), 0) FROM outputs WHERE outputs.session_id = sessions.id);

CREATE INDEX sessions_by_use ON sessions (updated_at, id);
CREATE INDEX sessions_by_messages ON sessions (size_messages, id);
CREATE INDEX sessions_by_outputs ON sessions (size_outputs, id);
CREATE INDEX sessions_by_bytes ON sessions (size_bytes, id);
CREATE INDEX sessions_owner_use ON sessions (owner_id, updated_at, id);

-- Where a whole session is deleted its row is gone already, and nothing is
-- counted.
CREATE TRIGGER messages_counted AFTER INSERT ON messages
BEGIN
	UPDATE sessions SET size_messages = size_messages + 1 WHERE id = new.session_id;
END;

CREATE TRIGGER messages_uncounted AFTER DELETE ON messages
BEGIN
	UPDATE sessions SET size_messages = size_messages - 1 WHERE id = old.session_id;
END;

CREATE TRIGGER outputs_counted AFTER INSERT ON outputs
BEGIN
	UPDATE sessions SET size_outputs = size_outputs + (new.deleted_at IS NULL), size_bytes = size_bytes + new.stored_bytes
	WHERE id = new.session_id;
END;

CREATE TRIGGER outputs_recounted AFTER UPDATE OF deleted_at, text_stored, raw_stored, spill_stored ON outputs
BEGIN
	UPDATE sessions SET
		size_outputs = size_outputs + (new.deleted_at IS NULL) - (old.deleted_at IS NULL),
		size_bytes = size_bytes + new.stored_bytes - old.stored_bytes
	WHERE id = new.session_id;
END;

CREATE TRIGGER outputs_uncounted AFTER DELETE ON outputs
BEGIN
	UPDATE sessions SET size_outputs = size_outputs - (old.deleted_at IS NULL), size_bytes = size_bytes - old.stored_bytes
	WHERE id = old.session_id;
END;
