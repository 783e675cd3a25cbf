"""Searches repositories for one request, with the access of that request."""

from typing import Protocol

from db.errors import StoreUnavailable
from memory.knowledge.access import KnowledgeAccess, channel_name, knowledge_access_of
from memory.knowledge.model import ChunkHit, KnowledgeQuery, Repository
from memory.model.scope import RequestScope
from memory.stores.room_bindings import RoomBindingStore


class Search(Protocol):
    """Searches what an access may read. Raises `StoreUnavailable`."""

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return matching parts of files, best first."""
        ...


class Readable(Protocol):
    """Lists what an access may read. Raises `StoreUnavailable`."""

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        ...

    async def any_restricted(self, tenant: str) -> bool:
        """True if a repository of the tenant may not be read by everybody."""
        ...


class KnowledgeReader:
    """The only way from a request to the text of a repository."""

    def __init__(self, search: Search, readable: Readable, bindings: RoomBindingStore) -> None:
        self._search = search
        self._readable = readable
        self._bindings = bindings

    async def access(self, request: RequestScope) -> KnowledgeAccess:
        """Return the access of a request."""
        channel = channel_name(request.place)
        bound = await self._bindings.project(request.principal.tenant, channel) if channel else ""
        return knowledge_access_of(request, bound)

    async def repositories(self, request: RequestScope, limit: int = 100) -> list[Repository]:
        """Return the repositories that the request may read, by name."""
        return await self._readable.readable(await self.access(request), limit)

    async def may_have_read_restricted(self, request: RequestScope) -> bool:
        """True if a client of this person may have text of a restricted repository, whatever
        project they have chosen now; also if that cannot be known at the moment."""
        if request.principal.outside:
            return False
        try:
            return await self._readable.any_restricted(request.principal.tenant)
        except StoreUnavailable:
            return True

    async def search(self, request: RequestScope, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return matching parts of files, best first."""
        return await self._search.search(await self.access(request), query)
