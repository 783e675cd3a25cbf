"""Chosen projects, choices and sessions in SQLite."""

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
from db.values import storable
from gateway.ports import Clock
from memory.scope import Reach
from memory.store.limits import IDLE, MAX_PROJECTS, MAX_TITLE, NOTED
from memory.store.ports import Arrival, Self, Session, SessionUse
from memory.store.shelves import owners_within
from memory.store.sqlite.brain import newest
from memory.store.sqlite.rows import moment, seconds

AT_ONCE: Final = 500
"""Rows that one step of forgetting deletes."""
LINKED: Final = """
    SELECT other.person FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
    WHERE own.tenant = ? AND own.person = ?
"""
KNOWN: Final = """
    SELECT one.person, coalesce(chosen.project, ''), coalesce(chosen.shows_private, 0),
        coalesce(chosen.memory_off, 0), chosen.notes, coalesce(chosen.off_in, '[]'),
        coalesce(chosen.untold, '[]') FROM (
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
CHOSEN: Final = """
    SELECT project, shows_private, memory_off, notes, off_in, untold FROM people_choices
    WHERE tenant = ? AND person = ?
"""
OFF_IN: Final = "SELECT off_in FROM people_choices WHERE tenant = ? AND person = ?"
UNTOLD: Final = "SELECT untold FROM people_choices WHERE tenant = ? AND person = ?"
TURN: Final = """
    INSERT INTO people_choices (tenant, person, memory_off) VALUES (?, ?, ?)
    ON CONFLICT (tenant, person) DO UPDATE SET memory_off = excluded.memory_off
"""
TURN_IN: Final = """
    INSERT INTO people_choices (tenant, person, off_in) VALUES (?, ?, ?)
    ON CONFLICT (tenant, person) DO UPDATE SET off_in = excluded.off_in
"""
SHOW_NOTES: Final = """
    INSERT INTO people_choices (tenant, person, notes) VALUES (?, ?, ?)
    ON CONFLICT (tenant, person) DO UPDATE SET notes = excluded.notes
"""
TO_TELL: Final = """
    INSERT INTO people_choices (tenant, person, untold) VALUES (?, ?, ?)
    ON CONFLICT (tenant, person) DO UPDATE SET untold = excluded.untold
