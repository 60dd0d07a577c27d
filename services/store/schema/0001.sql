-- Times are milliseconds since 1970, 0 for none. A company is '' where there is none.

CREATE TABLE state (
    plugin     TEXT NOT NULL,
    scope_kind TEXT NOT NULL,
    scope_id   TEXT NOT NULL,
    namespace  TEXT NOT NULL,
    key        TEXT NOT NULL,
    company    TEXT NOT NULL,
    value      BLOB NOT NULL,
    size       INTEGER NOT NULL, -- of the value and its key, in bytes
    UNIQUE (plugin, scope_kind, scope_id, namespace, key)
) STRICT;
CREATE INDEX state_company ON state (company) WHERE company <> '';

-- What the values of one plugin come to. The triggers keep it, whoever writes.
CREATE TABLE state_usage (
    plugin TEXT PRIMARY KEY,
    keys   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER state_added AFTER INSERT ON state BEGIN
    INSERT INTO state_usage VALUES (new.plugin, 1, new.size)
    ON CONFLICT DO UPDATE SET keys = keys + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER state_changed AFTER UPDATE OF size ON state BEGIN
    UPDATE state_usage SET bytes = bytes + new.size - old.size WHERE plugin = new.plugin;
END;
CREATE TRIGGER state_removed AFTER DELETE ON state BEGIN
    UPDATE state_usage SET keys = keys - 1, bytes = bytes - old.size WHERE plugin = old.plugin;
END;

-- The highest revision is the one in force, the others are its history.
CREATE TABLE configurations (
    plugin         TEXT NOT NULL,
    company        TEXT NOT NULL,
    revision       INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    value          BLOB NOT NULL,
    at             INTEGER NOT NULL,
    UNIQUE (plugin, company, revision)
) STRICT;

CREATE TABLE plugins (
    plugin        TEXT PRIMARY KEY,
    disabled      INTEGER NOT NULL DEFAULT 0,
    crashes       INTEGER NOT NULL DEFAULT 0,
    in_a_row      INTEGER NOT NULL DEFAULT 0,
    given_up      INTEGER NOT NULL DEFAULT 0,
    last_crash    TEXT NOT NULL DEFAULT '',
    last_crash_at INTEGER NOT NULL DEFAULT 0,
    grants        TEXT -- a JSON array; NULL while nobody has decided
) STRICT;

CREATE TABLE subscriptions (
    plugin  TEXT NOT NULL,
    pattern TEXT NOT NULL,
    filters TEXT NOT NULL, -- a JSON array
    UNIQUE (plugin, pattern)
) STRICT;

CREATE TABLE job_runs (
    number       INTEGER PRIMARY KEY,
    plugin       TEXT NOT NULL,
    run          TEXT NOT NULL,
    job          TEXT NOT NULL,
    company      TEXT NOT NULL,
    started_by   TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    error        TEXT NOT NULL DEFAULT '',
    scheduled_at INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (plugin, run)
) STRICT;
CREATE INDEX job_runs_plugin ON job_runs (plugin, number);
CREATE INDEX job_runs_age ON job_runs (started_at);
CREATE INDEX job_runs_unfinished ON job_runs (outcome) WHERE outcome = 'running';

-- AUTOINCREMENT: a number is never given twice.
CREATE TABLE audit (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    plugin      TEXT NOT NULL,
    company     TEXT NOT NULL,
    action      TEXT NOT NULL,
    message     TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id   TEXT NOT NULL,
    metadata    BLOB
) STRICT;
CREATE INDEX audit_age ON audit (at);
CREATE INDEX audit_plugin ON audit (plugin, number);
CREATE INDEX audit_company ON audit (company, number);

CREATE TABLE entities (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    plugin      TEXT NOT NULL,
    company     TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    scope_kind  TEXT NOT NULL,
    scope_id    TEXT NOT NULL,
    external_id TEXT,
    title       TEXT,
    status      TEXT,
    data        BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX entities_plugin ON entities (plugin, entity_type, number);
CREATE INDEX entities_company ON entities (company) WHERE company <> '';
CREATE UNIQUE INDEX entities_external
    ON entities (plugin, entity_type, scope_kind, scope_id, external_id) WHERE external_id IS NOT NULL;
