"""The store of projects, choices and sessions."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from db import Database, Statement, Work, among, execute, fetch_first, lock
from db.database import delete_some, deleting_some
from db.statements import in_byte_order
from db.values import json_list, micros, storable, texts_of, time_of
from gateway.ports import Clock
from memory.ports.people import SessionUse, TurnStart
from memory.stores.limits import IDLE, MAX_PROJECTS, MAX_TITLE
from memory.stores.links import LINKED
from memory.stores.turn_start import arrival

NO_BRIEF: Final = -1
"""Replaces a missing time in a comparison."""

SEE: Final = Statement("""
    INSERT INTO people_projects (tenant, person, project, title, at)
    VALUES (:tenant, :person, :project, :title, :at)
    ON CONFLICT (tenant, person, project) DO UPDATE SET title = excluded.title, at = excluded.at
""")
FORGET_SURPLUS: Final = Statement("""
    DELETE FROM people_projects WHERE tenant = :tenant AND person = :person AND project IN (
        SELECT project FROM people_projects WHERE tenant = :tenant AND person = :person
        ORDER BY at DESC, project LIMIT :most OFFSET :most)
""")
UNSEE: Final = Statement("""
    DELETE FROM people_projects WHERE tenant = :tenant AND project = :project
        AND (:person = '' OR person = :person)
""")
SEEN_AS: Final = Statement(f"""
    SELECT person, at FROM people_projects
    WHERE tenant = :tenant AND {among("person", "persons")} AND project = :project
    ORDER BY {in_byte_order("person")}
""")
PROJECTS: Final = Statement(f"""
    SELECT project, title FROM (
        SELECT project, title, at,
            row_number() OVER (PARTITION BY project ORDER BY at DESC, title DESC) AS place
        FROM people_projects
        WHERE tenant = :tenant AND {among("person", "persons")} AND at > :since
    ) AS seen WHERE place = 1
    ORDER BY at DESC, {in_byte_order("project")} LIMIT {MAX_PROJECTS}
""")


def _choosing(column: str) -> Statement:
    """Return the statement that sets a choice of all linked identities, in one order, so that no
    two writers wait for each other."""
    return Statement(f"""
        INSERT INTO people_choices (tenant, person, {column})
        SELECT :tenant, one.person, :choice FROM ({LINKED}) AS one WHERE true
        ORDER BY {in_byte_order("one.person")}
        ON CONFLICT (tenant, person) DO UPDATE SET {column} = excluded.{column}
    """)


CHOOSE: Final = _choosing("project")
SHOW: Final = _choosing("shows_private")
TURN_OFF: Final = _choosing("memory_off")
SHOW_NOTES: Final = _choosing("notes")


def _list_in(column: str) -> tuple[Statement, Statement]:
    """Return the statements that read and replace a list of one identity."""
    return (
        Statement(f"""
            SELECT {column} FROM people_choices WHERE tenant = :tenant AND person = :person
        """),
        Statement(f"""
            INSERT INTO people_choices (tenant, person, {column})
            VALUES (:tenant, :person, :texts)
            ON CONFLICT (tenant, person) DO UPDATE SET {column} = excluded.{column}
        """),
    )


OFF_IN: Final = _list_in("off_in")
OFF_PLACES: Final = OFF_IN[0]
WAITING_NOTICES: Final = _list_in("waiting_notices")
USE: Final[dict[SessionUse, Statement]] = {
    "stores": Statement("""
        UPDATE memory_sessions SET stores = stores + 1 WHERE id = :id AND stores < :limit
    """),
    "supersedes": Statement("""
        UPDATE memory_sessions SET supersedes = supersedes + 1
        WHERE id = :id AND supersedes < :limit
    """),
    "deletes": Statement("""
        UPDATE memory_sessions SET deletes = deletes + 1 WHERE id = :id AND deletes < :limit
    """),
}
BRIEF: Final = Statement(f"""
    UPDATE memory_sessions SET
        brief_at = CASE WHEN coalesce(brief_at, {NO_BRIEF}) = :before THEN :at ELSE brief_at END
    WHERE id = :id RETURNING brief_at
