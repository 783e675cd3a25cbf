"""A running program, and two people who do not trust each other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.membership import AskedOfPlatforms
from gateway.ports import Belonging
from tests.parley.http.api.kit import Caller, Program, running, settings_in


@pytest.fixture(autouse=True)
def members(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Pairs of person and project who left: no platform is connected here that could be asked."""
    gone: set[tuple[str, str]] = set()

    async def belongs(_: AskedOfPlatforms, person: str, project: str) -> Belonging:
        return Belonging.GONE if (person, project) in gone else Belonging.MEMBER

    monkeypatch.setattr(AskedOfPlatforms, "belongs", belongs)
    return gone


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    async with running(settings_in(tmp_path)) as started:
        yield started


@pytest.fixture
def ada(program: Program) -> Caller:
    return program.caller("ada")


@pytest.fixture
def eve(program: Program) -> Caller:
    return program.caller("eve")


@pytest.fixture
def olga(program: Program) -> Caller:
    """The operator."""
    return program.caller("olga")
