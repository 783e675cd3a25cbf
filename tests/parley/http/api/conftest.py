"""A running program, and two people who do not trust each other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.outbound.membership import PlatformMembership
from gateway.ports import MembershipStatus
from tests.parley.http.api.kit import ApiClient, Program, running, settings_in


@pytest.fixture(autouse=True)
def members(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Pairs of person and project who left: no platform is connected here that could be asked."""
    gone: set[tuple[str, str]] = set()

    async def belongs(_: PlatformMembership, person: str, project: str) -> MembershipStatus:
        return MembershipStatus.GONE if (person, project) in gone else MembershipStatus.MEMBER

    monkeypatch.setattr(PlatformMembership, "belongs", belongs)
    return gone


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    async with running(settings_in(tmp_path)) as started:
        yield started


@pytest.fixture
def ada(program: Program) -> ApiClient:
    return program.api_client("ada")


@pytest.fixture
def eve(program: Program) -> ApiClient:
    return program.api_client("eve")


@pytest.fixture
def olga(program: Program) -> ApiClient:
    """The operator."""
    return program.api_client("olga")
