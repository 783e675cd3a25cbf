"""Of whom memory keeps something, and how much. No content."""

from typing import Final

from db import Database, Statement
from db.fragments import in_byte_order
from memory.ports import PersonCount

KNOWN: Final = Statement(f"""
    SELECT person, sum(episodic), sum(semantic), sum(waiting) FROM (
        SELECT person, CASE WHEN tier = 'episodic' THEN 1 ELSE 0 END AS episodic,
            CASE WHEN tier = 'semantic' THEN 1 ELSE 0 END AS semantic, 0 AS waiting
            FROM memories WHERE tenant = :tenant AND scope = 'user'
        UNION ALL SELECT person, 0, 0, 1 FROM memory_reviews
            WHERE tenant = :tenant AND state = 'pending'
        UNION ALL SELECT person, 0, 0, 0 FROM people_links WHERE tenant = :tenant
        UNION ALL SELECT person, 0, 0, 0 FROM people_choices WHERE tenant = :tenant
        UNION ALL SELECT owner, 0, 0, 0 FROM brain_documents
            WHERE tenant = :tenant AND document = 'soul'
    ) AS known GROUP BY person HAVING person <> '' ORDER BY {in_byte_order("person")} LIMIT :limit
""")  # noqa: S608 - constants


class SqlMemoryCounts:
    """Implements `memory.ports.MemoryCounts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, tenant: str, limit: int) -> list[PersonCount]:
        """In order of their ids."""
        rows = await self._database.fetch(KNOWN, {"tenant": tenant, "limit": limit})
        return [PersonCount(*row) for row in rows]
