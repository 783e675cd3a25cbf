"""Export and erasure of a person's memories.

Memories that a person wrote for a project or for everybody stay, without name, conversation and
message.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, lock, together
from db.statements import in_byte_order
from db.transaction import Change, Fetch
from db.values import micros, storable, time_of
from gateway.text import from_json
from memory.model.scope import OWN
from memory.ports.people import PersonCount, PlaceCount, TenantProject
from memory.stores.rows import COLUMNS

PERSON: Final = among("person", "persons")
TIMES: Final = frozenset(
    (
        *("at", "since", "until", "issued_at", "brief_at", "submitted_at", "decided_at"),
        *("synced_at", "captured_at", "valid_until", "true_from", "true_until", "expires_at"),
        *("superseded_at", "registered_at", "started_at", "ended_at", "created_at"),
        *("joined_at", "shared_at", "made_at", "noticed_at", "asked_at", "settled_at"),
    )
)
LISTS: Final = frozenset(
    (
        *("tags", "derived_from", "passed", "failed", "record", "off_in", "waiting_notices"),
        *("context", "result", "capabilities"),
    )
)


REASON: Final = "reason"
"""The column of a sentence."""
WAITING_SENTENCE: Final = "|="
"""Stands before the sentence of a waiting notice."""


class PersonalTable(Struct, frozen=True):
    """A table with a column `tenant`: its exported columns, and the condition for a person's
    rows."""

    name: str
    columns: tuple[str, ...]
    whose: str = PERSON

    @property
    def select(self) -> Statement:
        """The rows of a person."""
        return Statement(
            f"SELECT {', '.join(self.columns)} FROM {self.name}"
            f" WHERE tenant = :tenant AND {self.whose}"
        )

    @property
    def count(self) -> Statement:
        """The number of rows of a person."""
        return Statement(
            f"SELECT count(*) FROM {self.name} WHERE tenant = :tenant AND {self.whose}"
        )

    def rows(self, stored: Sequence[Row]) -> list[dict[str, object]]:
        """The rows by the names of their columns."""
        return [
            {"table": self.name}
            | {name: _plain(name, value) for name, value in zip(self.columns, row, strict=True)}
            for row in stored
        ]


def _table(name: str, columns: str, whose: str = PERSON) -> PersonalTable:
    return PersonalTable(name, tuple(columns.split()), whose)


ASKED_FOR: Final = f"({among('maker', 'persons')} OR {among('redeemer', 'persons')})"
HANDED: Final = f"({among('source_owner', 'persons')} OR {among('target_owner', 'persons')})"
TOOK_PART: Final = f"({among('person', 'persons')} OR {among('other', 'persons')})"
INVITED: Final = f"({PERSON} OR {among('inviter', 'persons')})"
SOUL: Final = f"(document = 'soul' AND {among('owner', 'persons')})"
TABLES: Final = (
    PersonalTable("memories", COLUMNS),
    _table("waiting_turns", "id tenant person room channel message_ids at body"),
    _table("quarantine", "kind id tenant person place weight at"),
    _table(
        "memory_reviews",
        "id tenant person scope project room target state record reason passed failed"
        " submitted_at decided_at decided_by note likeness",
    ),
    _table("memory_conflicts", "older newer tenant person noticed_at asked_at settled_at"),
    _table(
        "memory_sessions",
        "id tenant person conversation at stores supersedes deletes brief_at",
    ),
    _table("people_links", "tenant person link_group name place since"),
    _table("people_projects", "tenant person project title at"),
    _table(
        "people_choices",
        "tenant person project shows_private memory_off notes off_in waiting_notices",
    ),
    _table(
        "link_requests",
        "tenant maker code id state redeemer sides until turn_id",
        ASKED_FOR,
    ),
    _table("person_tokens", "id name tenant person issued_at until scopes agent"),
    _table("agents", "id tenant person type capabilities registered_at name"),
    _table("agent_sessions", "id tenant person agent started_at at ended_at"),
    _table("pools", "id tenant person name scope project created_at"),
    _table("pool_members", "pool agent tenant person permission granted joined_at"),
    _table(
        "pool_invitations",
        "id tenant pool agent person inviter permission state made_at until",
        INVITED,
    ),
    _table("pool_memories", "pool memory tenant person agent scope project shared_at version"),
    _table(
        "brain_documents",
        "tenant document owner number content author at synced_at",
        f"({SOUL} OR {among('author', 'persons')})",
    ),
    _table(
        "agent_handoffs",
        "id tenant source source_owner source_name target target_person target_owner context status"
        " created_at until ttl_seconds ended_at result reason",
        HANDED,
    ),
    _table(
        "agent_events",
        "number tenant at kind agent pool handoff memory person other",
        TOOK_PART,
    ),
    _table("people_direct_places", "tenant person place at"),
)
SELECTS: Final = tuple(table.select for table in TABLES)
COUNTS: Final = tuple(table.count for table in TABLES)
THEIRS: Final = f"tenant = :tenant AND {PERSON}"
# A single remaining identity is no longer linked.
LEFT: Final = f"""
    SELECT link.person FROM people_links link WHERE link.tenant = :tenant AND link.link_group IN (
        SELECT link_group FROM people_links WHERE {THEIRS}
    ) AND 2 > (
        SELECT count(*) FROM people_links other WHERE other.tenant = :tenant
            AND other.link_group = link.link_group AND NOT {among("other.person", "persons")}
    )
