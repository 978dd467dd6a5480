-- What the messages of each session take up counts towards what its owner may
-- store. It is kept with every change of a message, as the other figures are;
-- 600 bytes stand for the row itself, its turn's, and both in their indexes.
ALTER TABLE sessions ADD COLUMN size_text INTEGER NOT NULL DEFAULT 0;

UPDATE sessions SET size_text = (
	SELECT coalesce(sum(600 + octet_length(content) + octet_length(reasoning) + octet_length(reasoning_data)
		+ coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(metadata), 0) + coalesce(octet_length(attachments), 0)), 0)
	FROM messages WHERE messages.session_id = sessions.id
);

CREATE INDEX sessions_owner_text ON sessions (owner_id, size_text);

DROP TRIGGER messages_counted;
DROP TRIGGER messages_uncounted;

CREATE TRIGGER messages_counted AFTER INSERT ON messages
BEGIN
	UPDATE sessions SET size_messages = size_messages + 1, size_text = size_text + 600
		+ octet_length(new.content) + octet_length(new.reasoning) + octet_length(new.reasoning_data)
		+ coalesce(octet_length(new.tool_calls), 0) + coalesce(octet_length(new.metadata), 0) + coalesce(octet_length(new.attachments), 0)
	WHERE id = new.session_id;
END;

CREATE TRIGGER messages_recounted AFTER UPDATE OF content, reasoning, reasoning_data, tool_calls, metadata, attachments ON messages
BEGIN
	UPDATE sessions SET size_text = size_text
		+ octet_length(new.content) + octet_length(new.reasoning) + octet_length(new.reasoning_data)
		+ coalesce(octet_length(new.tool_calls), 0) + coalesce(octet_length(new.metadata), 0) + coalesce(octet_length(new.attachments), 0)
		- octet_length(old.content) - octet_length(old.reasoning) - octet_length(old.reasoning_data)
		- coalesce(octet_length(old.tool_calls), 0) - coalesce(octet_length(old.metadata), 0) - coalesce(octet_length(old.attachments), 0)
	WHERE id = new.session_id;
END;

CREATE TRIGGER messages_uncounted AFTER DELETE ON messages
BEGIN
	UPDATE sessions SET size_messages = size_messages - 1, size_text = size_text - 600
		- octet_length(old.content) - octet_length(old.reasoning) - octet_length(old.reasoning_data)
		- coalesce(octet_length(old.tool_calls), 0) - coalesce(octet_length(old.metadata), 0) - coalesce(octet_length(old.attachments), 0)
	WHERE id = old.session_id;
END;
