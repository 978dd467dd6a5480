-- The media type of what a copy was made of, such as a page of HTML, which is
-- then stored as its original bytes; empty: the copy is the original.
ALTER TABLE outputs ADD COLUMN original TEXT NOT NULL DEFAULT '';
