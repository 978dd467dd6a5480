-- Commands that go on after their call. command_end is JSON: how such a command
-- ended; NULL before, and of every other output.
ALTER TABLE outputs ADD COLUMN background INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outputs ADD COLUMN command_end TEXT;

-- For the commands of a session that run, or ended of late.
CREATE INDEX outputs_background ON outputs (session_id, seq) WHERE background = 1;
