-- What people choose for themselves. The defaults are what somebody has who
-- never chose.
ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN theme TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN preview_lines INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN thoughts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN notify INTEGER NOT NULL DEFAULT 0;

DROP INDEX api_tokens_user;
CREATE INDEX api_tokens_user ON api_tokens (user_id, created_at); -- the list of a user's

-- The model that a turn asks, by its name in the configuration.
ALTER TABLE turns ADD COLUMN model TEXT NOT NULL DEFAULT '';

UPDATE turns SET model = coalesce(
	(SELECT messages.model FROM messages WHERE messages.turn_id = turns.id AND messages.role = 'assistant' AND messages.model <> '' LIMIT 1), '');

-- What was used on a day (in UTC, of the day on which a turn began). It refers
-- to nothing: it outlives the sessions in which it was used.
CREATE TABLE usage (
	day              TEXT NOT NULL, -- 2026-11-30
	user_id          TEXT NOT NULL,
	model            TEXT NOT NULL,
	turns            INTEGER NOT NULL DEFAULT 0,
	input_tokens     INTEGER NOT NULL DEFAULT 0,
	output_tokens    INTEGER NOT NULL DEFAULT 0,
	reasoning_tokens INTEGER NOT NULL DEFAULT 0,
	cached_tokens    INTEGER NOT NULL DEFAULT 0,
	cost             REAL NOT NULL DEFAULT 0,
	PRIMARY KEY (day, user_id, model)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_user ON usage (user_id, day);

INSERT INTO usage
SELECT date(started_at / 1000000, 'unixepoch'), owner_id, model, count(ended_at),
	sum(input_tokens), sum(output_tokens), sum(reasoning_tokens), sum(cached_tokens), sum(cost)
FROM turns WHERE started_at IS NOT NULL AND input_tokens + output_tokens > 0 GROUP BY 1, 2, 3;

-- Whoever changes the figures of a turn changes the sums by as much: nothing is
-- counted twice, and nothing that was used is forgotten. Forks are inserted with
-- figures of nothing.
CREATE TRIGGER turns_used AFTER UPDATE ON turns
WHEN new.started_at IS NOT NULL AND (
	(old.ended_at IS NULL AND new.ended_at IS NOT NULL)
	OR new.input_tokens <> old.input_tokens OR new.output_tokens <> old.output_tokens
	OR new.reasoning_tokens <> old.reasoning_tokens OR new.cached_tokens <> old.cached_tokens
	OR new.cost <> old.cost)
BEGIN
	INSERT INTO usage VALUES (
		date(new.started_at / 1000000, 'unixepoch'), new.owner_id, new.model,
		old.ended_at IS NULL AND new.ended_at IS NOT NULL,
		new.input_tokens - old.input_tokens, new.output_tokens - old.output_tokens,
		new.reasoning_tokens - old.reasoning_tokens, new.cached_tokens - old.cached_tokens,
		new.cost - old.cost)
	ON CONFLICT (day, user_id, model) DO UPDATE SET
		turns = turns + excluded.turns,
		input_tokens = input_tokens + excluded.input_tokens,
		output_tokens = output_tokens + excluded.output_tokens,
		reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
		cached_tokens = cached_tokens + excluded.cached_tokens,
		cost = cost + excluded.cost;
END;
