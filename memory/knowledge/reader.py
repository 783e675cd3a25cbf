"""Searches repositories for one request, with the access of that request."""

from typing import Protocol

from memory.knowledge.access import KnowledgeAccess, channel_name, knowledge_access_of
from memory.knowledge.model import Hit, KnowledgeQuery, Repository
from memory.model.scope import RequestScope


class Search(Protocol):
    """Searches what an access may read. Raises `StoreUnavailable`."""

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[Hit]:
        """Return matching parts of files, best first."""
        ...


class Readable(Protocol):
    """Lists what an access may read. Raises `StoreUnavailable`."""

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        ...


class Bound(Protocol):
    """Knows the projects that rooms are bound to. Raises `StoreUnavailable`."""

    async def project(self, tenant: str, channel: str) -> str:
        """Return the project of a channel, empty for none."""
        ...


class KnowledgeReader:
    """The only way from a request to the text of a repository."""

    def __init__(self, search: Search, readable: Readable, bound: Bound) -> None:
        self._search = search
        self._readable = readable
        self._bound = bound

    async def access(self, request: RequestScope) -> KnowledgeAccess:
        """Return the access of a request."""
        channel = channel_name(request.place)
        bound = await self._bound.project(request.principal.tenant, channel) if channel else ""
        return knowledge_access_of(request, bound)

    async def repositories(self, request: RequestScope, limit: int = 100) -> list[Repository]:
        """Return the repositories that the request may read, by name."""
        return await self._readable.readable(await self.access(request), limit)

    async def search(self, request: RequestScope, query: KnowledgeQuery) -> list[Hit]:
        """Return matching parts of files, best first."""
        return await self._search.search(await self.access(request), query)