"""
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

    def __init__(self, engine: SqliteDatabase, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def arrive(
        self,
        tenant: str,
        person: str,
        conversation: str,
        now: datetime,
        project: str | None = None,
        here: Sequence[str] = (),
    ) -> Arrival:
        """All that a turn begins with. In rooms somebody is shown their own only where all linked
        identities allow."""
        who, at = (tenant, person, conversation), now.timestamp()

        def job(db: sqlite3.Connection) -> Arrival:
            known = _known(db, tenant, person, here)
            if not known.remembered:
                return Arrival(known, Session(""), {}, remembers=False)
            private = project is None or known.shows_private
            meant = known.project if project is None else project
            documents = newest(db, tenant, known.persons if private else (), meant)
            remembers = project is not None or _remembers(db, tenant, known)
            if seen := _seen(db, tenant, known.persons, meant):
                known = replace(known, seen=seen)
            return Arrival(known, _session(db, who, at), documents, remembers)

        return await self._engine.run_job(job)

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

        await self._engine.run_job(job)

    async def unsee(self, tenant: str, project: str, person: str = "") -> int:
        """This person, or without one nobody, is in the project any more."""
        asked = {"tenant": tenant, "project": project, "person": person}
        return await self._engine.run_job(
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
        return await self._engine.run_job(lambda db: _seen(db, tenant, persons, project))

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

        return await self._engine.run_job(job)

    async def choose_project(self, tenant: str, person: str, project: str) -> None:
        """What is meant in private, for all linked identities."""

        def job(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT INTO people_choices (tenant, person, project) VALUES (?, ?, ?)"
                " ON CONFLICT (tenant, person) DO UPDATE SET project = excluded.project",
                [(tenant, one, project) for one in _linked(db, tenant, person)],
            )

        await self._engine.run_job(job)

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether rooms may see what is their own, for all linked identities."""

        def job(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT INTO people_choices (tenant, person, shows_private) VALUES (?, ?, ?)"
                " ON CONFLICT (tenant, person)"
                " DO UPDATE SET shows_private = excluded.shows_private",
                [(tenant, one, allowed) for one in _linked(db, tenant, person)],
            )

        await self._engine.run_job(job)

    async def turn_memory(self, tenant: str, person: str, on: bool) -> None:
        """Memory is on or off for all linked identities."""
        await self._choose(TURN, tenant, person, not on)

    async def show_notes(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether what the assistant noted is shown, for all linked identities."""
        await self._choose(SHOW_NOTES, tenant, person, allowed)

    async def turn_memory_in(
        self, tenant: str, person: str, here: str, on: bool, most: int
    ) -> bool:
        """Memory is on or off for this person in one conversation."""

        def job(db: sqlite3.Connection) -> bool:
            before = _strings(db.execute(OFF_IN, (tenant, person)).fetchone())
            off = [one for one in before if one != here] + ([] if on else [here])
            if len(off) > most:
                return False
            db.execute(TURN_IN, (tenant, person, json.dumps(off)))
            return True

        return await self._engine.run_job(job)

    async def wait_to_tell(
        self, tenant: str, person: str, entries: Sequence[str], most: int
    ) -> None:
        """Add to what waits to be told; of more than `most` the oldest go."""

        def job(db: sqlite3.Connection) -> None:
            waiting = [*_strings(db.execute(UNTOLD, (tenant, person)).fetchone()), *entries]
            db.execute(TO_TELL, (tenant, person, json.dumps(waiting[-most:])))

        await self._engine.run_job(job)

    async def told(self, tenant: str, person: str, entries: Sequence[str]) -> None:
        """These entries wait no longer."""

        def job(db: sqlite3.Connection) -> None:
            waiting = _strings(db.execute(UNTOLD, (tenant, person)).fetchone())
            left = [one for one in waiting if one not in entries]
            if left != waiting:
                db.execute(TO_TELL, (tenant, person, json.dumps(left)))

        await self._engine.run_job(job)

    async def _choose(self, sql: str, tenant: str, person: str, choice: bool) -> None:
        def job(db: sqlite3.Connection) -> None:
            linked = _linked(db, tenant, person)
            db.executemany(sql, [(tenant, one, choice) for one in linked])

        await self._engine.run_job(job)

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use; False when the limit is reached already."""
        counted = await self._engine.run_job(
            lambda db: db.execute(USE[what], (session_id, limit)).rowcount
        )
        return counted == 1

    async def brief(self, session_id: str, at: datetime, before: datetime | None) -> datetime:
        """Of when the session's brief is from now on."""
        asked = {"id": session_id, "at": at.timestamp(), "before": seconds(before)}
        rows = await self._engine.run_job(lambda db: db.execute(BRIEF, asked).fetchall())
        return moment(rows[0][0]) if rows else at

    async def prune(self, now: datetime) -> int:
        """Delete some of the sessions that are over; how many."""
        return await self._engine.run_job(
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
        return await self._engine.run_job(
            lambda db: (
                db.execute(
                    "DELETE FROM people_projects WHERE (tenant, person, project) IN"
                    " (SELECT tenant, person, project FROM people_projects WHERE at <= ? LIMIT ?)",
                    (before.timestamp(), AT_ONCE),
                ).rowcount
            )
        )


def _known(db: sqlite3.Connection, tenant: str, person: str, here: Sequence[str]) -> Self:
    if db.execute(IS_LINKED, (tenant, person)).fetchone() is None:
        chosen = db.execute(CHOSEN, (tenant, person)).fetchone()
        if chosen is None:
            return Self((person,))
        rows = [(person, *chosen)]
    else:
        rows = db.execute(KNOWN, {"tenant": tenant, "person": person}).fetchall()
    _, project, _, _, notes, off_in, untold = next(row for row in rows if row[0] == person)
    return Self(
        persons=tuple(row[0] for row in rows),
        project=project,
        shows_private=all(row[2] for row in rows),
        memory_off=any(row[3] for row in rows),
        off_here=not set(here).isdisjoint(json.loads(off_in)),
        notes=None if notes is None else bool(notes),
        untold=tuple(json.loads(untold)),
    )


def _strings(row: tuple[str] | None) -> list[str]:
    return [str(one) for one in json.loads(row[0])] if row is not None else []


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
