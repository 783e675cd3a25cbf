"""What happened to memory. Rows are added, never changed; nothing of memory's tables is referred
to, so that what is deleted there leaves its entry here."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE memory_audit (
        number INTEGER PRIMARY KEY, at REAL NOT NULL, action TEXT NOT NULL, tenant TEXT NOT NULL,
        person TEXT NOT NULL, details TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL
    );
    CREATE TRIGGER memory_audit_kept BEFORE DELETE ON memory_audit BEGIN
        SELECT raise(ABORT, 'the audit is only added to');
        END;
    CREATE TRIGGER memory_audit_unchanged BEFORE UPDATE ON memory_audit BEGIN
        SELECT raise(ABORT, 'the audit is only added to');
        END;
"""

POSTGRES: Final = """
    CREATE TABLE memory_audit (
        number bigint PRIMARY KEY, at double precision NOT NULL, action text NOT NULL,
        tenant text NOT NULL, person text NOT NULL, details text NOT NULL,
        previous text NOT NULL, hash text NOT NULL
    );
    CREATE FUNCTION memory_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'the audit is only added to'; END $$;
    CREATE TRIGGER memory_audit_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON memory_audit
        FOR EACH STATEMENT EXECUTE FUNCTION memory_audit_kept();
"""

STEP: Final = Migration(8, "the audit of memory", SQLITE, POSTGRES)
