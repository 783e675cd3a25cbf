"""Linked identities, chosen projects, choices and sessions in SQLite."""

import sqlite3
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gateway.ports import Clock
from memory.scope import Reach
from memory.store.limits import IDLE, MAX_LINKED, MAX_PROJECTS, MAX_TITLE, NOTED
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

    async def projects(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, str]]:
        """Ids and titles of the projects they were seen in, the latest first."""

        def job(db: sqlite3.Connection) -> list[tuple[str, str]]:
            found: dict[str, tuple[float, str]] = {}
            for person in persons:
                rows = db.execute(
                    "SELECT project, title, at FROM people_projects"
                    " WHERE tenant = ? AND person = ?",
                    (tenant, person),
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

    async def offer_link(self, tenant: str, person: str, code_hash: str, until: datetime) -> None:
        """Keep a one-time code in place of the last one."""
        row = (tenant, person, code_hash, until.timestamp())
        await self._engine.run(
            lambda db: db.execute("INSERT OR REPLACE INTO link_codes VALUES (?, ?, ?, ?)", row)
        )

    async def take_link(self, tenant: str, person: str, code_hash: str, now: datetime) -> str:
        """Use a code up and link both; the other person. Empty when there is no such code, when it
        is one's own, or when together they would be more than ten."""

        def job(db: sqlite3.Connection) -> str:
            found = db.execute(
                "SELECT person FROM link_codes"
                " WHERE tenant = ? AND code = ? AND until > ? AND person <> ?",
                (tenant, code_hash, now.timestamp(), person),
            ).fetchone()
            if found is None:
                return ""
            other = str(found[0])
            persons = sorted({*_linked(db, tenant, person), *_linked(db, tenant, other)})
            if len(persons) > MAX_LINKED:
                return ""
            db.execute("DELETE FROM link_codes WHERE tenant = ? AND person = ?", (tenant, other))
            human = uuid.uuid4().hex
            db.executemany(
                "INSERT OR REPLACE INTO people_links VALUES (?, ?, ?)",
                [(tenant, one, human) for one in persons],
            )
            return other

        return await self._engine.run(job)

    async def unlink(self, tenant: str, person: str) -> int:
        """Leave the others; returns how many there were."""

        def job(db: sqlite3.Connection) -> int:
            others = len(_linked(db, tenant, person)) - 1
            leave(db, tenant, person)
            return others

        return await self._engine.run(job)

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
        """Delete some of the sessions that are over and the codes that are too old; how many."""

        def job(db: sqlite3.Connection) -> int:
            sessions = db.execute(
                "DELETE FROM memory_sessions WHERE id IN"
                " (SELECT id FROM memory_sessions WHERE at <= ? LIMIT ?)",
                ((now - IDLE).timestamp(), AT_ONCE),
            ).rowcount
            codes = db.execute(
                "DELETE FROM link_codes WHERE (tenant, person) IN"
                " (SELECT tenant, person FROM link_codes WHERE until <= ? LIMIT ?)",
                (now.timestamp(), AT_ONCE),
            ).rowcount
            return sessions + codes

        return await self._engine.run(job)


def leave(db: sqlite3.Connection, tenant: str, person: str) -> None:
    """Take an identity out of its links; one that stays behind alone is linked no more."""
    others = [one for one in _linked(db, tenant, person) if one != person]
    gone = [person] if len(others) > 1 else [person, *others]
    db.executemany(
        "DELETE FROM people_links WHERE tenant = ? AND person = ?",
        [(tenant, one) for one in gone],
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
