"""The programs that are attacked, started once for each engine and kind of limits."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from tests.attacks.stage import Kind, Stage, staged
from tests.support.databases import new_database
from tests.support.servers import PostgresServer, postgres_server

Stages: TypeAlias = "Theatre"


class Theatre:
    """Starts a program when the first attack needs it."""

    def __init__(self, folder: Path, postgres: Callable[[], PostgresServer]) -> None:
        self._folder = folder
        self._postgres = postgres
        self._open: dict[tuple[str, Kind], Stage] = {}
        self._stack = AsyncExitStack()

    async def stage(self, engine: str, kind: Kind) -> Stage:
        """The running program for an engine and a kind of limits."""
        if (engine, kind) not in self._open:
            folder = self._folder / f"{engine}-{kind}"
            folder.mkdir()
            database = new_database(self._postgres()) if engine == "postgres" else ""
            opened = await self._stack.enter_async_context(staged(kind, folder, database))
            self._open[engine, kind] = opened
        return self._open[engine, kind]

    async def close(self) -> None:
        """Stop everything."""
        await self._stack.aclose()


@pytest.fixture(scope="package")
def postgres() -> Iterator[Callable[[], PostgresServer]]:
    """A PostgreSQL server that starts when it is asked for."""
    with AsyncOrNot() as server:
        yield server


class AsyncOrNot:
    """Starts the server once, at its first use."""

    def __init__(self) -> None:
        self._context = postgres_server()
        self._server: PostgresServer | None = None

    def __enter__(self) -> Callable[[], PostgresServer]:
        return self._get

    def _get(self) -> PostgresServer:
        if self._server is None:
            self._server = self._context.__enter__()
        return self._server

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._context.__exit__(None, None, None)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def theatre(
    tmp_path_factory: pytest.TempPathFactory, postgres: Callable[[], PostgresServer]
) -> AsyncIterator[Theatre]:
    """The programs of this suite."""
    made = Theatre(tmp_path_factory.mktemp("attacks"), postgres)
    yield made
    await made.close()
