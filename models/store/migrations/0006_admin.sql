-- The audit log, newest first, and what administrators filter it by.
CREATE INDEX audit_at ON audit (at, id);
CREATE INDEX audit_action ON audit (action, at, id);
CREATE INDEX audit_target ON audit (target, at, id);
CREATE INDEX audit_actor ON audit (actor_name, at, id);
