"""Chosen projects, choices and sessions in PostgreSQL."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, LiteralString, cast

from psycopg.rows import TupleRow

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from gateway.ports import Clock
from memory.store.limits import IDLE, MAX_PROJECTS, MAX_TITLE, NOTED
from memory.store.ports import Arrival, Self, Session, SessionUse
from memory.store.postgres.brain import version_of

AT_ONCE: Final = 2_000
"""Rows that one step of forgetting deletes."""
LINKED: Final = """
    SELECT %(person)s::text AS person UNION
    SELECT other.person FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
    WHERE own.tenant = %(tenant)s AND own.person = %(person)s
"""
KNOWN: Final = f"""
    SELECT one.person, COALESCE(chosen.project, '') AS chosen,
        COALESCE(chosen.shows_private, false) AS shows,
        COALESCE(chosen.memory_off, false) AS off, chosen.notes,
        COALESCE(chosen.off_in && %(here)s::text[], false) AS off_here,
        COALESCE(chosen.untold, '{{}}') AS untold
    FROM ({LINKED}) one LEFT JOIN people_choices chosen
        ON chosen.tenant = %(tenant)s AND chosen.person = one.person
    ORDER BY one.person
"""  # noqa: S608 - constants
WHO: Final = f"""
    WITH known AS ({KNOWN}), meant AS (
        SELECT CASE WHEN %(direct)s THEN max(chosen) FILTER (WHERE person = %(person)s)
            ELSE %(project)s END AS project FROM known
    )
    SELECT known.person, there.at, known.chosen, known.shows, known.off, known.notes,
        known.off_here, known.untold
    FROM known CROSS JOIN meant LEFT JOIN people_projects there
        ON there.tenant = %(tenant)s AND there.person = known.person
        AND there.project = meant.project
    ORDER BY known.person
"""  # noqa: S608 - constants
NEWEST: Final = f"""
    WITH known AS ({KNOWN}), meant AS (
        SELECT CASE WHEN %(direct)s THEN max(chosen) FILTER (WHERE person = %(person)s)
            ELSE %(project)s END AS project, %(direct)s OR bool_and(shows) AS private FROM known
    ), wanted AS (
        SELECT 'soul' AS name, person AS whose FROM known, meant WHERE private
        UNION ALL SELECT name, project FROM meant, unnest(ARRAY['bible', 'heartbeat']) AS name
            WHERE project <> ''
    )
    SELECT DISTINCT ON (document) document, number, content, author, at, synced_at
    FROM brain_documents JOIN wanted ON document = name AND owner = whose
    WHERE tenant = %(tenant)s ORDER BY document, number DESC, at DESC
"""  # noqa: S608 - constants
SEEN: Final = """
    WITH surplus AS (
        DELETE FROM people_projects WHERE tenant = %(tenant)s AND person = %(person)s
        AND project IN (
            SELECT project FROM people_projects
            WHERE tenant = %(tenant)s AND person = %(person)s AND project <> %(project)s
            ORDER BY at DESC, project OFFSET %(most)s - 1)
    )
    INSERT INTO people_projects VALUES
        (%(tenant)s, %(person)s, %(project)s, %(title)s, %(at)s)
    ON CONFLICT (tenant, person, project) DO UPDATE SET title = excluded.title, at = excluded.at
"""
UNSEE: Final = """
    DELETE FROM people_projects WHERE tenant = %(tenant)s AND project = %(project)s
    AND (%(person)s = '' OR person = %(person)s)
"""
PROJECTS: Final = """
    SELECT project, title FROM (
        SELECT DISTINCT ON (project) project, title, at FROM people_projects
        WHERE tenant = %s AND person = ANY (%s::text[]) AND at > %s ORDER BY project, at DESC
    ) latest ORDER BY at DESC, project LIMIT %s
"""
SEEN_AS: Final = """
    SELECT person, at FROM people_projects
    WHERE tenant = %s AND person = ANY (%s::text[]) AND project = %s ORDER BY person
"""
CHOOSE: Final = f"""
    INSERT INTO people_choices (tenant, person, project)
    SELECT %(tenant)s, one.person, %(project)s FROM ({LINKED}) one
    ON CONFLICT (tenant, person) DO UPDATE SET project = excluded.project
"""  # noqa: S608 - constants
SHOW: Final = f"""
    INSERT INTO people_choices (tenant, person, shows_private)
    SELECT %(tenant)s, one.person, %(allowed)s FROM ({LINKED}) one
    ON CONFLICT (tenant, person) DO UPDATE SET shows_private = excluded.shows_private
"""  # noqa: S608 - constants
TURN: Final = f"""
    INSERT INTO people_choices (tenant, person, memory_off)
    SELECT %(tenant)s, one.person, %(choice)s FROM ({LINKED}) one
    ON CONFLICT (tenant, person) DO UPDATE SET memory_off = excluded.memory_off
