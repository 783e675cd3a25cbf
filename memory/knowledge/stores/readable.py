"""The repositories that an access may read."""

from typing import Final

from db import Database, Statement
from memory.knowledge.access import READS, KnowledgeAccess
from memory.knowledge.model import Repository
from memory.knowledge.stores.repositories import COLUMNS, repository_of

READABLE: Final = Statement(f"""
    SELECT {COLUMNS} FROM knowledge_repositories r WHERE {READS} ORDER BY r.name, r.id LIMIT :limit
""")  # noqa: S608 - constants of this module


class SqlReadable:
    """Implements `memory.knowledge.reader.Readable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        params = access.parameters() | {"limit": limit}
        return [repository_of(row) for row in await self._database.fetch(READABLE, params)]
