"""The sessions of the console and the login links that begin them.

Only hashes of their secrets are stored. A link works once: the sign-in deletes it and adds the
session in one transaction, whichever process made the link.
"""

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, change, execute, fetch_first
from db.database import delete_some, deleting_some
from db.errors import StoreUnavailable
from db.values import micros, storable, time_of

SECRET_BYTES: Final = 32
MAX_LINKS: Final = 3
"""Unused links of one person; a further one replaces the oldest."""
MAX_SESSIONS: Final = 20
"""Sessions of one person; a further one ends the one that was used longest ago."""
MAX_LABEL: Final = 200
MAX_ZONE: Final = 64
SEEN_EVERY: Final = timedelta(minutes=1)
"""The precision of the time of the last use, so that not every request writes."""

COLUMNS: Final = "id, tenant, person, label, zone, theme, made_at, seen_at, until"
ADD_LINK: Final = Statement("""
    INSERT INTO console_links (secret_hash, tenant, person, made_at, until)
    VALUES (:secret_hash, :tenant, :person, :made_at, :until)
""")
TRIM_LINKS: Final = Statement(f"""
    DELETE FROM console_links WHERE tenant = :tenant AND person = :person AND secret_hash NOT IN (
        SELECT secret_hash FROM console_links WHERE tenant = :tenant AND person = :person
        ORDER BY made_at DESC, secret_hash LIMIT {MAX_LINKS})
""")
USE_LINK: Final = Statement("""
    DELETE FROM console_links WHERE secret_hash = :secret_hash AND until > :now
    RETURNING tenant, person
""")
ADD: Final = Statement(f"""
    INSERT INTO console_sessions (secret_hash, {COLUMNS})
    VALUES (:secret_hash, :id, :tenant, :person, :label, :zone, '', :now, :now, :until)
""")
TRIM: Final = Statement(f"""
    DELETE FROM console_sessions WHERE tenant = :tenant AND person = :person AND id NOT IN (
        SELECT id FROM console_sessions WHERE tenant = :tenant AND person = :person
        ORDER BY seen_at DESC, id LIMIT {MAX_SESSIONS})
""")
VALID: Final = "until > :now AND seen_at > :idle_since"
FIND: Final = Statement(
    f"SELECT {COLUMNS} FROM console_sessions WHERE secret_hash = :secret_hash AND {VALID}"
)
SEE: Final = Statement("UPDATE console_sessions SET seen_at = :now WHERE id = :id")
CHOOSE: Final = Statement("UPDATE console_sessions SET zone = :zone, theme = :theme WHERE id = :id")
OF_PERSON: Final = Statement(f"""
    SELECT {COLUMNS} FROM console_sessions
    WHERE tenant = :tenant AND person = :person AND {VALID}
    ORDER BY seen_at DESC, id LIMIT {MAX_SESSIONS}
""")
END: Final = Statement(
    "DELETE FROM console_sessions WHERE id = :id AND tenant = :tenant AND person = :person"
)
END_ALL: Final = Statement(
    "DELETE FROM console_sessions WHERE tenant = :tenant AND person = :person AND id <> :keep"
)
DROP_LINKS: Final = Statement(
    "DELETE FROM console_links WHERE tenant = :tenant AND person = :person"
)
PRUNE_LINKS: Final = deleting_some("console_links", "secret_hash", "until <= :now", "until")
PRUNE: Final = deleting_some("console_sessions", "id", "until <= :now", "until")


class ConsoleSession(Struct, frozen=True):
    """A session without its secret. `person` is a `str(PersonId)`, `label` the browser as it names
    itself, `zone` a name of a time zone, empty if unknown, `theme` "light", "dark" or empty."""

    id: str
    tenant: str
    person: str
    label: str
    zone: str
    theme: str
    made_at: datetime
    seen_at: datetime
    until: datetime


