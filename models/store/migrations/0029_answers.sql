-- What was asked for with a request to a model: 1, a summary of older messages.
ALTER TABLE requests ADD COLUMN summary INTEGER NOT NULL DEFAULT 0;

-- What an answer is worth as evidence, once it is there: it rests on outputs that
-- the model did not have whole; it says so itself; or it says without reserve that
-- something is absent that may be in them.
ALTER TABLE turns ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN gap_named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0;

-- Their sums, by the day on which the turn began, under the tool ''.
ALTER TABLE figures ADD COLUMN answers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE figures ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE figures ADD COLUMN gaps_named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE figures ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER turns_answered AFTER UPDATE OF answered ON turns
WHEN new.started_at IS NOT NULL AND new.answered <> old.answered
BEGIN
	INSERT INTO figures (day, tool, model, answers, unread, gaps_named, doubted)
	SELECT day, '', new.model, new.answered - old.answered, new.unread - old.unread, new.gap_named - old.gap_named, new.doubted - old.doubted
	FROM (SELECT date(new.started_at / 1000000, 'unixepoch') AS day UNION ALL SELECT '') WHERE true
	ON CONFLICT (day, tool, model) DO UPDATE SET
		answers = answers + excluded.answers,
		unread = unread + excluded.unread,
		gaps_named = gaps_named + excluded.gaps_named,
		doubted = doubted + excluded.doubted;
END;
