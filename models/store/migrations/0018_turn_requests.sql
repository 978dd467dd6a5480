-- The HTTP request that asked for a turn, by the id under which the log has it;
-- '' where none did, or it was not noted yet.
ALTER TABLE turns ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
