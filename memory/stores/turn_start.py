"""Reads everything that a turn needs: person, session, documents.

PostgreSQL does it in one round trip, so no statement depends on the result of another.
"""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from secrets import token_hex
from typing import Final

from db import Row, Statement, Work, among, either, together
from db.statements import json_values
from db.transaction import Change, Fetch
from db.values import micros, texts_of, time_of, time_or_none
from memory.ports.documents import Document, Version
from memory.ports.people import MemorySession, PersonChoices, TurnStart
from memory.stores.documents import version_of
from memory.stores.limits import IDLE, NOTED
from memory.stores.links import LINKED
from memory.stores.partitions import owner_of_all

MEANT: Final = """
    CASE WHEN :direct THEN coalesce((SELECT mine.project FROM people_choices mine
        WHERE mine.tenant = :tenant AND mine.person = :person), '') ELSE :project END
"""
"""The room's project, or the one chosen for direct messages."""
REMEMBERS: Final = """
    (NOT :direct OR coalesce(chosen.project, '') <> ''
        OR EXISTS (SELECT 1 FROM memories shared WHERE shared.owner = :everybody)
        OR EXISTS (SELECT 1 FROM memories own WHERE own.tenant = :tenant
            AND own.person = one.person AND own.scope = 'user'))
"""
"""False if there is certainly no visible memory. PostgreSQL is not queried, because it might read
the whole table."""
WHO: Final = Statement(f"""
    SELECT one.person, coalesce(chosen.project, ''), coalesce(chosen.shows_private, false),
        coalesce(chosen.memory_off, false), chosen.notes, coalesce(chosen.off_in, '[]'),
        coalesce(chosen.waiting_notices, '[]'), there.at,
        here.id, here.brief_at,
        {either(sqlite=REMEMBERS, postgres="true")}
    FROM ({LINKED}) AS one
    LEFT JOIN people_choices chosen
        ON chosen.tenant = :tenant AND chosen.person = one.person
    LEFT JOIN people_projects there
        ON there.tenant = :tenant AND there.person = one.person AND there.project = {MEANT}
    LEFT JOIN memory_sessions here ON here.tenant = :tenant AND here.person = one.person
        AND here.person = :person AND here.conversation = :conversation
""")
"""The linked identities, and the session of the caller. Runs after `KEEP_SESSION`."""
OFF: Final = f"""
    EXISTS (SELECT 1 FROM people_choices chosen
        WHERE chosen.tenant = :tenant AND chosen.person IN ({LINKED}) AND chosen.memory_off)
    OR EXISTS (SELECT 1 FROM people_choices mine, {json_values("mine.off_in", "place")}
        WHERE mine.tenant = :tenant AND mine.person = :person AND {among("place.value", "here")})
"""
KEEP_SESSION: Final = Statement(f"""
    INSERT INTO memory_sessions AS kept (id, tenant, person, conversation, at)
    SELECT :id, :tenant, :person, :conversation, :now
    WHERE NOT EXISTS (SELECT 1 FROM memory_sessions there WHERE there.tenant = :tenant
            AND there.person = :person AND there.conversation = :conversation
            AND there.at >= :noted)
        AND NOT ({OFF})
    ON CONFLICT (tenant, person, conversation) DO UPDATE SET
        at = CASE WHEN kept.at > excluded.at THEN kept.at ELSE excluded.at END,
        id = CASE WHEN kept.at > :idle THEN kept.id ELSE excluded.id END,
        stores = CASE WHEN kept.at > :idle THEN kept.stores ELSE 0 END,
        supersedes = CASE WHEN kept.at > :idle THEN kept.supersedes ELSE 0 END,
        deletes = CASE WHEN kept.at > :idle THEN kept.deletes ELSE 0 END,
        brief_at = CASE WHEN kept.at > :idle THEN kept.brief_at END
""")
"""Begins or continues a session, unless its use is already noted or memory is off."""
SHOWN: Final = f"""
    (:direct OR NOT EXISTS (SELECT 1 FROM ({LINKED}) AS everyone LEFT JOIN people_choices shown
            ON shown.tenant = :tenant AND shown.person = everyone.person
        WHERE NOT coalesce(shown.shows_private, false)))
"""


def _newest_of(document: Document, owner: str, of: str = "", where: str = "true") -> str:
    return f"""
        SELECT kept.document, kept.number, kept.content, kept.author, kept.at, kept.synced_at
        FROM {of} brain_documents kept
        WHERE kept.tenant = :tenant AND kept.document = '{document}' AND kept.owner = {owner}
            AND kept.number = (SELECT max(newer.number) FROM brain_documents newer
                WHERE newer.tenant = :tenant AND newer.document = '{document}'
                    AND newer.owner = kept.owner)
            AND {where}
    """


NEWEST: Final = Statement(
    " UNION ALL ".join(
        (
            _newest_of("soul", "one.person", f"({LINKED}) AS one CROSS JOIN", SHOWN),
            _newest_of("bible", MEANT),
            _newest_of("heartbeat", MEANT),
        )
    )
)
"""One query for each document: of queries that are joined together SQLite makes a table first."""


def arrival(
    tenant: str,
    person: str,
    conversation: str,
    now: datetime,
    project: str | None,
    here: Sequence[str],
) -> Work[TurnStart]:
    """Do `PeopleStore.start_turn`."""
    params = {
        "tenant": tenant,
        "person": person,
        "id": f"ses-{token_hex(16)}",
        "conversation": conversation,
        "now": micros(now),
        "idle": micros(now - IDLE),
        "noted": micros(now - NOTED),
        "direct": project is None,
        "project": project or "",
        "here": list(here),
        "everybody": owner_of_all(tenant),
    }
    _, rows, documents = yield from together(
        Change(KEEP_SESSION, params), Fetch(WHO, params), Fetch(NEWEST, params), last=True
    )
    persons = sorted(rows, key=itemgetter(0))
    own = next(row for row in persons if row[0] == person)
    who = _self(own, persons, here)
    if not who.remembered:
        return TurnStart(who, MemorySession(""), {}, remembers=False)
    remembers = any(row[-1] for row in persons)
    return TurnStart(who, _session(own), _newest(documents), remembers)


def _self(own: Row, rows: Sequence[Row], here: Sequence[str]) -> PersonChoices:
    _, project, _, _, notes, off_in, waiting_notices, *_ = own
    return PersonChoices(
        persons=tuple(row[0] for row in rows),
        project=project,
        shows_private=all(row[2] for row in rows),
        seen=tuple((row[0], time_of(row[7])) for row in rows if row[7] is not None),
        memory_off=any(row[3] for row in rows),
        off_here=not set(here).isdisjoint(texts_of(off_in)),
        notes=None if notes is None else bool(notes),
        waiting_notices=texts_of(waiting_notices),
    )


def _session(own: Row) -> MemorySession:
    """The session; none where the person was erased, or turned memory off, in this moment."""
    id_, brief_at = own[8:10]
    if id_ is None:
        return MemorySession("")
    return MemorySession(id_, time_or_none(brief_at))


def _newest(rows: Sequence[Row]) -> dict[Document, Version]:
    """The last one of each document: linked identities have a SOUL each."""
    last = sorted(rows, key=itemgetter(1, 4))
    return {row[0]: version_of(row[0], row[1:]) for row in last}
