"""Chosen projects, choices and sessions in SQLite."""

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gateway.ports import Clock
from memory.scope import Reach
from memory.store.limits import IDLE, MAX_PROJECTS, MAX_TITLE, NOTED
from memory.store.ports import Arrival, Self, Session, SessionUse
from memory.store.rows import storable
from memory.store.shelves import owners_within
from memory.store.sqlite.brain import newest
from memory.store.sqlite.engine import SqliteEngine
from memory.store.sqlite.rows import moment, seconds

AT_ONCE: Final = 500
"""Rows that one step of forgetting deletes."""
LINKED: Final = """
    SELECT other.person FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
    WHERE own.tenant = ? AND own.person = ?
"""
KNOWN: Final = """
    SELECT one.person, coalesce(chosen.project, ''), coalesce(chosen.shows_private, 0) FROM (
        SELECT :person AS person UNION
        SELECT other.person FROM people_links own
        JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
        WHERE own.tenant = :tenant AND own.person = :person
    ) one LEFT JOIN people_choices chosen
        ON chosen.tenant = :tenant AND chosen.person = one.person
    ORDER BY one.person
"""
SEEN_AS: Final = """
    SELECT person, at FROM people_projects
    WHERE tenant = ? AND person IN (SELECT value FROM json_each(?)) AND project = ?
    ORDER BY person
"""
IS_LINKED: Final = "SELECT 1 FROM people_links WHERE tenant = ? AND person = ?"
CHOSEN: Final = "SELECT project, shows_private FROM people_choices WHERE tenant = ? AND person = ?"
ANY: Final = "SELECT 1 FROM memories WHERE owner = ? LIMIT 1"
USE: Final[dict[SessionUse, str]] = {
    "stores": "UPDATE memory_sessions SET stores = stores + 1 WHERE id = ? AND stores < ?",
    "supersedes": (
        "UPDATE memory_sessions SET supersedes = supersedes + 1 WHERE id = ? AND supersedes < ?"
    ),
    "deletes": "UPDATE memory_sessions SET deletes = deletes + 1 WHERE id = ? AND deletes < ?",
}


BRIEF: Final = """
    UPDATE memory_sessions SET briefed = CASE WHEN briefed IS :before THEN :at ELSE briefed END
    WHERE id = :id RETURNING briefed
"""


