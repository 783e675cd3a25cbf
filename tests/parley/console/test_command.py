"""`/console` in a chat: who gets a link, and who could not open it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.memory import Caller
from parley.config import Settings
from tests.parley.console.kit import console_in, console_settings

PUBLIC = {"console": {"url": "https://parley.example.org"}}


async def answer(settings: Settings, platform: str, role: Role) -> str:
    """The answer to `/console` in a direct message."""
    person = PersonId(platform, "main", "7")
    place = Place(platform, "main", "7", Audience.DIRECT)
    caller = Caller("1", Principal("default", person, role), "Ada", place, "", datetime.now(UTC))
    async with console_in(settings) as console:
        reply = await console.app.services.more_commands.run("console", "", caller)
    return str(reply.markdown)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.GUEST])
async def test_a_member_gets_no_link_that_only_this_machine_opens(
    tmp_path: Path, role: Role
) -> None:
    said = await answer(console_settings(tmp_path), "telegram", role)
    assert "127.0.0.1" not in said
    assert "console.url" in said
    assert "/privacy" in said


@pytest.mark.parametrize(
    ("platform", "role"),
    [("telegram", Role.OWNER), ("slack", Role.OPERATOR), ("web", Role.MEMBER)],
)
async def test_who_may_be_at_this_machine_gets_a_link(
    tmp_path: Path, platform: str, role: Role
) -> None:
    said = await answer(console_settings(tmp_path), platform, role)
    assert "/console/sign-in#" in said
    assert ("the machine on which I run" in said) == (platform != "web")


async def test_everybody_gets_a_link_to_an_address_that_they_reach(tmp_path: Path) -> None:
    said = await answer(console_settings(tmp_path, **PUBLIC), "telegram", Role.MEMBER)
    assert "https://parley.example.org/console/sign-in#" in said
    assert "the machine" not in said
