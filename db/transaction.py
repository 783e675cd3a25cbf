"""A transaction, as a generator that yields statements and receives their results.

A store passes a *function that makes* the generator, because the work may run twice: SQLite runs a
batch again piece by piece where one piece failed, PostgreSQL runs work again on a new connection
where the first one broke, and work that it undid in a deadlock. So work does no I/O of its own,
changes no value that outlives it, and never catches an error of the database. All of it is one
transaction. It is composed with `yield from`:

    def rename(id_: str, name: str) -> Work[bool]:
        yield from lock(f"person {id_}")
        row = yield from fetch_first(FIND, {"id": id_})
        if row is None:
            return False
        yield from execute(RENAME, {"id": id_, "name": name})
        return True

    await database.run(lambda: rename(id_, name))
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from db.statements import Statement

T = TypeVar("T")
Row = tuple[Any, ...]
Params: TypeAlias = Mapping[str, object]


class Fetch(NamedTuple):
    """Gives all rows of a statement."""

    statement: Statement
    params: Params
    """Values by the names of the statement."""


class Change(NamedTuple):
    """Gives the number of rows that a statement changed."""

    statement: Statement
    params: Params
    """Values by the names of the statement."""


class ChangeMany(NamedTuple):
    """Runs a statement once for each item; gives the number of rows changed by all of them."""

    statement: Statement
    items: Sequence[Params]
    """Values of each run."""


class Execute(NamedTuple):
    """Gives None, before PostgreSQL has answered: an error ends the work later."""

    statement: Statement
    items: Sequence[Params]
    """Values of each run."""


class Lock(NamedTuple):
    """Waits until no other transaction holds one of these locks; gives None.

    The locks are held until the transaction ends. SQLite has one writer at a time and needs none.
    Work takes all its locks at once, before anything else, so that no two pieces of work wait for
    each other. The exception is a lock that all work takes as its last step before the commit: who
    holds it waits for nothing.
    """

    names: tuple[str, ...]


Single: TypeAlias = Fetch | Change | ChangeMany | Execute


class Together(NamedTuple):
    """Runs statements that do not need each other's results, in one round trip; gives a list.

    `last` ends the transaction in the same round trip: the work must return after it.
    """

    steps: tuple[Single, ...]
    last: bool


Step: TypeAlias = Single | Lock | Together
Work: TypeAlias = Generator[Step, Any, T]

NO_PARAMS: Final[Params] = {}


def fetch(statement: Statement, params: Params = NO_PARAMS) -> Work[list[Row]]:
    """Return all rows of a statement."""
    rows: list[Row] = yield Fetch(statement, params)
    return rows


def fetch_first(statement: Statement, params: Params = NO_PARAMS) -> Work[Row | None]:
    """Return the first row of a statement, None if it has none."""
    rows: list[Row] = yield Fetch(statement, params)
    return rows[0] if rows else None


def change(statement: Statement, params: Params = NO_PARAMS) -> Work[int]:
    """Run a statement; return the number of changed rows."""
    count: int = yield Change(statement, params)
    return count


def execute(statement: Statement, *items: Params) -> Work[None]:
    """Run a statement once for each item. Nothing is waited for: use it where no result is
    needed."""
    yield Execute(statement, items)


def lock(*names: str) -> Work[None]:
    """Wait until no other transaction holds one of these locks, and hold them until the end."""
    yield Lock(names)


def together(*steps: Single, last: bool = False) -> Work[list[Any]]:
    """Return the results of independent statements, in order."""
    results: list[Any] = yield Together(steps, last)
    return results
