"""A platform that confirms every membership, and the program on each engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.outbound.membership import PlatformMembership
from gateway.ports import MembershipStatus
from tests.parley.console.kit import Console, console_in, console_settings
from tests.parley.http.api.kit import postgres_settings_in
from tests.support.servers import PostgresServer


@pytest.fixture(autouse=True)
def everybody_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confirm every membership: the web page has no list of members to ask."""

    async def belongs(_: PlatformMembership, _person: str, _project: str) -> MembershipStatus:
        return MembershipStatus.MEMBER

    monkeypatch.setattr(PlatformMembership, "belongs", belongs)


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def either_console(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Console]:
    """The program on each engine."""
    settings = console_settings(tmp_path)
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        base = postgres_settings_in(tmp_path, server)
        settings = base.model_copy(update={"access": settings.access})
    async with console_in(settings) as started:
        yield started
