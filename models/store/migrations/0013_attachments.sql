-- The files of the workspace that a user's message came with, as a JSON array;
-- NULL: none.
ALTER TABLE messages ADD COLUMN attachments TEXT;
