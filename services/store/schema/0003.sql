-- What a plugin asked for and was refused, a JSON array, and when it was to be started again.
ALTER TABLE plugins ADD COLUMN refused TEXT NOT NULL DEFAULT '[]';
ALTER TABLE plugins ADD COLUMN next_restart_at INTEGER NOT NULL DEFAULT 0;
