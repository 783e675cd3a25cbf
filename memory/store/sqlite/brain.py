"""SOUL, BIBLE and HEARTBEAT in SQLite, with their versions."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
from db.values import storable
from memory.scope import Reach
from memory.store.documents import check_author, owners_of
from memory.store.limits import MAX_VERSIONS
from memory.store.ports import Document, Version
from memory.store.sqlite.rows import moment, seconds

VERSIONS: Final = """
    SELECT number, content, author, at, synced_at FROM brain_documents
    WHERE tenant = :tenant AND document = :document
        AND owner IN (SELECT value FROM json_each(:owners))
    ORDER BY number DESC, at DESC LIMIT :limit
"""
NEWEST: Final = """
    SELECT number, content, author, at, synced_at FROM brain_documents
    WHERE tenant = ? AND document = ? AND owner = ? ORDER BY number DESC LIMIT 1
"""
ADD: Final = """
    INSERT INTO brain_documents VALUES
        (:tenant, :document, :owner, :number, :content, :author, :at, :synced_at)
"""
FORGET: Final = """
    DELETE FROM brain_documents WHERE tenant = :tenant AND document = :document
        AND owner = :owner AND number <= :number - :kept
"""


TAKE_BACK: Final = """
    DELETE FROM brain_documents WHERE tenant = :tenant AND document = :document
        AND owner = :owner AND number = :number AND author = :author
        AND NOT EXISTS (SELECT 1 FROM brain_documents newer
            WHERE newer.tenant = :tenant AND newer.document = :document
                AND newer.owner IN (SELECT value FROM json_each(:owners))
                AND newer.number > :number)
"""


class SqliteBrain:
    """Implements `memory.store.ports.BrainStore`."""

    def __init__(self, engine: SqliteDatabase) -> None:
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
            "at": at.timestamp(),
            "synced_at": seconds(synced_at),
            "limit": 1,
            "kept": MAX_VERSIONS,
        }

        def job(db: sqlite3.Connection) -> Version | None:
            newest = db.execute(VERSIONS, asked).fetchone()
            last = 0 if newest is None else int(newest[0])
            if based_on is not None and based_on != last:
                return None
            row = asked | {"number": last + 1}
            db.execute(ADD, row)
            db.execute(FORGET, row)
            return Version(document, last + 1, storable(content), author, at, synced_at)

        return await self._engine.run_job(job)

    async def take_back(self, reach: Reach, document: Document, number: int, author: str) -> bool:
        """Delete this version, if `author` wrote it and it is the newest."""
        owners = owners_of(reach, document, reading=False)
        asked = _asked(reach, document, owners) | {
            "owner": reach.person if document == "soul" else reach.project,
            "author": storable(author),
            "number": number,
        }
        return await self._engine.run_job(lambda db: db.execute(TAKE_BACK, asked).rowcount == 1)

    async def versions(self, reach: Reach, document: Document, limit: int) -> list[Version]:
        """Newest first."""
        owners = owners_of(reach, document, reading=True)
        asked = _asked(reach, document, owners) | {"limit": limit}
        rows = await self._engine.run_job(lambda db: db.execute(VERSIONS, asked).fetchall())
        return [_version(document, row) for row in rows]


def newest(
    db: sqlite3.Connection, tenant: str, persons: Sequence[str], project: str
) -> dict[Document, Version]:
    """The newest SOUL of these identities and documents of this project, inside the caller's
    transaction; none of those where they are empty."""
    wanted: list[tuple[Document, str]] = [("soul", person) for person in persons]
    if project:
        wanted += [("bible", project), ("heartbeat", project)]
    found: dict[Document, Version] = {}
    for document, owner in wanted:
        row = db.execute(NEWEST, (tenant, document, owner)).fetchone()
        if row is not None:
            version, other = _version(document, row), found.get(document)
            if other is None or (version.number, version.at) > (other.number, other.at):
                found[document] = version
    return found


def _version(document: Document, row: tuple[int, str, str, float, float | None]) -> Version:
    number, content, author, at, synced_at = row
    synced = None if synced_at is None else moment(synced_at)
    return Version(document, number, content, author, moment(at), synced)


def _asked(reach: Reach, document: Document, owners: tuple[str, ...]) -> dict[str, object]:
    return {
        "tenant": storable(reach.tenant),
        "document": document,
        "owners": json.dumps([storable(owner) for owner in owners]),
    }
