"""Takes the words of deleted rows out of the pages of a full-text index in SQLite.

FTS5 only marks a deleted text until its pages are merged (its `secure-delete` would make the file
unreadable to SQLite before 3.42).
"""

from dataclasses import dataclass, field
from typing import Final

from db.statements import Statement
from db.transaction import Work, change, fetch

MERGE_PAGES: Final = 200
"""Pages of an index that one step rewrites: some milliseconds."""
_CHANGES: Final = Statement("SELECT total_changes()")


@dataclass(frozen=True, slots=True)
class Merging:
    """The merging of an FTS5 table. `upkeep` is a table with the columns `task` and `due`, whose
    row for this task a trigger sets to 1 when a text is deleted."""

    table: str
    upkeep: str
    task: str
    _due: Statement = field(init=False)
    _set_due: Statement = field(init=False)
    _merge: Statement = field(init=False)

    def __post_init__(self) -> None:
        upkeep, table = self.upkeep, self.table
        statements = {
            "_due": f"SELECT due FROM {upkeep} WHERE task = :task",  # noqa: S608 - constants of the caller
            "_set_due": f"UPDATE {upkeep} SET due = :due WHERE task = :task",  # noqa: S608 - likewise
            "_merge": f"INSERT INTO {table} ({table}, rank) VALUES ('merge', :pages)",  # noqa: S608 - likewise
        }
        for name, source in statements.items():
            object.__setattr__(self, name, Statement(source))

    def step(self) -> Work[int]:
        """Merge some pages; returns 0 when nothing is left to do."""
        ((due,),) = yield from fetch(self._due, {"task": self.task})
        if not due:
            return 0
        pages = -MERGE_PAGES if due == 1 else MERGE_PAGES  # the first step marks all for merging
        ((before,),) = yield from fetch(_CHANGES)
        yield from change(self._merge, {"pages": pages})
        ((after,),) = yield from fetch(_CHANGES)
        done = due > 1 and after - before < 2  # as SQLite documents the end of a merge
        yield from change(self._set_due, {"task": self.task, "due": 0 if done else 2})
        return 1
