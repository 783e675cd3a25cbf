"""Files stored memories again under the words that their texts have in this version.

A change of `memory/text/terms.py` adds `MEMORIES.again` to the steps of the schema. Until it is
done, an older memory is found by its former words. The keys for duplicates are made of other words,
of `memory/text/similarity.py`.
"""

from collections.abc import Sequence
from typing import Final

from db import Database, Row, Statement, Work, either, execute
from db.refiling import Refiling
from db.values import texts_of
from memory.stores.partitions import PARTITIONED, ROOM_BEGINS, names_of_share
from memory.stores.rows import LEXEMES, words_of

AT_ONCE: Final = 20
"""Memories of one step: the longest ones take 3 ms each."""
MEMORIES: Final = Refiling(
    "memory_refiling", "memories", "seq", "m.content, m.tags, m.partitions, m.words"
)
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
    # The indexes of SQLite are kept here; PostgreSQL keeps its own.
    indexed = database.engine == "sqlite"
    return await database.run(lambda: MEMORIES.step(lambda rows: _refile(rows, indexed), AT_ONCE))


def _refile(rows: Sequence[Row], indexed: bool) -> Work[None]:
    for seq, content, tags, partitions, words in rows:
        changed = words_of(content, texts_of(tags), partitions)
        if changed["words"] == words:
            continue
        more = len(str(changed["words"]).split()) - len(words.split())
        values = {"seq": seq, "more": more, **changed}
        for statement in (*(OUT if indexed else ()), REFILE, *(IN if indexed else ())):
            yield from execute(statement, values)