class SqlitePeople:
    """Implements `memory.store.ports.PeopleStore`."""

    def __init__(self, engine: SqliteEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def arrive(
        self, tenant: str, person: str, conversation: str, now: datetime, project: str | None = None
    ) -> Arrival:
        """All that a turn begins with. In rooms somebody is shown their own only where all linked
        identities allow."""
        who, at = (tenant, person, conversation), now.timestamp()

        def job(db: sqlite3.Connection) -> Arrival:
            known = _known(db, tenant, person)
            private = project is None or known.shows_private
            meant = known.project if project is None else project
            documents = newest(db, tenant, known.persons if private else (), meant)
            remembers = project is not None or _remembers(db, tenant, known)
            if seen := _seen(db, tenant, known.persons, meant):
                known = replace(known, seen=seen)
            return Arrival(known, _session(db, who, at), documents, remembers)

        return await self._engine.run(job)

    async def seen_in(self, tenant: str, person: str, project: str, title: str) -> None:
        """The person spoke in a room of this project."""
        row = (tenant, person, project, storable(title[:MAX_TITLE]), self._clock.now().timestamp())

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO people_projects VALUES (?, ?, ?, ?, ?)", row)
            db.execute(
                "DELETE FROM people_projects WHERE (tenant, person, project) IN ("
                " SELECT tenant, person, project FROM people_projects"
                " WHERE tenant = ? AND person = ? ORDER BY at DESC, project LIMIT -1 OFFSET ?)",
                (tenant, person, MAX_PROJECTS),
            )

        await self._engine.run(job)

    async def unsee(self, tenant: str, project: str, person: str = "") -> int:
        """This person, or without one nobody, is in the project any more."""
        asked = {"tenant": tenant, "project": project, "person": person}
        return await self._engine.run(
            lambda db: (
                db.execute(
                    "DELETE FROM people_projects WHERE tenant = :tenant AND project = :project"
                    " AND (:person = '' OR person = :person)",
                    asked,
                ).rowcount
            )
        )

    async def seen_as(
        self, tenant: str, persons: Sequence[str], project: str
    ) -> tuple[tuple[str, datetime], ...]:
        """Which of these identities were seen in a project, and when last."""
        return await self._engine.run(lambda db: _seen(db, tenant, persons, project))

    async def projects(
        self, tenant: str, persons: Sequence[str], since: datetime
    ) -> list[tuple[str, str]]:
        """Ids and titles of the projects they were seen in since then, the latest first."""

        def job(db: sqlite3.Connection) -> list[tuple[str, str]]:
            found: dict[str, tuple[float, str]] = {}
            for person in persons:
                rows = db.execute(
                    "SELECT project, title, at FROM people_projects"
                    " WHERE tenant = ? AND person = ? AND at > ?",
                    (tenant, person, since.timestamp()),
                )
                for project, title, at in rows:
                    found[project] = max(found.get(project, (at, title)), (at, title))
            latest = sorted(found, key=lambda project: (-found[project][0], project))
            return [(project, found[project][1]) for project in latest[:MAX_PROJECTS]]

        return await self._engine.run(job)

    async def choose_project(self, tenant: str, person: str, project: str) -> None:
        """What is meant in private, for all linked identities."""

        def job(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT INTO people_choices (tenant, person, project) VALUES (?, ?, ?)"
                " ON CONFLICT (tenant, person) DO UPDATE SET project = excluded.project",
                [(tenant, one, project) for one in _linked(db, tenant, person)],
            )

        await self._engine.run(job)

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether rooms may see what is their own, for all linked identities."""

        def job(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT INTO people_choices (tenant, person, shows_private) VALUES (?, ?, ?)"
                " ON CONFLICT (tenant, person)"
                " DO UPDATE SET shows_private = excluded.shows_private",
                [(tenant, one, allowed) for one in _linked(db, tenant, person)],
            )

        await self._engine.run(job)

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use; False when the limit is reached already."""
        counted = await self._engine.run(
            lambda db: db.execute(USE[what], (session_id, limit)).rowcount
        )
        return counted == 1

    async def brief(self, session_id: str, at: datetime, before: datetime | None) -> datetime:
        """Of when the session's brief is from now on."""
        asked = {"id": session_id, "at": at.timestamp(), "before": seconds(before)}
        rows = await self._engine.run(lambda db: db.execute(BRIEF, asked).fetchall())
        return moment(rows[0][0]) if rows else at

    async def prune(self, now: datetime) -> int:
        """Delete some of the sessions that are over; how many."""
        return await self._engine.run(
            lambda db: (
                db.execute(
                    "DELETE FROM memory_sessions WHERE id IN"
                    " (SELECT id FROM memory_sessions WHERE at <= ? LIMIT ?)",
                    ((now - IDLE).timestamp(), AT_ONCE),
                ).rowcount
            )
        )

    async def prune_seen(self, before: datetime) -> int:
        """Forget some of who was last seen in a project before then; how many."""
        return await self._engine.run(
            lambda db: (
                db.execute(
                    "DELETE FROM people_projects WHERE (tenant, person, project) IN"
                    " (SELECT tenant, person, project FROM people_projects WHERE at <= ? LIMIT ?)",
                    (before.timestamp(), AT_ONCE),
                ).rowcount
            )
        )


def _known(db: sqlite3.Connection, tenant: str, person: str) -> Self:
    if db.execute(IS_LINKED, (tenant, person)).fetchone() is None:
        chosen = db.execute(CHOSEN, (tenant, person)).fetchone()
        project, shows_private = chosen or ("", False)
        return Self((person,), project, bool(shows_private))
    rows = db.execute(KNOWN, {"tenant": tenant, "person": person}).fetchall()
    return Self(
        persons=tuple(row[0] for row in rows),
        project=next(project for one, project, _ in rows if one == person),
        shows_private=all(shows for _, _, shows in rows),
    )


def _seen(
    db: sqlite3.Connection, tenant: str, persons: Sequence[str], project: str
) -> tuple[tuple[str, datetime], ...]:
    if not project:
        return ()
    rows = db.execute(SEEN_AS, (tenant, json.dumps(list(persons)), project))
    return tuple((str(one), moment(at)) for one, at in rows)


def _remembers(db: sqlite3.Connection, tenant: str, known: Self) -> bool:
    """Whether anything is remembered that this person may read in private."""
    reach = Reach(tenant, "", known.persons, "", known.project, private=True, operates=False)
    found = (db.execute(ANY, (owner,)).fetchone() for owner in owners_within(reach))
    return any(row is not None for row in found)


def _session(db: sqlite3.Connection, who: tuple[str, str, str], at: float) -> Session:
    found = db.execute(
        "SELECT at, briefed, id, stores, supersedes, deletes FROM memory_sessions"
        " WHERE tenant = ? AND person = ? AND conversation = ? AND at > ?",
        (*who, at - IDLE.total_seconds()),
    ).fetchone()
    if found is None:
        new = f"ses-{uuid.uuid4()}"
        db.execute(
            "INSERT OR REPLACE INTO memory_sessions (id, tenant, person, conversation, at)"
            " VALUES (?, ?, ?, ?, ?)",
            (new, *who, at),
        )
        return Session(new)
    noted, briefed, session, stores, supersedes, deletes = found
    if at - noted > NOTED.total_seconds():
        db.execute("UPDATE memory_sessions SET at = ? WHERE id = ?", (at, session))
    told_of = None if briefed is None else moment(briefed)
    return Session(session, stores, supersedes, deletes, told_of)


def _linked(db: sqlite3.Connection, tenant: str, person: str) -> tuple[str, ...]:
    found = {str(row[0]) for row in db.execute(LINKED, (tenant, person))}
    return tuple(sorted(found | {person}))
