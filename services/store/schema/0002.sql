-- Until when the schedule of each job was followed: what was due after that was missed.
CREATE TABLE jobs (
    plugin         TEXT NOT NULL,
    job            TEXT NOT NULL,
    schedule       TEXT NOT NULL,
    followed_until INTEGER NOT NULL,
    PRIMARY KEY (plugin, job)
) STRICT, WITHOUT ROWID;
