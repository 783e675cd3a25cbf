"""The repositories that an access may read."""

from typing import Final

from db import Database, Statement
from db.values import storable
from memory.knowledge.access import READS, RESTRICTED, KnowledgeAccess
from memory.knowledge.model import Repository
from memory.knowledge.stores.repositories import COLUMNS, repository_of

READABLE: Final = Statement(f"""
    SELECT {COLUMNS} FROM knowledge_repositories r WHERE {READS} ORDER BY r.name, r.id LIMIT :limit
""")
ANY_RESTRICTED: Final = Statement(
    f"SELECT 1 FROM knowledge_repositories r WHERE r.tenant = :tenant AND {RESTRICTED} LIMIT 1"
)
"""A forgotten repository counts until it is deleted."""


class SqlReadable:
    """Implements `memory.knowledge.reader.Readable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        params = access.parameters() | {"limit": limit}
        return [repository_of(row) for row in await self._database.fetch(READABLE, params)]

    async def any_restricted(self, tenant: str) -> bool:
        """True if a repository of the tenant may not be read by everybody."""
        return bool(await self._database.fetch(ANY_RESTRICTED, {"tenant": storable(tenant)}))
