"""The tables of agents, their sessions, pools, handoffs and events.

A share is readable while two memberships exist: that of the agent that shared it
(`pool_memories.member`) and that of the agent that wrote its present text (`writer`). So leaving a
pool takes effect at once. `pool_members_left` has the ended memberships whose shares the
housekeeping deletes. `pool_memories.memory` is the id under which a memory was shared, `number` the
stored memory with the present text; the deletion of either deletes the share (`memory/schema.py`).
`audiences` are the names of its readers (`memory/stores/shared_memories.py`), and `pool_readers`
has a row for each of them. `pool_invitations` has the invitations that wait, and others until the
pool may invite the agent again (`rests_until`).

Triggers keep the indexes of shares consistent: `pool_readers` names the readers of each with the
memberships it depends on, `shares_text` (SQLite) has its words, and `share_vectors` (SQLite) its
vectors, under each name. `pools.memories` is the number of shares in a pool. Only memories are
shared whose text never changes; an update of a share shows another memory.
"""

from typing import Final

from db.statements import BY_KEY, NUMBERED, either
from memory.stores.partitions import names_of_share

AGENTS: Final = (
    f"""CREATE TABLE agents (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, type text NOT NULL,
        capabilities text NOT NULL, registered_at bigint NOT NULL, name text NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX agents_person ON agents (tenant, person, registered_at)",
    f"""CREATE TABLE agent_sessions (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, agent text NOT NULL,
        started_at bigint NOT NULL, at bigint NOT NULL, ended_at bigint
    ) {BY_KEY}""",
    "CREATE INDEX agent_sessions_agent ON agent_sessions (agent)",
    "CREATE INDEX agent_sessions_person ON agent_sessions (tenant, person)",
    "CREATE INDEX agent_sessions_at ON agent_sessions (at) WHERE ended_at IS NULL",
    "CREATE INDEX agent_sessions_ended ON agent_sessions (ended_at) WHERE ended_at IS NOT NULL",
    f"""CREATE TABLE pools (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, name text NOT NULL,
        scope integer NOT NULL CHECK (scope BETWEEN 0 AND 4), project text NOT NULL,
        created_at bigint NOT NULL, memories integer NOT NULL DEFAULT 0
    ) {BY_KEY}""",
    "CREATE INDEX pools_person ON pools (tenant, person)",
    f"""CREATE TABLE pool_members (
        seq {NUMBERED}, pool text NOT NULL, agent text NOT NULL, tenant text NOT NULL,
        person text NOT NULL, permission text NOT NULL CHECK (permission IN ('read', 'write')),
        granted boolean NOT NULL, joined_at bigint NOT NULL, UNIQUE (pool, agent)
    )""",
    "CREATE INDEX pool_members_agent ON pool_members (agent)",
    "CREATE INDEX pool_members_person ON pool_members (tenant, person)",
    f"""CREATE TABLE pool_memories (
        seq {NUMBERED}, pool text NOT NULL, memory text NOT NULL, number bigint NOT NULL,
        tenant text NOT NULL, person text NOT NULL, agent text NOT NULL, member bigint NOT NULL,
        writer bigint NOT NULL, scope integer NOT NULL CHECK (scope BETWEEN 0 AND 4),
        project text NOT NULL, shared_at bigint NOT NULL, version integer NOT NULL,
        audiences text NOT NULL, UNIQUE (pool, memory)
    )""",
    f"""CREATE TABLE pool_readers (
        name text NOT NULL, share bigint NOT NULL, PRIMARY KEY (name, share)
    ) {BY_KEY}""",
    f"""CREATE TABLE pool_members_left (
        seq bigint PRIMARY KEY, pool text NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX pool_members_left_pool ON pool_members_left (pool)",
    "CREATE INDEX pool_memories_member ON pool_memories (member)",
    "CREATE INDEX pool_memories_writer ON pool_memories (writer)",
    "CREATE INDEX pool_memories_number ON pool_memories (number)",
    "CREATE INDEX pool_memories_memory ON pool_memories (memory)",
    "CREATE INDEX pool_memories_person ON pool_memories (tenant, person)",
)
HANDOFFS: Final = (
    """CREATE TABLE agent_handoffs (
        id text PRIMARY KEY, tenant text NOT NULL, source text NOT NULL,
        source_owner text NOT NULL, source_name text NOT NULL, target text NOT NULL,
        target_person text NOT NULL, target_owner text NOT NULL, context text NOT NULL,
        status text NOT NULL CHECK (
            status IN ('pending', 'accepted', 'completed', 'rejected', 'expired')),
        created_at bigint NOT NULL, until bigint NOT NULL, ttl_seconds integer NOT NULL,
        ended_at bigint, result text, reason text NOT NULL, notified boolean NOT NULL
    )""",
    "CREATE INDEX agent_handoffs_created ON agent_handoffs (created_at)",
    "CREATE INDEX agent_handoffs_source ON agent_handoffs (source, created_at)",
    "CREATE INDEX agent_handoffs_owner ON agent_handoffs (tenant, source_owner, created_at)",
    "CREATE INDEX agent_handoffs_target ON agent_handoffs (tenant, target_owner, created_at)",
    """CREATE INDEX agent_handoffs_open_agent ON agent_handoffs (target, until)
        WHERE status IN ('pending', 'accepted') AND target <> ''""",
    """CREATE INDEX agent_handoffs_open_person ON agent_handoffs (tenant, target_person, until)
        WHERE status IN ('pending', 'accepted') AND target_person <> ''""",
    """CREATE INDEX agent_handoffs_until ON agent_handoffs (until)
        WHERE status IN ('pending', 'accepted')""",
    """CREATE INDEX agent_handoffs_unnotified ON agent_handoffs (created_at)
        WHERE status = 'pending' AND target_person <> '' AND NOT notified""",
    "CREATE INDEX agent_handoffs_ended ON agent_handoffs (ended_at) WHERE ended_at IS NOT NULL",
    f"""CREATE TABLE people_direct_places (
        tenant text NOT NULL, person text NOT NULL, place text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX people_direct_places_at ON people_direct_places (at)",
)
EVENTS: Final = (
    f"""CREATE TABLE agent_events (
        number {NUMBERED}, tenant text NOT NULL, at bigint NOT NULL, kind text NOT NULL,
        agent text NOT NULL, pool text NOT NULL, handoff text NOT NULL, memory text NOT NULL,
        person text NOT NULL, other text NOT NULL
    )""",
    f"""CREATE TABLE agent_webhooks (
        name text PRIMARY KEY, number bigint NOT NULL, attempts integer NOT NULL,
        dead integer NOT NULL, error text NOT NULL, due bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX agent_events_at ON agent_events (at)",
    "CREATE INDEX agent_events_person ON agent_events (tenant, person)",
    "CREATE INDEX agent_events_other ON agent_events (tenant, other) WHERE other <> ''",
)
NOW: Final = either(
    sqlite="CAST(strftime('%s', 'now') AS integer) * 1000000",
    postgres="CAST(extract(epoch FROM now()) * 1000000 AS bigint)",
)
NEW_ID: Final = either(
    sqlite="lower(hex(randomblob(16)))",
    postgres="replace(CAST(gen_random_uuid() AS text), '-', '')",
)
UNASKED: Final = """
    FROM pool_members r JOIN pools p ON p.id = r.pool
    WHERE r.granted AND r.person <> p.person
        AND NOT EXISTS (SELECT 1 FROM people_links one JOIN people_links other
            ON other.tenant = one.tenant AND other.link_group = one.link_group
            WHERE one.tenant = p.tenant AND one.person = p.person AND other.person = r.person)
        AND NOT EXISTS (SELECT 1 FROM pool_memories s WHERE s.member = r.seq)
        AND NOT EXISTS (SELECT 1 FROM pool_memories s WHERE s.writer = r.seq)
"""
"""The memberships that the owner of a pool gave to an agent of somebody else, and of which this
person made no use: they shared nothing there."""
MONTH: Final = 30 * 86_400 * 1_000_000
INVITATIONS: Final = (
    f"""CREATE TABLE pool_invitations (
        id text PRIMARY KEY, tenant text NOT NULL, pool text NOT NULL, agent text NOT NULL,
        person text NOT NULL, inviter text NOT NULL,
        permission text NOT NULL CHECK (permission IN ('read', 'write')),
        state text NOT NULL CHECK (state IN ('waiting', 'declined', 'withdrawn')),
        made_at bigint NOT NULL, until bigint NOT NULL, rests_until bigint NOT NULL,
        notified boolean NOT NULL, UNIQUE (pool, agent)
    ) {BY_KEY}""",
    "CREATE INDEX pool_invitations_agent ON pool_invitations (agent)",
    "CREATE INDEX pool_invitations_person ON pool_invitations (tenant, person, made_at)",
    "CREATE INDEX pool_invitations_inviter ON pool_invitations (tenant, inviter, made_at)",
    "CREATE INDEX pool_invitations_rests ON pool_invitations (rests_until)",
    """CREATE INDEX pool_invitations_unnotified ON pool_invitations (made_at)
        WHERE state = 'waiting' AND NOT notified""",
    f"""INSERT INTO pool_invitations (id, tenant, pool, agent, person, inviter, permission, state,
            made_at, until, rests_until, notified)
        SELECT {NEW_ID}, r.tenant, r.pool, r.agent, r.person, p.person, r.permission, 'waiting',
            {NOW}, {NOW} + {MONTH}, {NOW} + {MONTH}, true {UNASKED}""",
    f"DELETE FROM pool_members WHERE seq IN (SELECT r.seq {UNASKED})",
)
"""A later step. Memberships that nobody agreed to become invitations, without a message."""
TABLES: Final = (*AGENTS, *HANDOFFS, *EVENTS)


def _terms(row: str) -> str:
    return f"""(
        SELECT group_concat(name.value || replace(m.words, ' ', ' ' || name.value), ' ')
        FROM {names_of_share(row)}
    ) FROM memories m WHERE m.seq = {row}.number"""


READERS_ADDED: Final = f"""
        INSERT INTO pool_readers SELECT name.value, new.seq FROM {names_of_share("new")};
"""
READERS_REMOVED: Final = f"""
        DELETE FROM pool_readers
            WHERE share = old.seq AND name IN (SELECT name.value FROM {names_of_share("old")});
"""
ADDED: Final = f"""
        INSERT INTO shares_text (rowid, terms) SELECT new.seq, {_terms("new")};
        INSERT INTO share_vectors (name, model, share, vector)
            SELECT name.value, v.model, new.seq, v.number
            FROM memory_vectors v, {names_of_share("new")} WHERE v.memory = new.number;
"""
REMOVED: Final = f"""
        INSERT INTO shares_text (shares_text, rowid, terms)
            SELECT 'delete', old.seq, {_terms("old")};
        DELETE FROM share_vectors WHERE share = old.seq;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge shares' AND NOT due;
"""
SQLITE_SHARES: Final = (
    """CREATE TABLE share_vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, name text NOT NULL, model text NOT NULL,
        share integer NOT NULL, vector integer NOT NULL
    )""",
    "CREATE INDEX share_vectors_name ON share_vectors (name, model, number)",
    "CREATE INDEX share_vectors_share ON share_vectors (share)",
    "CREATE INDEX share_vectors_vector ON share_vectors (vector)",
    """CREATE VIRTUAL TABLE shares_text USING fts5(
        terms, content = '', columnsize = 0, detail = none,
        tokenize = "ascii tokenchars '-_./:@+#~='"
    )""",
    f"""CREATE TRIGGER shares_added AFTER INSERT ON pool_memories BEGIN
        {READERS_ADDED} {ADDED}
        UPDATE pools SET memories = memories + 1 WHERE id = new.pool;
    END""",
    f"""CREATE TRIGGER shares_deleted AFTER DELETE ON pool_memories BEGIN
        {READERS_REMOVED} {REMOVED}
        UPDATE pools SET memories = memories - 1 WHERE id = old.pool;
    END""",
    f"""CREATE TRIGGER shares_changed AFTER UPDATE OF number, audiences ON pool_memories BEGIN
        {READERS_REMOVED} {READERS_ADDED} {REMOVED} {ADDED}
    END""",
    """CREATE TRIGGER members_left AFTER DELETE ON pool_members BEGIN
        INSERT INTO pool_members_left VALUES (old.seq, old.pool);
    END""",
    # Before the memory goes: its words are taken out of the index.
    """CREATE TRIGGER memories_unshared BEFORE DELETE ON memories BEGIN
        DELETE FROM pool_memories WHERE number = old.seq OR memory = old.id;
    END""",
    f"""CREATE TRIGGER share_vectors_set AFTER INSERT ON memory_vectors BEGIN
        DELETE FROM share_vectors
            WHERE share IN (SELECT seq FROM pool_memories WHERE number = new.memory);
        INSERT INTO share_vectors (name, model, share, vector)
            SELECT name.value, new.model, s.seq, new.number
            FROM pool_memories s, {names_of_share("s")} WHERE s.number = new.memory;
    END""",
    """CREATE TRIGGER share_vectors_gone AFTER DELETE ON memory_vectors BEGIN
        DELETE FROM share_vectors WHERE vector = old.number;
    END""",
)
POSTGRES_SHARES: Final = (
    """CREATE FUNCTION members_left() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO pool_members_left VALUES (old.seq, old.pool);
        RETURN NULL; END $$""",
    """CREATE TRIGGER members_left AFTER DELETE ON pool_members
        FOR EACH ROW EXECUTE FUNCTION members_left()""",
    """CREATE FUNCTION shares_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM pool_readers
            WHERE share = old.seq AND name = ANY (string_to_array(old.audiences, ' '));
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO pool_readers
            SELECT name, new.seq FROM unnest(string_to_array(new.audiences, ' ')) AS name;
        END IF;
        IF TG_OP = 'INSERT' THEN
            UPDATE pools SET memories = memories + 1 WHERE id = new.pool;
        ELSIF TG_OP = 'DELETE' THEN
            UPDATE pools SET memories = memories - 1 WHERE id = old.pool;
        END IF;
        RETURN NULL; END $$""",
    """CREATE TRIGGER shares_changed AFTER INSERT OR DELETE OR UPDATE OF audiences
        ON pool_memories FOR EACH ROW EXECUTE FUNCTION shares_changed()""",
)
READERS_OF_SHARERS_ADDED: Final = f"""
        INSERT INTO pool_readers (name, share, member, writer)
            SELECT name.value, new.seq, new.member, new.writer FROM {names_of_share("new")};
"""
SHARERS: Final = (
    "ALTER TABLE pool_readers ADD COLUMN member bigint NOT NULL DEFAULT 0",
    "ALTER TABLE pool_readers ADD COLUMN writer bigint NOT NULL DEFAULT 0",
    """UPDATE pool_readers SET member = s.member, writer = s.writer
        FROM pool_memories s WHERE s.seq = pool_readers.share""",
    "CREATE INDEX pool_readers_sharer ON pool_readers (name, member, writer, share)",
)
"""The memberships of a share, by which a query finds the shares of present members."""
SQLITE_SHARERS: Final = (
    "DROP TRIGGER shares_added",
    f"""CREATE TRIGGER shares_added AFTER INSERT ON pool_memories BEGIN
        {READERS_OF_SHARERS_ADDED} {ADDED}
        UPDATE pools SET memories = memories + 1 WHERE id = new.pool;
    END""",
    "DROP TRIGGER shares_changed",
    f"""CREATE TRIGGER shares_changed
        AFTER UPDATE OF number, audiences, member, writer ON pool_memories BEGIN
        {READERS_REMOVED} {READERS_OF_SHARERS_ADDED} {REMOVED} {ADDED}
    END""",
)
POSTGRES_SHARERS: Final = (
    """CREATE OR REPLACE FUNCTION shares_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM pool_readers
            WHERE share = old.seq AND name = ANY (string_to_array(old.audiences, ' '));
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO pool_readers (name, share, member, writer)
            SELECT name, new.seq, new.member, new.writer
            FROM unnest(string_to_array(new.audiences, ' ')) AS name;
        END IF;
        IF TG_OP = 'INSERT' THEN
            UPDATE pools SET memories = memories + 1 WHERE id = new.pool;
        ELSIF TG_OP = 'DELETE' THEN
            UPDATE pools SET memories = memories - 1 WHERE id = old.pool;
        END IF;
        RETURN NULL; END $$""",
    "DROP TRIGGER shares_changed ON pool_memories",
    """CREATE TRIGGER shares_changed
        AFTER INSERT OR DELETE OR UPDATE OF audiences, member, writer
        ON pool_memories FOR EACH ROW EXECUTE FUNCTION shares_changed()""",
)
