"""Files stored memories again under the words that their texts have in this version.

A change of `memory/text/terms.py` adds `AGAIN` to the steps of the schema. The memories that exist
then are read once, newest first, some at a time in the background; until it is done, an older one
is found by its former words.
"""

from typing import Final

from db import Database, Statement, either
from db.statements import FOR_UPDATE
from db.transaction import Work, execute, fetch
from db.values import texts_of
from memory.stores.partitions import PARTITIONED, ROOM_BEGINS, names_of_share
from memory.stores.rows import LEXEMES, words_of

AT_ONCE: Final = 100
"""Memories of one step: some milliseconds."""
TABLE: Final = "CREATE TABLE memory_refiling (upto bigint NOT NULL)"
AGAIN: Final = (
    "DELETE FROM memory_refiling",
    "INSERT INTO memory_refiling SELECT COALESCE(max(seq), 0) FROM memories",
)
NEXT: Final = Statement(f"""
    SELECT m.seq, m.content, m.tags, m.partitions, m.words FROM memories m
    WHERE m.seq <= (SELECT max(upto) FROM memory_refiling)
    ORDER BY m.seq DESC LIMIT {AT_ONCE} {FOR_UPDATE}
""")
DONE: Final = Statement("UPDATE memory_refiling SET upto = :upto")
REFILE: Final = Statement(f"""
    UPDATE memories SET words = :words, length = :length
        {either(sqlite="", postgres=f", lexemes = {LEXEMES}")}
    WHERE seq = :seq
""")
_SHARED: Final = f"""
    (SELECT group_concat(name.value || replace(m.words, ' ', ' ' || name.value), ' ')
        FROM {names_of_share("s")})
    FROM pool_memories s JOIN memories m ON m.seq = s.number WHERE m.seq = :seq
"""
_OWN: Final = f"{PARTITIONED.format(row='m')} FROM memories m WHERE m.seq = :seq"
OUT: Final = (
    Statement(
        f"INSERT INTO memories_text (memories_text, rowid, terms) SELECT 'delete', m.seq, {_OWN}"
    ),
    Statement(
        f"INSERT INTO shares_text (shares_text, rowid, terms) SELECT 'delete', s.seq, {_SHARED}"
    ),
)
"""Take a memory out of the indexes of SQLite, before its words change: they hold no texts."""
IN: Final = (
    Statement(f"INSERT INTO memories_text (rowid, terms) SELECT m.seq, {_OWN}"),
    Statement(f"INSERT INTO shares_text (rowid, terms) SELECT s.seq, {_SHARED}"),
    Statement(f"""
        UPDATE memory_partitions SET words = words + :more WHERE name IN (
            SELECT m.owner FROM memories m WHERE m.seq = :seq
            UNION ALL SELECT substr(m.partitions, {ROOM_BEGINS}) FROM memories m WHERE m.seq = :seq)
    """),
)


async def refile_some(database: Database) -> int:
    """File the next memories again; the number of those that were read, 0 when none is left. Raises
    `StoreUnavailable`."""
    return await database.run(lambda: _refile_some(indexed=database.engine == "sqlite"))


def _refile_some(*, indexed: bool) -> Work[int]:
    """`indexed`: the indexes of SQLite are kept here; PostgreSQL keeps its own."""
    rows = yield from fetch(NEXT)
    for seq, content, tags, partitions, words in rows:
        changed = words_of(content, texts_of(tags), partitions)
        if changed["words"] == words:
            continue
        more = len(str(changed["words"]).split()) - len(words.split())
        values = {"seq": seq, "more": more, **changed}
        for statement in (*(OUT if indexed else ()), REFILE, *(IN if indexed else ())):
            yield from execute(statement, values)
    if rows:
        yield from execute(DONE, {"upto": int(rows[-1][0]) - 1})
    return len(rows)
