-- What searches through all of an output looked for, where they showed every
-- place of it: JSON, such as [{"pattern":"E17","regexp":false}].
ALTER TABLE grounds ADD COLUMN sought TEXT NOT NULL DEFAULT '[]';
