-- What the provider that wrote a reply wants back with it, such as the
-- signature of its reasoning; '' where there is nothing. Only its client reads it.
ALTER TABLE messages ADD COLUMN reasoning_data TEXT NOT NULL DEFAULT '';
