"""Vectors in SQLite: stored as float32, compared in memory."""

import struct
from typing import TYPE_CHECKING, Final

from db import Database, Params, Statement
from db.values import storable
from memory.ports.memories import TextVector
from memory.stores.filters import VectorQuery

if TYPE_CHECKING:
    from memory.stores.sqlite.nearest_vectors import NearestVectors

SET: Final = Statement("""
    INSERT OR REPLACE INTO memory_vectors (memory, model, dimension, owner, room, vector)
    SELECT seq, :model, :dimension, owner,
        iif(scope = 'user' AND room <> '', tenant || char(31) || room, ''), :vector
    FROM memories WHERE id = :id AND content = :text
""")


class SqliteVectors:
    """Implements `memory.stores.search.VectorSearch`."""

    setting: Statement = SET

    def __init__(self, database: Database) -> None:
        self._database = database
        self._nearest: NearestVectors | None = None

    async def there(self) -> bool:
        return True

    async def made(self) -> bool:
        return True

    def values(self, vector: TextVector) -> Params:
        embedding = vector.embedding
        return {
            "id": storable(vector.memory_id),
            "text": storable(vector.text),
            "model": storable(embedding.model),
            "dimension": embedding.dimension,
            "vector": struct.pack(f"<{embedding.dimension}f", *embedding.vector),
        }

    def vector(self, kept: object) -> tuple[float, ...]:
        return struct.unpack(f"<{len(kept) // 4}f", kept) if isinstance(kept, bytes) else ()

    async def nearest(self, query: VectorQuery) -> list[tuple[str, float]]:
        if self._nearest is None:
            # numpy costs 0.3 s and 25 MB, and is wanted only where there is a model
            from memory.stores.matrices import Matrices  # noqa: PLC0415 - loaded only where needed
            from memory.stores.sqlite.nearest_vectors import (  # noqa: PLC0415 - as above
                NearestVectors,
            )

            self._nearest = NearestVectors(self._database, Matrices())
        return await self._nearest.nearest(query)
