"""Of whom memory keeps something, and how much, in SQLite. No content."""

from typing import Final

from db.sqlite import SqliteDatabase
from memory.store.ports import Counted

KNOWN: Final = """
    SELECT person, sum(episodic), sum(semantic), sum(waiting) FROM (
        SELECT person, tier = 'episodic' AS episodic, tier = 'semantic' AS semantic, 0 AS waiting
            FROM memories WHERE tenant = :tenant AND scope = 'user'
        UNION ALL SELECT person, 0, 0, 1 FROM memory_reviews
            WHERE tenant = :tenant AND state = 'pending'
        UNION ALL SELECT person, 0, 0, 0 FROM people_links WHERE tenant = :tenant
        UNION ALL SELECT person, 0, 0, 0 FROM people_choices WHERE tenant = :tenant
        UNION ALL SELECT owner, 0, 0, 0 FROM brain_documents
            WHERE tenant = :tenant AND document = 'soul'
    ) GROUP BY person HAVING person <> '' ORDER BY person LIMIT :limit
"""


class SqliteCensus:
    """Implements `memory.store.ports.Census`."""

    def __init__(self, engine: SqliteDatabase) -> None:
        self._engine = engine

    async def known(self, tenant: str, limit: int) -> list[Counted]:
        """In order of their ids."""
        asked = {"tenant": tenant, "limit": limit}
        rows = await self._engine.run_job(lambda db: db.execute(KNOWN, asked).fetchall())
        return [Counted(*row) for row in rows]
