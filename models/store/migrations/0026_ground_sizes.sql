-- What answers rest on counts towards what their owner may store, as messages do:
-- an imported file brings it along. 200 bytes stand for the row itself.
UPDATE sessions SET size_text = size_text + (
	SELECT coalesce(sum(200 + octet_length(title) + octet_length(seen) + octet_length(taken) + octet_length(sought)), 0)
	FROM turns CROSS JOIN grounds ON grounds.turn_id = turns.id WHERE turns.session_id = sessions.id
);

CREATE TRIGGER grounds_counted AFTER INSERT ON grounds
BEGIN
	UPDATE sessions SET size_text = size_text + 200
		+ octet_length(new.title) + octet_length(new.seen) + octet_length(new.taken) + octet_length(new.sought)
	WHERE id = (SELECT session_id FROM turns WHERE turns.id = new.turn_id);
END;

CREATE TRIGGER grounds_uncounted AFTER DELETE ON grounds
BEGIN
	UPDATE sessions SET size_text = size_text - 200
		- octet_length(old.title) - octet_length(old.seen) - octet_length(old.taken) - octet_length(old.sought)
	WHERE id = (SELECT session_id FROM turns WHERE turns.id = old.turn_id);
END;