def hash_of(secret: str) -> str:
    """Return the stored form of a secret. It has 256 random bits, so it needs no salt."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class ConsoleSessionStore:
    """Sessions and links. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def new_link(self, tenant: str, person: str, now: datetime, until: datetime) -> str:
        """Store a link and return its secret, which works once, before `until`."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        params = {
            "secret_hash": hash_of(secret),
            "tenant": storable(tenant),
            "person": storable(person),
            "made_at": micros(now),
            "until": micros(until),
        }

        def work() -> Work[None]:
            yield from execute(ADD_LINK, params)
            yield from execute(TRIM_LINKS, {name: params[name] for name in ("tenant", "person")})

        await self._database.run(work)
        return secret

    async def sign_in(
        self, link_secret: str, label: str, zone: str, now: datetime, until: datetime
    ) -> tuple[str, ConsoleSession] | None:
        """Use a link: return the secret of a new session and the session; None for a link that is
        unknown, used or too old."""
        secret, id_ = secrets.token_urlsafe(SECRET_BYTES), secrets.token_hex(8)

        def work() -> Work[ConsoleSession | None]:
            used = {"secret_hash": hash_of(link_secret), "now": micros(now)}
            row = yield from fetch_first(USE_LINK, used)
            if row is None:
                return None
            made = ConsoleSession(
                id_,
                str(row[0]),
                str(row[1]),
                storable(label[:MAX_LABEL]),
                storable(zone[:MAX_ZONE]),
                "",
                now,
                now,
                until,
            )
            params = {
                "secret_hash": hash_of(secret),
                "id": id_,
                "tenant": made.tenant,
                "person": made.person,
                "label": made.label,
                "zone": made.zone,
                "now": micros(now),
                "until": micros(until),
            }
            yield from execute(ADD, params)
            yield from execute(TRIM, {"tenant": made.tenant, "person": made.person})
            return made

        made = await self._database.run(work)
        return None if made is None else (secret, made)

    async def find(self, secret: str, now: datetime, idle_since: datetime) -> ConsoleSession | None:
        """Return the session with this secret, if it is valid and was used after `idle_since`, and
        note its use, if the database takes it."""
        params = {"secret_hash": hash_of(secret), **_times(now, idle_since)}
        rows = await self._database.fetch(FIND, params)
        if not rows:
            return None
        session = _session(rows[0])
        if now - session.seen_at >= SEEN_EVERY:
            with suppress(StoreUnavailable):  # on a full disk the pages say so: they are readable
                await self._database.change(SEE, {"id": session.id, "now": micros(now)})
        return session

    async def choose(self, session_id: str, zone: str, theme: str) -> None:
        """Store the time zone and the theme of a session."""
        params = {
            "id": session_id,
            "zone": storable(zone[:MAX_ZONE]),
            "theme": storable(theme[:MAX_ZONE]),
        }
        await self._database.change(CHOOSE, params)

    async def of_person(
        self, tenant: str, person: str, now: datetime, idle_since: datetime
    ) -> Sequence[ConsoleSession]:
        """Return the valid sessions of a person, the last used first."""
        params: dict[str, object] = {"tenant": storable(tenant), "person": storable(person)}
        params |= _times(now, idle_since)
        return [_session(row) for row in await self._database.fetch(OF_PERSON, params)]

    async def end(self, tenant: str, person: str, session_id: str) -> bool:
        """End a session of this person; False if there is none with this id."""
        params = {
            "id": storable(session_id),
            "tenant": storable(tenant),
            "person": storable(person),
        }
        return await self._database.change(END, params) == 1

    async def end_all(self, tenant: str, person: str, keep: str = "") -> int:
        """End the sessions of a person except `keep`, and drop their links; return the number of
        ended sessions."""
        whose = {"tenant": storable(tenant), "person": storable(person)}

        def work() -> Work[int]:
            yield from execute(DROP_LINKS, whose)
            return (yield from change(END_ALL, {**whose, "keep": keep}))

        return await self._database.run(work)

    async def prune(self, now: datetime) -> int:
        """Delete some expired links and sessions; return how many, 0 at the end."""
        params = {"now": micros(now)}
        links = await delete_some(self._database, PRUNE_LINKS, params)
        return links + await delete_some(self._database, PRUNE, params)


def _times(now: datetime, idle_since: datetime) -> dict[str, object]:
    return {"now": micros(now), "idle_since": micros(idle_since)}


def _session(row: Row) -> ConsoleSession:
    id_, tenant, person, label, zone, theme, made_at, seen_at, until = row
    times = (time_of(made_at), time_of(seen_at), time_of(until))
    return ConsoleSession(id_, tenant, person, label, zone, theme, *times)