""")
PRUNE: Final = deleting_some("memory_sessions", "id", "at <= :idle", "at")
PRUNE_SEEN: Final = deleting_some(
    "people_projects", "tenant, person, project", "at <= :before", "at"
)


class PeopleStore:
    """Projects, choices and sessions of people. Every method raises `StoreUnavailable`.

    `person` is the `str(PersonId)` of the caller; only `memory/service/people.py` uses this store.
    A choice counts for all linked identities.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def start_turn(
        self,
        tenant: str,
        person: str,
        conversation: str,
        now: datetime,
        project: str | None = None,
        here: Sequence[str] = (),
    ) -> TurnStart:
        """Read everything that a turn needs, in one step.

        `project` is the room's, or None in a direct message for the chosen one; `here` are the
        names under which memory may be off in this conversation. Begins a session after 30 minutes
        idle, and notes its use to within a minute. If memory is off, the session has no id and is
        not stored.
        """
        return await self._database.run(
            lambda: arrival(tenant, person, conversation, now, project, here)
        )

    async def note_seen(self, tenant: str, person: str, project: str, title: str) -> None:
        """Record that the person wrote in a room of this project, and may choose it."""
        params = _who(tenant, person) | {
            "project": project,
            "title": storable(title[:MAX_TITLE]),
            "at": micros(self._clock.now()),
            "most": MAX_PROJECTS,
        }

        def work() -> Work[None]:
            yield from execute(SEE, params)
            yield from execute(FORGET_SURPLUS, params)

        await self._database.run(work)

    async def forget_seen(self, tenant: str, project: str, person: str = "") -> int:
        """Record that this person, or everybody if empty, left the project; return the number."""
        return await self._database.change(UNSEE, _who(tenant, person) | {"project": project})

    async def projects(
        self, tenant: str, persons: Sequence[str], since: datetime
    ) -> list[tuple[str, str]]:
        """Return ids and titles of up to 100 projects they were seen in, the latest first."""
        params = {"tenant": tenant, "persons": list(persons), "since": micros(since)}
        return [(project, title) for project, title in await self._database.fetch(PROJECTS, params)]

    async def seen_identities(
        self, tenant: str, persons: Sequence[str], project: str
    ) -> tuple[tuple[str, datetime], ...]:
        """Return which of these identities were seen in a project, and when last."""
        params = {"tenant": tenant, "persons": list(persons), "project": project}
        return tuple(
            (person, time_of(at)) for person, at in await self._database.fetch(SEEN_AS, params)
        )

    async def choose_project(self, tenant: str, person: str, project: str) -> None:
        """Store the chosen project of direct messages, for all linked identities."""
        await self._database.change(CHOOSE, _who(tenant, person) | {"choice": project})

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None:
        """Store if rooms may use the own memories of all linked identities."""
        await self._database.change(SHOW, _who(tenant, person) | {"choice": allowed})

    async def turn_memory(self, tenant: str, person: str, on: bool) -> None:
        """Memory is on or off for all linked identities."""
        await self._database.change(TURN_OFF, _who(tenant, person) | {"choice": not on})

    async def show_notes(self, tenant: str, person: str, allowed: bool) -> None:
        """Store if notes of the assistant are shown to all linked identities."""
        await self._database.change(SHOW_NOTES, _who(tenant, person) | {"choice": allowed})

    async def turn_memory_in(
        self, tenant: str, person: str, here: str, on: bool, most: int
    ) -> bool:
        """Turn memory on or off for this person in one conversation; False if it is already off in
        `most` conversations."""
        place = storable(here)

        def changed(before: Sequence[str]) -> Sequence[str] | None:
            after = [*(one for one in before if one != place), *([] if on else [place])]
            return after if on or len(after) <= most else None

        return await self._database.run(lambda: _change_list(OFF_IN, tenant, person, changed))

    async def off_in(self, tenant: str, person: str) -> tuple[str, ...]:
        """Return the conversations in which memory is off for this person."""
        rows = await self._database.fetch(OFF_PLACES, _who(tenant, person))
        return texts_of(rows[0][0]) if rows else ()

    async def add_notices(
        self, tenant: str, person: str, entries: Sequence[str], most: int
    ) -> None:
        """Add waiting notices; of more than `most` the oldest are dropped."""

        def changed(before: Sequence[str]) -> Sequence[str]:
            return [*before, *entries][-most:]

        await self._database.run(lambda: _change_list(WAITING_NOTICES, tenant, person, changed))

    async def remove_notices(self, tenant: str, person: str, entries: Sequence[str]) -> None:
        """Remove waiting notices."""

        def changed(before: Sequence[str]) -> Sequence[str]:
            return [one for one in before if one not in entries]

        await self._database.run(lambda: _change_list(WAITING_NOTICES, tenant, person, changed))

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use atomically; False if the limit is already reached."""
        return await self._database.change(USE[what], {"id": session_id, "limit": limit}) == 1

    async def freeze_brief(
        self, session_id: str, at: datetime, before: datetime | None
    ) -> datetime:
        """Freeze the session's brief as of `at`, unless another process changed it from `before`;
        return the time that holds."""
        params = {
            "id": session_id,
            "at": micros(at),
            "before": NO_BRIEF if before is None else micros(before),
        }
        rows = await self._database.fetch(BRIEF, params)
        return time_of(rows[0][0]) if rows else at

    async def prune(self, now: datetime) -> int:
        """Delete a batch of ended sessions; return their number, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"idle": micros(now - IDLE)})

    async def prune_seen(self, before: datetime) -> int:
        """Delete a batch of visits to projects before that time; return their number."""
        return await delete_some(self._database, PRUNE_SEEN, {"before": micros(before)})


def _who(tenant: str, person: str) -> dict[str, object]:
    return {"tenant": tenant, "person": person}


def _change_list(
    statements: tuple[Statement, Statement],
    tenant: str,
    person: str,
    changed: Callable[[Sequence[str]], Sequence[str] | None],
) -> Work[bool]:
    """Replace a list by the result of `changed`; False if that is None."""
    read, put = statements
    who = _who(tenant, person)
    yield from lock(f"choices {tenant} {person}")
    row = yield from fetch_first(read, who)
    before = [] if row is None else list(texts_of(row[0]))
    after = changed(before)
    if after is not None and after != before:
        yield from execute(put, who | {"texts": json_list(after)})
    return after is not None
