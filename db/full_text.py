"""Takes the words of deleted rows out of the pages of a full-text index in SQLite.

FTS5 only marks a deleted text until its pages are merged (its `secure-delete` would make the file
unreadable to SQLite before 3.42). One deleted text leads to a merge of the whole index, so a merge
of many pages is followed by a rest.

Each merge of a whole index adds levels to the structure that FTS5 stores in its first record, and
removes none. SQLite before 3.44 takes a structure of more than 2,000 levels for a damaged file
(measured with 3.40). An insertion with which FTS5 does a merge of its own writes up to 64 pages for
each level (`fts5_index.c`): with 31 levels, an insertion took 240 ms. So empty levels are removed
here.
"""

import sqlite3
from dataclasses import dataclass, field
from typing import Final

from db.database import Database
from db.sqlite import SqliteDatabase
from db.statements import Statement
from db.transaction import Work, change, fetch

MERGE_PAGES: Final = 100
"""Pages of an index that one step rewrites: some milliseconds."""
REST: Final = 60
"""Seconds without a merge for each step of the last one beyond `FREE_STEPS`: an index of 100 MB is
merged at most every four hours."""
FREE_STEPS: Final = 20
MAX_REST: Final = 86_400
"""Seconds. A longer rest comes from a clock that was set back, and is over."""
MAX_LEVELS: Final = 16
"""Levels of an index from which the empty ones are removed. Segments of texts use up to seven."""
KEPT_LEVELS: Final = 8
"""Empty levels that stay: FTS5 merges the large segments of higher levels less often."""
_COOKIE: Final = 4
"""Bytes of the structure before its numbers."""
_SECOND_FORMAT: Final = b"\xff\x00\x00\x01"
"""Follows the cookie in the structure of tables with `contentless_delete`."""
_CHANGES: Final = Statement("SELECT total_changes()")
NOW: Final = "CAST(strftime('%s', 'now') AS integer)"
"""The second since 1970, in SQLite."""


@dataclass(frozen=True, slots=True)
class Merging:
    """The merging of an FTS5 table. `maintenance` is a table with the columns `task` and `due`,
    whose row for this task a trigger sets to 1 when a text is deleted. Two further rows have the
    number of steps of the present merge, and the second since 1970 at which the next one may
    begin."""

    table: str
    maintenance: str
    task: str
    _state: Statement = field(init=False)
    _set: Statement = field(init=False)
    _merge: Statement = field(init=False)
    _structure: str = field(init=False)
    _replace: str = field(init=False)

    def __post_init__(self) -> None:
        maintenance, table = self.maintenance, self.table
        statements = {
            "_state": f"SELECT task, due, {NOW} FROM {maintenance}",
            "_set": f"INSERT OR REPLACE INTO {maintenance} (task, due) VALUES (:task, :due)",
            "_merge": f"INSERT INTO {table} ({table}, rank) VALUES ('merge', :pages)",
        }
        for name, source in statements.items():
            object.__setattr__(self, name, Statement(source))
        read = f"SELECT block FROM {table}_data WHERE id = 10"
        object.__setattr__(self, "_structure", read)
        replace = f"UPDATE {table}_data SET block = ? WHERE id = 10"
        object.__setattr__(self, "_replace", replace)

    async def run(self, database: Database) -> int:
        """Do one step in a database; returns 0 when nothing is left to do, as in PostgreSQL."""
        if not isinstance(database, SqliteDatabase):
            return 0
        result = await database.run(self.step)
        if not result:
            await database.run_apart(self.remove_levels)
        return result

    def remove_levels(self, connection: sqlite3.Connection) -> None:
        """Remove empty levels of the index, where it has many. FTS5 reads its structure again only
        after a change by another connection."""
        ((structure,),) = connection.execute(self._structure).fetchall()
        shorter = without_empty_levels(structure)
        if shorter != structure:
            connection.execute(self._replace, (shorter,))

    def step(self) -> Work[int]:
        """Merge some pages; returns 0 when nothing is left to do now."""
        rows = yield from fetch(self._state)
        state = {str(task): int(due) for task, due, _ in rows}
        steps, now = state.get(self._steps, 0), int(rows[0][2])
        if not steps:
            if not state[self.task] or 0 < state.get(self._rest, 0) - now <= MAX_REST:
                return 0
            yield from change(self._set, {"task": self.task, "due": 0})  # until the next deletion
        ((before,),) = yield from fetch(_CHANGES)
        # The first step marks all pages for merging.
        yield from change(self._merge, {"pages": MERGE_PAGES if steps else -MERGE_PAGES})
        ((after,),) = yield from fetch(_CHANGES)
        done = steps and after - before < 2  # as SQLite documents the end of a merge
        if done:
            rest = min(MAX_REST, REST * max(0, steps - FREE_STEPS))
            yield from change(self._set, {"task": self._rest, "due": now + rest})
        yield from change(self._set, {"task": self._steps, "due": 0 if done else steps + 1})
        return 1

    @property
    def _steps(self) -> str:
        return f"{self.task}: steps"

    @property
    def _rest(self) -> str:
        return f"{self.task}: rest until"


def without_empty_levels(structure: bytes) -> bytes:
    """Return the structure of an FTS5 table without its lowest levels where these are empty, if it
    has more than `MAX_LEVELS`.

    A structure is a cookie of four bytes, the numbers of levels, segments and writes, and two
    numbers for each level, which are 0 if it is empty (`fts5_index.c` of SQLite).
    """
    if structure[_COOKIE:].startswith(_SECOND_FORMAT):
        return structure
    levels, at = _number(structure, _COOKIE)
    first, counters = at, at
    for _ in range(2):
        _, counters = _number(structure, counters)
    content = structure[counters:]
    empty = (len(content) - len(content.lstrip(b"\0"))) // 2
    removed = min(empty, levels) - KEPT_LEVELS
    if levels <= MAX_LEVELS or removed <= 0:
        return structure
    header = structure[:_COOKIE] + _encoded(levels - removed) + structure[first:counters]
    return header + content[2 * removed :]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins there, of seven bits a byte, and where it ends."""
    value = 0
    for end in range(at, min(at + 9, len(data))):
        value = value << 7 | data[end] & 0x7F
        if data[end] < 0x80:
            return value, end + 1
    raise ValueError("a structure of FTS5 ends within a number")


def _encoded(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    return bytes([0x80 | number >> 7, number & 0x7F])
