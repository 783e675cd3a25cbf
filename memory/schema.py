"""The tables of memory.

`memory_words` files a memory under some of its words, for duplicates; `memory_origins` under the
messages it was derived from. Triggers keep both, the full-text index and the vectors consistent
with `memories`, whose `words` are what `memory/text/terms.py` makes of a text. The table of
vectors in PostgreSQL is made where the extension `vector` exists
(`memory/stores/postgres/vector_search.py`).
"""

from typing import Final

from db.migrations import Schema
from db.statements import BY_KEY, NUMBERED, either
from memory.agents.schema import (
    INVITATIONS,
    POSTGRES_SHARERS,
    POSTGRES_SHARES,
    SHARERS,
    SQLITE_SHARERS,
    SQLITE_SHARES,
)
from memory.agents.schema import TABLES as AGENTS
from memory.knowledge.long_documents import schema as long_documents
from memory.stores import api_tokens, conflicts, refiling
from memory.stores.partitions import PARTITIONED, ROOM_BEGINS

RECORDS: Final = (
    f"""CREATE TABLE memories (
        seq {NUMBERED}, id text NOT NULL UNIQUE, tenant text NOT NULL,
        scope text NOT NULL CHECK (scope IN ('user', 'project', 'global')),
        tier text NOT NULL CHECK (tier IN ('working', 'episodic', 'semantic')),
        kind text NOT NULL, behavioral boolean NOT NULL, content text NOT NULL,
        project text NOT NULL, tags text NOT NULL, role text NOT NULL, person text NOT NULL,
        source text NOT NULL, trust text NOT NULL, at bigint NOT NULL, session text NOT NULL,
        message_id text NOT NULL, tool text NOT NULL, conversation text NOT NULL,
        room text NOT NULL, channel text NOT NULL, audience text NOT NULL,
        external boolean NOT NULL, claim text NOT NULL, captured_at bigint NOT NULL,
        confidence double precision NOT NULL, source_id text NOT NULL, valid_until bigint,
        true_from bigint, true_until bigint, expires_at bigint, supersedes text NOT NULL,
        superseded_by text NOT NULL, superseded_at bigint, confirmed boolean NOT NULL,
        derived_from text NOT NULL, agent text NOT NULL, agent_private boolean NOT NULL,
        owner text NOT NULL, partitions text NOT NULL,
        words text NOT NULL, length integer NOT NULL
        {either(sqlite="", postgres=", lexemes tsvector NOT NULL")}
    )""",
    "CREATE INDEX memories_person ON memories (tenant, person, at)",
    "CREATE INDEX memories_room ON memories (tenant, room, at) WHERE room <> ''",
    "CREATE INDEX memories_owner ON memories (owner, at)",
    "CREATE INDEX memories_agent ON memories (agent, at) WHERE agent <> ''",
    "CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL",
    "CREATE INDEX memories_superseded ON memories (superseded_at) WHERE superseded_at IS NOT NULL",
    """CREATE INDEX memories_conversation ON memories (tenant, conversation, at, seq)
        WHERE role <> ''""",
    f"""CREATE TABLE memory_words (
        word bigint NOT NULL, size integer NOT NULL, memory bigint NOT NULL,
        PRIMARY KEY (word, size, memory)
    ) {BY_KEY}""",
    "CREATE INDEX memory_words_memory ON memory_words (memory)",
    f"""CREATE TABLE memory_origins (
        origin text NOT NULL, memory bigint NOT NULL, PRIMARY KEY (origin, memory)
    ) {BY_KEY}""",
    "CREATE INDEX memory_origins_memory ON memory_origins (memory)",
)
ADDED: Final = f"""
        INSERT INTO memories_text (rowid, terms) VALUES (new.seq, {PARTITIONED.format(row="new")});
        INSERT INTO memory_partitions
            SELECT name, 1, new.length
            FROM (SELECT new.owner AS name UNION ALL SELECT substr(new.partitions, {ROOM_BEGINS}))
            WHERE name <> ''
            ON CONFLICT (name) DO UPDATE
                SET memories = memories + 1, words = words + excluded.words;
"""
REMOVED: Final = f"""
        INSERT INTO memories_text (memories_text, rowid, terms)
            VALUES ('delete', old.seq, {PARTITIONED.format(row="old")});
        UPDATE memory_partitions SET memories = memories - 1, words = words - old.length
            WHERE name IN (old.owner, substr(old.partitions, {ROOM_BEGINS}));
        DELETE FROM memory_partitions
            WHERE name IN (old.owner, substr(old.partitions, {ROOM_BEGINS})) AND memories <= 0;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge' AND NOT due;
"""
SQLITE_INDEX: Final = (
    "CREATE TABLE memory_upkeep (task text PRIMARY KEY, due integer NOT NULL) WITHOUT ROWID",
    "INSERT INTO memory_upkeep VALUES ('merge', 0), ('merge shares', 0)",
    """CREATE TABLE memory_partitions (
        name text PRIMARY KEY, memories integer NOT NULL, words integer NOT NULL
    ) WITHOUT ROWID""",
    # A vector that is set again gets a new number, so that a matrix in memory sees what is new.
    """CREATE TABLE memory_vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, memory integer NOT NULL UNIQUE,
        model text NOT NULL, dimension integer NOT NULL, owner text NOT NULL, room text NOT NULL,
        vector blob NOT NULL
    )""",
    "CREATE INDEX memory_vectors_owner ON memory_vectors (owner, model, number)",
    "CREATE INDEX memory_vectors_model ON memory_vectors (memory, model)",
    "CREATE INDEX memory_vectors_room ON memory_vectors (room, model, number) WHERE room <> ''",
    # The index holds neither texts nor positions, and every term with its partition in front.
    """CREATE VIRTUAL TABLE memories_text USING fts5(
        terms, content = '', columnsize = 0, detail = none,
        tokenize = "ascii tokenchars '-_./:@+#~='"
    )""",
    f"CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN {ADDED} END",
    f"""CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN {REMOVED}
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_origins WHERE memory = old.seq;
        DELETE FROM memory_vectors WHERE memory = old.seq;
    END""",
    f"""CREATE TRIGGER memories_reworded AFTER UPDATE OF content ON memories BEGIN {REMOVED} {ADDED}
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_vectors WHERE memory = old.seq;
    END""",
)
POSTGRES_INDEX: Final = (
    "CREATE INDEX memories_text ON memories USING gin (lexemes) WITH (fastupdate = off)",
    """CREATE FUNCTION memories_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_origins WHERE memory = old.seq;
        DELETE FROM pool_memories WHERE number = old.seq OR memory = old.id;
        IF to_regclass('memory_vectors') IS NOT NULL THEN
            DELETE FROM memory_vectors WHERE memory = old.seq;
        END IF;
        RETURN old; END $$""",
    """CREATE TRIGGER memories_deleted AFTER DELETE ON memories
        FOR EACH ROW EXECUTE FUNCTION memories_deleted()""",
    """CREATE FUNCTION memories_reworded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM memory_words WHERE memory = old.seq;
        IF to_regclass('memory_vectors') IS NOT NULL THEN
            DELETE FROM memory_vectors WHERE memory = old.seq;
        END IF;
        RETURN new; END $$""",
    """CREATE TRIGGER memories_reworded AFTER UPDATE OF content ON memories
        FOR EACH ROW EXECUTE FUNCTION memories_reworded()""",
)
PEOPLE: Final = (
    f"""CREATE TABLE people_links (
        tenant text NOT NULL, person text NOT NULL, link_group text NOT NULL,
        name text NOT NULL DEFAULT '', place text NOT NULL DEFAULT '', since bigint,
        PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX people_links_group ON people_links (tenant, link_group)",
    f"""CREATE TABLE link_requests (
        tenant text NOT NULL, maker text NOT NULL, code text NOT NULL, id text NOT NULL,
        state text NOT NULL CHECK (state IN ('offered', 'redeemed', 'confirmed', 'linked')),
        redeemer text NOT NULL, sides text NOT NULL, until bigint NOT NULL, turn_id text NOT NULL,
        PRIMARY KEY (tenant, maker)
    ) {BY_KEY}""",
    "CREATE INDEX link_requests_code ON link_requests (tenant, code)",
    "CREATE INDEX link_requests_redeemer ON link_requests (tenant, redeemer)",
    "CREATE INDEX link_requests_until ON link_requests (until)",
    f"""CREATE TABLE people_projects (
        tenant text NOT NULL, person text NOT NULL, project text NOT NULL, title text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (tenant, person, project)
    ) {BY_KEY}""",
    "CREATE INDEX people_projects_project ON people_projects (tenant, project)",
    "CREATE INDEX people_projects_at ON people_projects (at)",
    f"""CREATE TABLE people_choices (
        tenant text NOT NULL, person text NOT NULL, project text NOT NULL DEFAULT '',
        shows_private boolean NOT NULL DEFAULT false, memory_off boolean NOT NULL DEFAULT false,
        notes boolean, off_in text NOT NULL DEFAULT '[]',
        waiting_notices text NOT NULL DEFAULT '[]', PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    f"""CREATE TABLE person_tokens (
        id text PRIMARY KEY, name text NOT NULL UNIQUE, tenant text NOT NULL, person text NOT NULL,
        issued_at bigint NOT NULL, until bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX person_tokens_person ON person_tokens (tenant, person)",
    "CREATE INDEX person_tokens_until ON person_tokens (until)",
    f"""CREATE TABLE memory_sessions (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL,
        conversation text NOT NULL, at bigint NOT NULL, stores integer NOT NULL DEFAULT 0,
        supersedes integer NOT NULL DEFAULT 0, deletes integer NOT NULL DEFAULT 0, brief_at bigint,
        UNIQUE (tenant, person, conversation)
    ) {BY_KEY}""",
    "CREATE INDEX memory_sessions_at ON memory_sessions (at)",
    f"""CREATE TABLE room_bindings (
        tenant text NOT NULL, channel text NOT NULL, project text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, channel)
    ) {BY_KEY}""",
)
DOCUMENTS: Final = (
    f"""CREATE TABLE memory_reviews (
        seq {NUMBERED}, id text NOT NULL UNIQUE, tenant text NOT NULL, person text NOT NULL,
        scope text NOT NULL, project text NOT NULL, room text NOT NULL, target text NOT NULL,
        state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected')),
        record text NOT NULL, reason text NOT NULL, passed text NOT NULL,
        failed text NOT NULL, submitted_at bigint NOT NULL, decided_at bigint, note text NOT NULL
    )""",
    """CREATE INDEX memory_reviews_waiting ON memory_reviews (tenant, person)
        WHERE state = 'pending'""",
    """CREATE INDEX memory_reviews_decided ON memory_reviews (decided_at)
        WHERE decided_at IS NOT NULL""",
    f"""CREATE TABLE brain_documents (
        tenant text NOT NULL, document text NOT NULL, owner text NOT NULL,
        number integer NOT NULL, content text NOT NULL, author text NOT NULL, at bigint NOT NULL,
        synced_at bigint, PRIMARY KEY (tenant, document, owner, number)
    ) {BY_KEY}""",
)
AUDIT: Final = (
    """CREATE TABLE memory_audit (
        number bigint PRIMARY KEY, at bigint NOT NULL, action text NOT NULL,
        tenant text NOT NULL, person text NOT NULL, details text NOT NULL,
        previous text NOT NULL, hash text NOT NULL
    )""",
    either(
        sqlite="""CREATE TRIGGER memory_audit_kept BEFORE DELETE ON memory_audit BEGIN
            SELECT raise(ABORT, 'the audit is only added to');
        END""",
        postgres="""CREATE FUNCTION memory_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'the audit is only added to'; END $$""",
    ),
    either(
        sqlite="""CREATE TRIGGER memory_audit_unchanged BEFORE UPDATE ON memory_audit BEGIN
            SELECT raise(ABORT, 'the audit is only added to');
        END""",
        postgres="""CREATE TRIGGER memory_audit_kept
            BEFORE DELETE OR UPDATE OR TRUNCATE ON memory_audit
            FOR EACH STATEMENT EXECUTE FUNCTION memory_audit_kept()""",
    ),
)
REPOSITORY_TEXT: Final = tuple(
    f"ALTER TABLE {table} ADD COLUMN from_repository boolean NOT NULL DEFAULT false"
    for table in ("memories", "memory_reviews")
)
"""True for what may be text of a private repository."""
REVIEWERS: Final = ("ALTER TABLE memory_reviews ADD COLUMN decided_by text NOT NULL DEFAULT ''",)
"""The person who decided an entry of the review queue; empty while it waits, and for entries that
were decided earlier."""
LIKENESS: Final = ("ALTER TABLE memory_reviews ADD COLUMN likeness text NOT NULL DEFAULT ''",)
"""Keyed hashes of the words of a rejected entry; empty for others."""
EVIDENCE: Final = ("ALTER TABLE memories ADD COLUMN evidence_fields text NOT NULL DEFAULT ''",)
"""Further fields of the evidence as a JSON object; empty for none."""
SCHEMA: Final = Schema(
    "memory",
    (
        (
            *RECORDS,
            *AGENTS,
            *(either(sqlite=one, postgres="") for one in (*SQLITE_INDEX, *SQLITE_SHARES)),
            *(either(sqlite="", postgres=one) for one in (*POSTGRES_INDEX, *POSTGRES_SHARES)),
            *PEOPLE,
            *DOCUMENTS,
            *AUDIT,
        ),
        REPOSITORY_TEXT,
        (
            *SHARERS,
            *(either(sqlite=one, postgres="") for one in SQLITE_SHARERS),
            *(either(sqlite="", postgres=one) for one in POSTGRES_SHARERS),
        ),
        REVIEWERS,
        EVIDENCE,
        INVITATIONS,
        api_tokens.LATER,
        api_tokens.OF_AGENTS,
        conflicts.TABLES,
        (refiling.MEMORIES.table, *refiling.MEMORIES.again),
        LIKENESS,
        long_documents.TABLES,
    ),
)