"""  # noqa: S608 - constants
SHOW_NOTES: Final = f"""
    INSERT INTO people_choices (tenant, person, notes)
    SELECT %(tenant)s, one.person, %(choice)s FROM ({LINKED}) one
    ON CONFLICT (tenant, person) DO UPDATE SET notes = excluded.notes
"""  # noqa: S608 - constants
TURN_OFF_IN: Final = """
    INSERT INTO people_choices AS chosen (tenant, person, off_in)
    VALUES (%(tenant)s, %(person)s, ARRAY[%(here)s::text])
    ON CONFLICT (tenant, person) DO UPDATE
        SET off_in = array_append(array_remove(chosen.off_in, %(here)s), %(here)s::text)
        WHERE cardinality(array_remove(chosen.off_in, %(here)s)) < %(most)s
"""
TURN_ON_IN: Final = """
    UPDATE people_choices SET off_in = array_remove(off_in, %(here)s)
    WHERE tenant = %(tenant)s AND person = %(person)s
"""
TO_TELL: Final = """
    INSERT INTO people_choices AS chosen (tenant, person, untold)
    VALUES (%(tenant)s, %(person)s, %(entries)s::text[])
    ON CONFLICT (tenant, person) DO UPDATE SET untold = (chosen.untold || excluded.untold)[
        greatest(cardinality(chosen.untold || excluded.untold) - %(most)s + 1, 1):]
"""
TOLD: Final = """
    UPDATE people_choices SET untold = ARRAY(
        SELECT entry FROM unnest(untold) WITH ORDINALITY AS waiting (entry, place)
        WHERE entry <> ALL (%(entries)s::text[]) ORDER BY place)
    WHERE tenant = %(tenant)s AND person = %(person)s
"""
SESSION: Final = f"""
    WITH there AS (
        SELECT id, stores, supersedes, deletes, briefed FROM memory_sessions
        WHERE tenant = %(tenant)s AND person = %(person)s AND conversation = %(conversation)s
            AND at > %(idle)s AND at >= %(noted)s
    ), kept AS (
    INSERT INTO memory_sessions AS kept (id, tenant, person, conversation, at)
    SELECT %(id)s, %(tenant)s, %(person)s, %(conversation)s, %(now)s
    WHERE NOT EXISTS (SELECT FROM there)
        AND NOT EXISTS (SELECT FROM ({KNOWN}) known
            WHERE known.off OR (known.off_here AND known.person = %(person)s))
    ON CONFLICT (tenant, person, conversation) DO UPDATE SET
        at = greatest(kept.at, excluded.at),
        id = CASE WHEN kept.at > %(idle)s THEN kept.id ELSE excluded.id END,
        stores = CASE WHEN kept.at > %(idle)s THEN kept.stores ELSE 0 END,
        supersedes = CASE WHEN kept.at > %(idle)s THEN kept.supersedes ELSE 0 END,
        deletes = CASE WHEN kept.at > %(idle)s THEN kept.deletes ELSE 0 END,
        briefed = CASE WHEN kept.at > %(idle)s THEN kept.briefed END
    RETURNING id, stores, supersedes, deletes, briefed
    )
    SELECT * FROM there UNION ALL SELECT * FROM kept
"""  # noqa: S608 - constants
USE: Final[dict[SessionUse, LiteralString]] = {
    "stores": "UPDATE memory_sessions SET stores = stores + 1 WHERE id = %s AND stores < %s",
    "supersedes": (
        "UPDATE memory_sessions SET supersedes = supersedes + 1 WHERE id = %s AND supersedes < %s"
    ),
    "deletes": "UPDATE memory_sessions SET deletes = deletes + 1 WHERE id = %s AND deletes < %s",
}
BRIEF: Final = """
    UPDATE memory_sessions SET briefed =
        CASE WHEN briefed IS NOT DISTINCT FROM %(before)s THEN %(at)s ELSE briefed END
    WHERE id = %(id)s RETURNING briefed
