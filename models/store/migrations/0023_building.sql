-- A session that is still written, part by part, such as a long import: no list
-- has it before it is whole, and a start removes what a crash left of it.
ALTER TABLE sessions ADD COLUMN building INTEGER NOT NULL DEFAULT 0;

CREATE INDEX sessions_building ON sessions (id) WHERE building = 1;
