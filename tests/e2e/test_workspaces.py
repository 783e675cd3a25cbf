"""A server of Discord or a team of Slack that is allowed, or blocked."""

from collections.abc import Mapping
from pathlib import Path

from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab

WORKSPACES = only("discord", "slack-socket")


def workspace(platform: PlatformSimulator) -> str:
    """The id of the only workspace there is."""
    if isinstance(platform, DiscordSimulator):
        return f"discord:{platform.world.guild_id}"
    assert isinstance(platform, SlackSimulator)
    return f"slack:{platform.world.team}"


def only_this(platform: PlatformSimulator) -> Mapping[str, object]:
    return {"access": {"allowed_workspaces": [workspace(platform)]}}


def only_another(platform: PlatformSimulator) -> Mapping[str, object]:
    return {"access": {"allowed_workspaces": [f"{platform.platform}:123456789"]}}


def but_this(platform: PlatformSimulator) -> Mapping[str, object]:
    return {"access": {"blocked_workspaces": [workspace(platform)]}}


async def reason(lab: Lab, *, direct: bool = False) -> str:
    """The reason why a question was answered, or not."""
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada) if direct else lab.platform.room("general")
    message_id = await lab.platform.say(ada, room, "hello", mention=not direct)
    return (await lab.reasons(message_id))[-1]


@WORKSPACES
async def test_the_allowed_workspace_is_served(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, only_this) as lab:
        ada = lab.platform.person("Ada")
        room = lab.platform.room("general")
        await lab.platform.say(ada, room, "hello", mention=True)
        await lab.answer(room)


@WORKSPACES
async def test_other_workspaces_are_refused(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, only_another) as lab:
        assert await reason(lab) == "workspace_not_allowed"
        assert await reason(lab, direct=True) == "workspace_not_allowed"
        assert await lab.quiet(lab.platform.room("general")) == []


@WORKSPACES
async def test_a_blocked_workspace_is_refused(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, but_this) as lab:
        assert await reason(lab) == "workspace_blocked"
        assert await lab.quiet(lab.platform.room("general")) == []


@only("discord")
async def test_a_direct_message_belongs_to_no_server(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, only_this) as lab:
        assert await reason(lab, direct=True) == "workspace_not_allowed"