"""
PRUNE: Final = """
    DELETE FROM memory_sessions WHERE id IN (
        SELECT id FROM memory_sessions WHERE at <= %(idle)s
        LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""
PRUNE_SEEN: Final = """
    DELETE FROM people_projects WHERE (tenant, person, project) IN (
        SELECT tenant, person, project FROM people_projects WHERE at <= %(before)s
        LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""


class PostgresPeople:
    """Implements `memory.store.ports.PeopleStore`."""

    def __init__(self, engine: PostgresDatabase, clock: Clock) -> None:
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
        """All that a turn begins with, in one round trip. In rooms somebody is shown their own only
        where all linked identities allow."""
        asked = _who(tenant, person) | {
            "id": f"ses-{uuid.uuid4()}",
            "conversation": conversation,
            "now": now,
            "idle": now - IDLE,
            "noted": now - NOTED,
            "direct": project is None,
            "project": project or "",
            "here": list(here),
        }

        async def work(connection: Connection) -> Arrival:
            async with connection.pipeline():
                known = await connection.execute(WHO, asked)
                session = await connection.execute(SESSION, asked)
                documents = await connection.execute(NEWEST, asked)
                who, rows = await known.fetchall(), await session.fetchall()
                there = {
                    name: version_of(name, *rest) for name, *rest in await documents.fetchall()
                }
            self_ = _self(person, who)
            if not self_.remembered:
                return Arrival(self_, Session(""), {}, remembers=False)
            return Arrival(self_, Session(*rows[0]), there)

        return await self._engine.with_connection(work)

    async def seen_in(self, tenant: str, person: str, project: str, title: str) -> None:
        """The person spoke in a room of this project."""
        asked = _who(tenant, person) | {
            "project": project,
            "title": storable(title[:MAX_TITLE]),
            "at": self._clock.now(),
            "most": MAX_PROJECTS,
        }
        await self._engine.change_raw(SEEN, asked)

    async def unsee(self, tenant: str, project: str, person: str = "") -> int:
        """This person, or without one nobody, is in the project any more."""
        asked = {"tenant": tenant, "project": project, "person": person}
        return await self._engine.change_raw(UNSEE, asked)

    async def projects(
        self, tenant: str, persons: Sequence[str], since: datetime
    ) -> list[tuple[str, str]]:
        """Ids and titles of the projects they were seen in since then, the latest first."""
        rows = await self._engine.fetch_raw(PROJECTS, (tenant, list(persons), since, MAX_PROJECTS))
        return [(project, title) for project, title in rows]

    async def seen_as(
        self, tenant: str, persons: Sequence[str], project: str
    ) -> tuple[tuple[str, datetime], ...]:
        """Which of these identities were seen in a project, and when last."""
        rows = await self._engine.fetch_raw(SEEN_AS, (tenant, list(persons), project))
        return tuple((str(one), at.astimezone(UTC)) for one, at in rows)

    async def choose_project(self, tenant: str, person: str, project: str) -> None:
        """What is meant in private, for all linked identities."""
        await self._engine.change_raw(CHOOSE, _who(tenant, person) | {"project": project})

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether rooms may see what is their own, for all linked identities."""
        await self._engine.change_raw(SHOW, _who(tenant, person) | {"allowed": allowed})

    async def turn_memory(self, tenant: str, person: str, on: bool) -> None:
        """Memory is on or off for all linked identities."""
        await self._engine.change_raw(TURN, _who(tenant, person) | {"choice": not on})

    async def show_notes(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether what the assistant noted is shown, for all linked identities."""
        await self._engine.change_raw(SHOW_NOTES, _who(tenant, person) | {"choice": allowed})

    async def turn_memory_in(
        self, tenant: str, person: str, here: str, on: bool, most: int
    ) -> bool:
        """Memory is on or off for this person in one conversation."""
        asked = _who(tenant, person) | {"here": here, "most": most}
        changed = await self._engine.change_raw(TURN_ON_IN if on else TURN_OFF_IN, asked)
        return on or changed == 1

    async def wait_to_tell(
        self, tenant: str, person: str, entries: Sequence[str], most: int
    ) -> None:
        """Add to what waits to be told; of more than `most` the oldest go."""
        asked = _who(tenant, person) | {"entries": list(entries)[-most:], "most": most}
        await self._engine.change_raw(TO_TELL, asked)

    async def told(self, tenant: str, person: str, entries: Sequence[str]) -> None:
        """These entries wait no longer."""
        await self._engine.change_raw(TOLD, _who(tenant, person) | {"entries": list(entries)})

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use; False when the limit is reached already."""
        return await self._engine.change_raw(USE[what], (session_id, limit)) == 1

    async def brief(self, session_id: str, at: datetime, before: datetime | None) -> datetime:
        """Of when the session's brief is from now on."""
        asked = {"id": session_id, "at": at, "before": before}
        rows = await self._engine.fetch_raw(BRIEF, asked)
        return cast("datetime", rows[0][0]).astimezone(UTC) if rows else at

    async def prune(self, now: datetime) -> int:
        """Delete some of the sessions that are over; how many."""
        return await self._engine.change_raw(PRUNE, {"idle": now - IDLE, "most": AT_ONCE})

    async def prune_seen(self, before: datetime) -> int:
        """Forget some of who was last seen in a project before then; how many."""
        return await self._engine.change_raw(PRUNE_SEEN, {"before": before, "most": AT_ONCE})


def _who(tenant: str, person: str) -> dict[str, object]:
    return {"tenant": tenant, "person": person}


def _self(person: str, rows: Sequence[TupleRow]) -> Self:
    """What `WHO` tells of a person."""
    own = next(row for row in rows if row[0] == person)
    _, _, project, _, _, notes, off_here, untold = own
    return Self(
        persons=tuple(row[0] for row in rows),
        project=project,
        shows_private=all(row[3] for row in rows),
        seen=tuple((row[0], row[1].astimezone(UTC)) for row in rows if row[1] is not None),
        memory_off=any(row[4] for row in rows),
        off_here=off_here,
        notes=notes,
        untold=tuple(untold),
    )
