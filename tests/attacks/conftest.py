"""The programs that are attacked, started once for each engine and kind of limits."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from tests.attacks.stage import Kind, Stage, staged
from tests.support.databases import new_database
from tests.support.servers import PostgresServer

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


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def theatre(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Theatre]:
    """The programs of this suite."""
    folder = tmp_path_factory.mktemp("attacks")
    made = Theatre(folder, lambda: request.getfixturevalue("postgres"))  # if an attack needs it
    yield made
    await made.close()
