"""SOUL, BIBLE and HEARTBEAT, with their versions. Writers of one take turns."""

from datetime import datetime
from typing import Final

from db import Database, Row, Statement, Work, among, execute, fetch_first, lock
from db.values import micros, micros_or_none, storable, time_of, time_or_none
from gateway.errors import UsageError
from memory.model.scope import AccessScope
from memory.ports.documents import Document, Version
from memory.stores.limits import MAX_VERSIONS

SYSTEM = "system"
"""The author of documents that the program writes."""


def owners_of(access: AccessScope, document: Document, *, reading: bool) -> tuple[str, ...]:
    """Return the owners of a document: all linked identities for a SOUL, if private memories may be
    shown, else the project."""
    if document == "soul":
        return access.persons if access.private or not reading else ()
    return (access.project,) if access.project else ()


def check_author(access: AccessScope, document: Document, author: str) -> None:
    """Raise `BadInput` unless this author may write: BIBLE only by operators, HEARTBEAT by no
    person."""
    if document != "soul" and not access.project:
        raise UsageError(f"the {document} belongs to a project; choose one with /project first")
    if author == SYSTEM:
        return
    if document == "heartbeat":
        raise UsageError("the heartbeat is written by the program alone")
    if document == "bible" and not access.operates:
        raise UsageError("the bible is written by operators")


VERSIONS: Final = Statement(f"""
    SELECT number, content, author, at, synced_at FROM brain_documents
    WHERE tenant = :tenant AND document = :document AND {among("owner", "owners")}
    ORDER BY number DESC, at DESC LIMIT :limit
""")
ADD: Final = Statement("""
    INSERT INTO brain_documents
        (tenant, document, owner, number, content, author, at, synced_at)
    VALUES (:tenant, :document, :owner, :number, :content, :author, :at, :synced_at)
""")
FORGET: Final = Statement("""
    DELETE FROM brain_documents WHERE tenant = :tenant AND document = :document
        AND owner = :owner AND number <= :number - :kept
""")
TAKE_BACK: Final = Statement(f"""
    DELETE FROM brain_documents WHERE tenant = :tenant AND document = :document
        AND owner = :owner AND number = :number AND author = :author
        AND NOT EXISTS (SELECT 1 FROM brain_documents newer
            WHERE newer.tenant = :tenant AND newer.document = :document
                AND {among("newer.owner", "owners")} AND newer.number > :number)
""")


class DocumentStore:
    """Documents of people (SOUL) and of projects (BIBLE, HEARTBEAT), with up to 200 versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, access: AccessScope, document: Document) -> Version | None:
        """Return the newest version; a SOUL only if `access.private`."""
        newest = await self.versions(access, document, 1)
        return newest[0] if newest else None

    async def write(
        self,
        access: AccessScope,
        document: Document,
        content: str,
        author: str,
        at: datetime,
        *,
        based_on: int | None = None,
        synced_at: datetime | None = None,
    ) -> Version | None:
        """Add a version; None if `based_on` is no longer the newest."""
        check_author(access, document, author)
        owners = owners_of(access, document, reading=False)
        params = _params(access, document, owners) | {
            "content": storable(content),
            "author": storable(author),
            "at": micros(at),
            "synced_at": micros_or_none(synced_at),
            "limit": 1,
            "kept": MAX_VERSIONS,
        }

        def work() -> Work[Version | None]:
            yield from lock(*(f"{document} {access.tenant} {owner}" for owner in owners))
            newest = yield from fetch_first(VERSIONS, params)
            last = 0 if newest is None else int(newest[0])
            if based_on is not None and based_on != last:
                return None
            numbered = params | {"number": last + 1}
            yield from execute(ADD, numbered)
            yield from execute(FORGET, numbered)
            return Version(document, last + 1, storable(content), author, at, synced_at)

        return await self._database.run(work)

    async def take_back(
        self, access: AccessScope, document: Document, number: int, author: str
    ) -> bool:
        """Delete this version if `author` wrote it and it is the newest."""
        owners = owners_of(access, document, reading=False)
        params = _params(access, document, owners) | {"author": storable(author), "number": number}
        return await self._database.change(TAKE_BACK, params) == 1

    async def versions(self, access: AccessScope, document: Document, limit: int) -> list[Version]:
        """Return versions, newest first."""
        owners = owners_of(access, document, reading=True)
        params = _params(access, document, owners) | {"limit": limit}
        rows = await self._database.fetch(VERSIONS, params)
        return [version_of(document, row) for row in rows]


def version_of(document: Document, row: Row) -> Version:
    """The version in a row: number, content, author, and the two times."""
    number, content, author, at, synced_at = row
    return Version(document, number, content, author, time_of(at), time_or_none(synced_at))


def _params(access: AccessScope, document: Document, owners: tuple[str, ...]) -> dict[str, object]:
    return {
        "tenant": storable(access.tenant),
        "document": document,
        "owner": storable(access.person if document == "soul" else access.project),
        "owners": [storable(owner) for owner in owners],
    }