"""
NAMELESS: Final = f"""
    UPDATE memories SET person = '', session = '', message_id = '', conversation = '', room = '',
        channel = '', derived_from = '[]', agent = '' WHERE {THEIRS}
"""
UNWRITTEN: Final = f"""
    UPDATE brain_documents SET author = '' WHERE tenant = :tenant AND {among("author", "persons")}
"""
NO_CONTEXT: Final = json.dumps(
    {
        "task_description": "",
        "current_state": {},
        "relevant_memories": [],
        "relevant_files": [],
        "findings": [],
    }
)
# What the receiver did stays theirs, without the source and its task.
UNSENT: Final = f"""
    UPDATE agent_handoffs SET source = '', source_owner = '', source_name = '',
        context = '{NO_CONTEXT}', ended_at = COALESCE(ended_at, created_at), notified = true,
        status = CASE WHEN status = 'accepted' THEN 'expired' ELSE status END
    WHERE tenant = :tenant AND {among("source_owner", "persons")}
        AND status IN ('accepted', 'completed', 'rejected')
        AND target_owner <> '' AND NOT {among("target_owner", "persons")}
"""
# The work of the source stays, without the receiver and what they wrote.
UNRECEIVED: Final = f"""
    UPDATE agent_handoffs SET target = '', target_person = '', target_owner = '', result = NULL,
        reason = '', ended_at = COALESCE(ended_at, created_at), notified = true,
        status = CASE WHEN status IN ('pending', 'accepted') THEN 'expired' ELSE status END
    WHERE tenant = :tenant AND {among("target_owner", "persons")}
