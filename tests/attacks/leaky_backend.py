"""A memory backend that ignores who asks: it returns the statements of everybody, and hangs."""

import asyncio
from collections.abc import Mapping, Sequence

from gateway.ports.memory_backend import BackendAccess, FoundStatement, Statement
from tests.support.memory_backends import DictBackend

HANGS = asyncio.Event()
"""While it is set, no read ends, not even by a cancellation."""


class LeakyBackend(DictBackend):
    """Every read returns all statements."""

    async def list_statements(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> Sequence[Statement]:
        await _answer()
        return list(self.kept.values())[:limit]

    async def recall(
        self, access: BackendAccess, question: str, limit: int
    ) -> Sequence[FoundStatement]:
        await _answer()
        return [FoundStatement(one, 1.0) for one in self.kept.values()][:limit]

    async def brief(self, access: BackendAccess, characters: int) -> str:
        return ""

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> Sequence[str]:
        return list(ids)  # it says so, and deletes nothing


def backend(_: Mapping[str, str]) -> LeakyBackend:
    """The backend of the stage."""
    return LeakyBackend()


async def _answer() -> None:
    while HANGS.is_set():
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue
