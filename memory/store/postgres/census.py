"""Of whom memory keeps something, and how much, in PostgreSQL. No content."""

from typing import Final

from db.postgres import PostgresDatabase
from memory.store.ports import Counted

KNOWN: Final = """
    SELECT person, sum(episodic)::bigint, sum(semantic)::bigint, sum(waiting)::bigint FROM (
        SELECT person, (tier = 'episodic')::integer AS episodic,
            (tier = 'semantic')::integer AS semantic, 0 AS waiting
            FROM memories WHERE tenant = %(tenant)s AND scope = 'user'
        UNION ALL SELECT person, 0, 0, 1 FROM memory_reviews
            WHERE tenant = %(tenant)s AND state = 'pending'
        UNION ALL SELECT person, 0, 0, 0 FROM people_links WHERE tenant = %(tenant)s
        UNION ALL SELECT person, 0, 0, 0 FROM people_choices WHERE tenant = %(tenant)s
        UNION ALL SELECT owner, 0, 0, 0 FROM brain_documents
            WHERE tenant = %(tenant)s AND document = 'soul'
    ) known GROUP BY person HAVING person <> '' ORDER BY person COLLATE "C" LIMIT %(limit)s
"""


class PostgresCensus:
    """Implements `memory.store.ports.Census`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def known(self, tenant: str, limit: int) -> list[Counted]:
        """In order of their ids."""
        rows = await self._engine.fetch_raw(KNOWN, {"tenant": tenant, "limit": limit})
        return [Counted(*row) for row in rows]
