"""What the libraries of services share: they are slow to import, and told when to come again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Final, Generic, Protocol, TypeVar

CONNECT_SECONDS: Final = 5.0
MAX_REASON: Final = 300
"""Characters of a service's own words that an error repeats."""


class Client(Protocol):
    """A library's client."""

    async def close(self) -> None: ...


C = TypeVar("C", bound=Client)


class LazyClient(Generic[C]):
    """A library and its client, made on first use in a thread, once."""

    def __init__(self, make: Callable[[], tuple[ModuleType, C]]) -> None:
        self._make = make
        self._loading: asyncio.Task[tuple[ModuleType, C]] | None = None

    async def loaded(self) -> tuple[ModuleType, C]:
        """Both; whoever is cancelled meanwhile takes nothing from others that wait."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._loading)

    async def close(self) -> None:
        """Close the connections; a further use makes a client anew."""
        loading, self._loading = self._loading, None
        if loading is not None:
            _, client = await loading
            await client.close()


def retry_after(header: str | None) -> float | None:
    """The seconds of a `retry-after`, at least 0; None where it says none, or a date."""
    with suppress(ValueError):
        return max(0.0, float(header)) if header else None
    return None
