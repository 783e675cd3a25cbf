"""Files memories that are there already under the words that they are found by."""

from collections.abc import Sequence
from typing import Final

from db.postgres import Connection
from memory.store.postgres.rows import LEXEMES, SELECTED, filed_values, record_from

UNFILED: Final = """
    SELECT m.id FROM memories m WHERE m.words IS NULL AND m.id <> ALL (%(passed)s::text[])
    ORDER BY m.seq DESC LIMIT %(limit)s
"""
THESE: Final = """
    SELECT m.seq FROM memories m WHERE m.words IS NULL AND m.id = ANY (%s::text[])
    FOR UPDATE SKIP LOCKED
"""
RECORDS: Final = f"""
    SELECT m.seq, {SELECTED} FROM memories m WHERE m.seq = ANY (%s::bigint[])
"""  # noqa: S608 - constants
FILE: Final = f"""
    UPDATE memories SET words = %(filed)s, length = %(length)s, lexemes = {LEXEMES}
    WHERE seq = %(seq)s
"""  # noqa: S608 - constants


async def file_again(connection: Connection, seqs: Sequence[int]) -> None:
    """File these memories, inside the caller's transaction."""
    rows = await (await connection.execute(RECORDS, (list(seqs),))).fetchall()
    for seq, *columns in rows:
        values = filed_values(record_from(tuple(columns))) | {"seq": seq}
        await connection.execute(FILE, values)


async def file_these(connection: Connection, ids: Sequence[str]) -> int:
    """File those of them that are not filed; how many."""
    async with connection.transaction():
        rows = await (await connection.execute(THESE, (list(ids),))).fetchall()
        await file_again(connection, [int(row[0]) for row in rows])
    return len(rows)
