"""The published contract suite of memory, for Parley's own memory and for backends of the port."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from parley.testing import MemoryCase
from parley.testing.memory_contract import *  # noqa: F403 - the tests of the suite
from tests.support.databases import migrated_database
from tests.support.memory_backends import SHELVES
from tests.support.servers import PostgresServer

POSTGRES: dict[str, str] = {}
"""The database of the test that runs."""


def postgres_settings(folder: Path) -> Mapping[str, object]:
    return {
        "database": {"url": POSTGRES["url"]},
        "storage": {"url": f"sqlite:///{folder / 'hot.db'}"},
    }


def backend_settings(factory: str, *names: str) -> Callable[[Path], Mapping[str, object]]:
    def settings(folder: Path) -> Mapping[str, object]:
        load = {"shelf": f"tests.support.memory_backends:{factory}"}
        options = {"shelf": {"shelf": str(folder)}}
        return {"memory": {"backend": names, "backend_load": load, "backend_options": options}}

    return settings


MEMORY_CASES = (
    MemoryCase("sqlite", lambda folder: {}),
    MemoryCase("postgres", postgres_settings),
    MemoryCase("searching", backend_settings("searching_backend", "shelf"), "shelf"),
    MemoryCase("with builtin", backend_settings("dict_backend", "shelf", "builtin"), "shelf"),
)


@pytest_asyncio.fixture(autouse=True)
async def _empty(request: pytest.FixtureRequest, memory_case: MemoryCase) -> None:
    SHELVES.clear()
    if memory_case.name == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        POSTGRES["url"] = migrated_database(server)
