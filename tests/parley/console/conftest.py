"""A running program with its console."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parley.console.kit import Console, Sections, console_in, console_settings, on_postgres
from tests.parley.console.talk import World, world_in


@pytest.fixture
def sections() -> Sections:
    """The sections that the tests of a module add to the configuration."""
    return {}


@pytest.fixture
async def console(tmp_path: Path, sections: Sections) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path, **sections)) as started:
        yield started


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def either_console(
    request: pytest.FixtureRequest, tmp_path: Path, sections: Sections
) -> AsyncIterator[Console]:
    """The program on each engine."""
    if request.param == "postgres":
        sections = {**sections, **on_postgres(request.getfixturevalue("postgres"), tmp_path)}
    async with console_in(console_settings(tmp_path, **sections)) as started:
        yield started


@pytest.fixture
async def world(console: Console) -> World:
    return await world_in(console.app)


@pytest.fixture
def undelivered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave sends in the outbox, where tests look at them."""
    monkeypatch.setattr("gateway.outbound.deliverer.Deliverer.submit", lambda *_: None)
