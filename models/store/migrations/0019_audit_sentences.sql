-- What the sentence of a line means, so that it can be said in the language of
-- who reads it: a code, and as JSON what it names. Lines from before have none.
ALTER TABLE audit ADD COLUMN code TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN args TEXT; -- NULL: it names nothing
