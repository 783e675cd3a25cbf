"""SOUL, BIBLE and HEARTBEAT in PostgreSQL, with their versions. Writers of one take turns."""

from datetime import UTC, datetime
from typing import Final

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from memory.scope import Reach
from memory.store.documents import check_author, owners_of
from memory.store.limits import MAX_VERSIONS
from memory.store.ports import Document, Version
from memory.store.postgres.locks import LOCK, lock_numbers

VERSIONS: Final = """
    SELECT number, content, author, at, synced_at FROM brain_documents
    WHERE tenant = %(tenant)s AND document = %(document)s AND owner = ANY (%(owners)s::text[])
    ORDER BY number DESC, at DESC LIMIT %(limit)s
"""
ADD: Final = """
    WITH gone AS (
        DELETE FROM brain_documents WHERE tenant = %(tenant)s AND document = %(document)s
            AND owner = %(owner)s AND number <= %(number)s - %(kept)s
    )
    INSERT INTO brain_documents VALUES (%(tenant)s, %(document)s, %(owner)s, %(number)s,
        %(content)s, %(author)s, %(at)s, %(synced_at)s)
"""


TAKE_BACK: Final = """
    DELETE FROM brain_documents WHERE tenant = %(tenant)s AND document = %(document)s
        AND owner = %(owner)s AND number = %(number)s AND author = %(author)s
        AND NOT EXISTS (SELECT FROM brain_documents newer
            WHERE newer.tenant = %(tenant)s AND newer.document = %(document)s
                AND newer.owner = ANY (%(owners)s::text[]) AND newer.number > %(number)s)
"""


class PostgresBrain:
    """Implements `memory.store.ports.BrainStore`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def read(self, reach: Reach, document: Document) -> Version | None:
        """The newest version within reach."""
        found = await self.versions(reach, document, 1)
        return found[0] if found else None

    async def write(
        self,
        reach: Reach,
        document: Document,
        content: str,
        author: str,
        at: datetime,
        *,
        based_on: int | None = None,
        synced_at: datetime | None = None,
    ) -> Version | None:
        """Add a version; None when `based_on` is not the newest any more."""
        check_author(reach, document, author)
        owners = owners_of(reach, document, reading=False)
        asked = _asked(reach, document, owners) | {
            "owner": reach.person if document == "soul" else reach.project,
            "content": storable(content),
            "author": storable(author),
            "at": at,
            "synced_at": synced_at,
            "limit": 1,
            "kept": MAX_VERSIONS,
        }
        locks = lock_numbers(f"{document} {reach.tenant} {owner}" for owner in owners)

        async def work(connection: Connection) -> Version | None:
            async with connection.transaction():
                await connection.execute(LOCK, (locks,))
                newest = await (await connection.execute(VERSIONS, asked)).fetchone()
                last = 0 if newest is None else int(newest[0])
                if based_on is not None and based_on != last:
                    return None
                await connection.execute(ADD, asked | {"number": last + 1})
            return Version(document, last + 1, storable(content), author, at, synced_at)

        return await self._engine.with_connection(work)

    async def take_back(self, reach: Reach, document: Document, number: int, author: str) -> bool:
        """Delete this version, if `author` wrote it and it is the newest."""
        owners = owners_of(reach, document, reading=False)
        asked = _asked(reach, document, owners) | {
            "owner": reach.person if document == "soul" else reach.project,
            "author": storable(author),
            "number": number,
        }
        return await self._engine.change_raw(TAKE_BACK, asked) == 1

    async def versions(self, reach: Reach, document: Document, limit: int) -> list[Version]:
        """Newest first."""
        owners = owners_of(reach, document, reading=True)
        asked = _asked(reach, document, owners) | {"limit": limit}
        rows = await self._engine.fetch_raw(VERSIONS, asked)
        return [version_of(document, *row) for row in rows]


def version_of(
    document: Document,
    number: int,
    content: str,
    author: str,
    at: datetime,
    synced_at: datetime | None,
) -> Version:
    """A row as a value."""
    synced = None if synced_at is None else synced_at.astimezone(UTC)
    return Version(document, number, content, author, at.astimezone(UTC), synced)


def _asked(reach: Reach, document: Document, owners: tuple[str, ...]) -> dict[str, object]:
    return {
        "tenant": storable(reach.tenant),
        "document": document,
        "owners": [storable(owner) for owner in owners],
    }