"""
WHOLE: Final = (
    *("waiting_turns", "quarantine", "memory_reviews", "memory_conflicts", "memory_sessions"),
    *("people_links", "people_projects", "people_choices", "person_tokens"),
    *("people_direct_places", "agent_sessions"),
    *("pool_memories", "pool_members", "pools", "agents"),
)
"""Tables that are erased completely."""
ERASE: Final = (
    Statement(f"DELETE FROM people_links WHERE tenant = :tenant AND person IN ({LEFT})"),
    Statement(f"DELETE FROM memories WHERE {THEIRS} AND scope = 'user'"),
    Statement(f"""
        DELETE FROM memory_origins
        WHERE memory IN (SELECT seq FROM memories WHERE {THEIRS})
    """),
    Statement(NAMELESS),
    Statement(f"DELETE FROM pool_members WHERE pool IN (SELECT id FROM pools WHERE {THEIRS})"),
    Statement(f"DELETE FROM pool_invitations WHERE tenant = :tenant AND {INVITED}"),
    *(Statement(f"DELETE FROM {table} WHERE {THEIRS}") for table in WHOLE),
    Statement(f"DELETE FROM link_requests WHERE tenant = :tenant AND {ASKED_FOR}"),
    Statement(f"DELETE FROM brain_documents WHERE tenant = :tenant AND {SOUL}"),
    Statement(UNWRITTEN),
    Statement(UNSENT),
    Statement(f"""
        DELETE FROM agent_handoffs WHERE tenant = :tenant AND {among("source_owner", "persons")}
    """),
    Statement(UNRECEIVED),
    Statement(f"DELETE FROM agent_events WHERE tenant = :tenant AND {TOOK_PART}"),
)


class SqlMemoryPersonalData:
    """Implements `memory.ports.people.PersonalDataStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        params = _params(tenant, persons)

        def work() -> Work[list[list[Row]]]:
            return (yield from together(*(Fetch(one, params) for one in SELECTS), last=True))

        results = await self._database.run(work)
        return [
            row for table, rows in zip(TABLES, results, strict=True) for row in table.rows(rows)
        ]

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        params = _params(tenant, persons)

        def work() -> Work[list[list[Row]]]:
            return (yield from together(*(Fetch(one, params) for one in COUNTS), last=True))

        results = await self._database.run(work)
        counted = zip(TABLES, results, strict=True)
        return [(table.name, int(count)) for table, ((count,),) in counted if count]

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        params = _params(tenant, persons)

        def work() -> Work[int]:
            yield from lock(f"links {params['tenant']}")
            return sum((yield from together(*(Change(one, params) for one in ERASE), last=True)))

        return await self._database.run(work)


def _plain(name: str, value: object) -> object:
    """Return a value for export: times in seconds, lists as their items."""
    if isinstance(value, datetime):
        return value.timestamp()
    if name in TIMES and isinstance(value, int):
        return time_of(value).timestamp()
    if not isinstance(value, str):
        return value
    if name == "waiting_notices":
        return [_readable(one) for one in json.loads(value)]
    return json.loads(value) if name in LISTS else _readable(value) if name == REASON else value


def _readable(stored: str) -> str:
    """Return a stored sentence, behind its time where it waits, in English."""
    before, sign, after = stored.partition(WAITING_SENTENCE)
    if sign:
        return f"{before}{sign}{from_json(after).english}"
    return from_json(stored).english


def _params(tenant: str, persons: Sequence[str]) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "persons": [storable(person) for person in persons if person],
    }


KNOWN: Final = Statement(f"""
    SELECT person, sum(episodic), sum(semantic), sum(waiting) FROM (
        SELECT person, CASE WHEN tier = 'episodic' THEN 1 ELSE 0 END AS episodic,
            CASE WHEN tier = 'semantic' THEN 1 ELSE 0 END AS semantic, 0 AS waiting
            FROM memories WHERE tenant = :tenant AND scope = 'user'
        UNION ALL SELECT person, 0, 0, 1 FROM memory_reviews
            WHERE tenant = :tenant AND state = 'pending'
        UNION ALL SELECT person, 0, 0, 0 FROM people_links WHERE tenant = :tenant
        UNION ALL SELECT person, 0, 0, 0 FROM people_choices WHERE tenant = :tenant
        UNION ALL SELECT owner, 0, 0, 0 FROM brain_documents
            WHERE tenant = :tenant AND document = 'soul'
    ) AS known GROUP BY person HAVING person <> '' ORDER BY {in_byte_order("person")} LIMIT :limit
""")
PLACES: Final = Statement(f"""
    SELECT m.room, min(m.audience), sum(CASE WHEN m.role = '' THEN 1 ELSE 0 END),
        sum(CASE WHEN m.role <> '' THEN 1 ELSE 0 END)
    FROM memories m WHERE m.tenant = :tenant AND {OWN} AND m.superseded_by = ''
        AND (m.expires_at IS NULL OR m.expires_at > :now)
    GROUP BY m.room ORDER BY 3 DESC, 4 DESC, {in_byte_order("m.room")} LIMIT :limit
""")
PROJECTS: Final = Statement(f"""
    SELECT project, max(title), sum(waiting) FROM (
        SELECT project, title, 0 AS waiting FROM people_projects WHERE tenant = :tenant
        UNION ALL SELECT owner, '', 0 FROM brain_documents
            WHERE tenant = :tenant AND document = 'bible'
        UNION ALL SELECT project, '', 1 FROM memory_reviews
            WHERE tenant = :tenant AND state = 'pending' AND scope = 'project'
    ) AS known WHERE project <> ''
    GROUP BY project ORDER BY 3 DESC, {in_byte_order("project")} LIMIT :limit
""")


class MemoryCounts:
    """Lists people and projects with stored memories, without content."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, tenant: str, limit: int) -> list[PersonCount]:
        """In order of their ids."""
        rows = await self._database.fetch(KNOWN, {"tenant": tenant, "limit": limit})
        return [PersonCount(*row) for row in rows]

    async def places(
        self, tenant: str, persons: Sequence[str], now: datetime, limit: int
    ) -> list[PlaceCount]:
        """Return where memories of these identities were learned, the most first."""
        params = {"tenant": storable(tenant), "limit": limit, "now": micros(now)}
        params |= {"for_persons": [storable(person) for person in persons]}
        return [PlaceCount(*row) for row in await self._database.fetch(PLACES, params)]

    async def projects(self, tenant: str, limit: int) -> list[TenantProject]:
        """Return the projects of a tenant, those with the most waiting entries first."""
        params = {"tenant": storable(tenant), "limit": limit}
        return [TenantProject(*row) for row in await self._database.fetch(PROJECTS, params)]
