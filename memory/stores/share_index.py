"""The indexes of shares, which triggers keep consistent: `pool_readers` names the readers of each
with the memberships it depends on, `shares_text` (SQLite) has its words, and `share_vectors`
(SQLite) its vectors, under each name. `pools.memories` is the number of shares in a pool.

Only memories are shared whose text never changes; an update of a share shows another memory.
"""

from typing import Final


def _names(row: str) -> str:
    return f"""json_each('["' || replace({row}.audiences, ' ', '","') || '"]') name"""


def _terms(row: str) -> str:
    return f"""(
        SELECT group_concat(name.value || replace(m.words, ' ', ' ' || name.value), ' ')
        FROM {_names(row)}
    ) FROM memories m WHERE m.seq = {row}.number"""


READERS_ADDED: Final = f"""
        INSERT INTO pool_readers SELECT name.value, new.seq FROM {_names("new")};
"""
READERS_REMOVED: Final = f"""
        DELETE FROM pool_readers
            WHERE share = old.seq AND name IN (SELECT name.value FROM {_names("old")});
"""
ADDED: Final = f"""
        INSERT INTO shares_text (rowid, terms) SELECT new.seq, {_terms("new")};
        INSERT INTO share_vectors (name, model, share, vector)
            SELECT name.value, v.model, new.seq, v.number
            FROM memory_vectors v, {_names("new")} WHERE v.memory = new.number;
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
            FROM pool_memories s, {_names("s")} WHERE s.number = new.memory;
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
            SELECT name.value, new.seq, new.member, new.writer FROM {_names("new")};
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
