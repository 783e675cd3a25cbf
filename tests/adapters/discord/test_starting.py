"""Connecting, what is wrong with an account, and ending."""

import asyncio

import pytest

from adapters.discord.connection import DiscordAdapter
from adapters.discord.manifest import MANIFEST, DiscordSettings
from adapters.discord.socket import GatewayConnection
from gateway.errors import StartError
from gateway.message import MessageReceived
from gateway.ports import (
    CanDelete,
    CanDiagnose,
    CanFetchFiles,
    CanReact,
    CanType,
    PlatformAdapter,
)
from simulators.base import Fault
from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import Rig, connected
from tests.support.patience import PATIENCE

COMMANDS = "/applications/{id}/commands"


def test_only_the_token_is_needed() -> None:
    assert not DiscordSettings().configured()
    assert DiscordSettings().missing() == ()
    half = DiscordSettings.model_validate({"application_id": 123456789012345678})
    assert half.application_id == "123456789012345678"
    assert half.missing() == ("token",)
    whole = DiscordSettings.model_validate({"token": "abc.def"})
    assert whole.configured()
    assert "abc" not in repr(whole)


def test_the_adapter_is_what_its_manifest_says(sim: DiscordSimulator) -> None:
    adapter = Rig(sim).adapter
    for ability in (
        PlatformAdapter,
        CanDelete,
        CanType,
        CanReact,
        CanFetchFiles,
        CanDiagnose,
    ):
        assert isinstance(adapter, ability)
    assert adapter.capabilities is MANIFEST.capabilities
    assert f"{DiscordAdapter.__module__}:{DiscordAdapter.__name__}" == MANIFEST.load


async def test_a_wrong_token_cannot_be_cured_by_trying_again(sim: DiscordSimulator) -> None:
    rig = Rig(sim, token="wrong")
    with pytest.raises(StartError, match="refused the token") as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent
    assert "platforms.discord.token" in caught.value.advice
    assert "wrong" not in str(caught.value)


async def test_a_missing_intent_is_named_with_what_to_do(sim: DiscordSimulator) -> None:
    sim.message_content = False
    rig = Rig(sim)
    with pytest.raises(StartError) as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent
    assert "Message Content Intent" in caught.value.advice


async def test_the_members_intent_is_asked_for_only_when_it_is_wanted(
    sim: DiscordSimulator,
) -> None:
    async with connected(sim):
        pass
    rig = Rig(sim, members_intent=True)
    with pytest.raises(StartError) as caught:
        await rig.adapter.connect(rig.inbox)
    assert "Server Members Intent" in caught.value.advice
    sim.server_members = True
    async with connected(sim, members_intent=True):
        pass


async def test_another_applications_token_is_refused(sim: DiscordSimulator) -> None:
    rig = Rig(sim, application_id="42")
    with pytest.raises(StartError, match="not to 42") as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent


async def test_no_token_at_all_is_said_clearly(sim: DiscordSimulator) -> None:
    rig = Rig(sim, token="")
    with pytest.raises(StartError, match=r"platforms\.discord\.token"):
        await rig.adapter.connect(rig.inbox)


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "drop_before"])
async def test_an_outage_at_the_start_may_pass(sim: DiscordSimulator, kind: str) -> None:
    fault = Fault("GET /users/@me", kind, times=9)  # type: ignore[arg-type]  # one of the kinds
    sim.faults.add(fault)
    rig = Rig(sim)
    with pytest.raises(StartError) as caught:
        await rig.adapter.connect(rig.inbox)
    assert not caught.value.permanent
    sim.faults.clear()
    await rig.adapter.connect(rig.inbox)
    await rig.adapter.disconnect()


async def test_nobody_there_is_not_permanent(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    await sim.stop()
    with pytest.raises(StartError, match="cannot be reached") as caught:
        await rig.adapter.connect(rig.inbox)
    assert not caught.value.permanent


async def test_a_token_taken_away_while_connected_ends_the_connection(
    sim: DiscordSimulator,
) -> None:
    async with connected(sim) as rig:
        sim.token = "another"
        await sim.drop_connections()
        with pytest.raises(StartError, match="refused the token") as caught:
            await asyncio.wait_for(rig.adapter.wait_closed(), PATIENCE)
        assert caught.value.permanent


async def test_an_account_that_stays_deaf_says_so(
    sim: DiscordSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.socket.CONNECTION_DEADLINE", 0.2)
    async with connected(sim) as rig:
        await sim.stop()
        with pytest.raises(StartError, match="No connection to Discord") as caught:
            await asyncio.wait_for(rig.adapter.wait_closed(), PATIENCE)
        assert not caught.value.permanent


async def test_a_short_cut_of_the_line_is_no_reason_to_start_afresh(
    sim: DiscordSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, giving_up = GatewayConnection._on_disconnect, list[asyncio.TimerHandle | None]()

    def noted(connection: GatewayConnection) -> None:
        lost(connection)
        giving_up.append(connection._deadline)

    monkeypatch.setattr(GatewayConnection, "_on_disconnect", noted)
    async with connected(sim) as rig:
        await sim.drop_connections()
        ann = sim.person("Ann")
        await sim.say(ann, sim.direct(ann), "hello")
        await rig.inbox.first(MessageReceived)
        assert giving_up
        assert all(timer is not None and timer.cancelled() for timer in giving_up)


async def test_disconnecting_ends_the_wait_and_may_be_done_twice(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    await rig.adapter.disconnect()
    await rig.adapter.connect(rig.inbox)
    waiting = asyncio.create_task(rig.adapter.wait_closed())
    await asyncio.sleep(0)
    await rig.adapter.disconnect()
    await rig.adapter.disconnect()
    await asyncio.wait_for(waiting, PATIENCE)
    assert not sim.gateway.listening or await _gone(sim)


async def _gone(sim: DiscordSimulator) -> bool:
    await sim.wait_until(lambda: not sim.gateway.connections)
    return True


async def test_it_can_be_connected_again(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    ann = sim.person("Ann")
    for count in (1, 2):
        await rig.adapter.connect(rig.inbox)
        await sim.say(ann, sim.direct(ann), f"hello {count}")
        await rig.inbox.wait(count)
        await rig.adapter.disconnect()
    assert all(isinstance(event, MessageReceived) for event in rig.inbox.events)


async def test_commands_are_registered_once_and_when_they_change(sim: DiscordSimulator) -> None:
    def puts() -> int:
        return sum(call.method == f"PUT {COMMANDS}" for call in sim.calls)

    async with connected(sim):
        names = [command["name"] for command in sim.world.commands]
        assert names == ["ask", "context"]
        assert puts() == 1
    async with connected(sim):
        assert puts() == 1
    sim.world.commands[0]["description"] = "changed by hand"
    async with connected(sim):
        assert puts() == 2
        assert sim.world.commands[0]["description"] == "Ask a question"


async def test_commands_can_be_registered_for_one_server(sim: DiscordSimulator) -> None:
    async with connected(sim, guild_id=sim.world.guild_id):
        assert not sim.world.commands
        assert [command["name"] for command in sim.world.guild_commands] == ["ask", "context"]
    async with connected(sim, guild_id=sim.world.guild_id):
        registrations = [call for call in sim.calls if call.method.startswith("PUT")]
        assert len(registrations) == 1


async def test_without_its_commands_the_bot_still_works(sim: DiscordSimulator) -> None:
    async with connected(sim, guild_id="999") as rig:
        assert rig.counted["commands_not_registered", "discord"] == 1
        ann = sim.person("Ann")
        await sim.say(ann, sim.direct(ann), "hello")
        await rig.inbox.first(MessageReceived)


# --- the doctor -----------------------------------------------------------------------------------


async def test_the_doctor_finds_a_healthy_account(sim: DiscordSimulator) -> None:
    async with connected(sim) as rig:
        checks = await rig.adapter.diagnose()
    assert [check.name for check in checks] == [
        "token",
        "application",
        "message content intent",
        "servers",
        "commands",
    ]
    assert all(check.ok for check in checks), checks


async def test_the_doctor_says_what_to_do(sim: DiscordSimulator) -> None:
    sim.message_content = False
    checks = {check.name: check for check in await Rig(sim, guild_id="999").adapter.diagnose()}
    assert not checks["message content intent"].ok
    assert "Switch on" in checks["message content intent"].advice
    assert not checks["commands"].ok
    assert "guild_id" in checks["commands"].advice
    assert checks["token"].ok


@pytest.mark.parametrize("on", [True, False])
async def test_the_doctor_looks_at_the_members_intent_where_it_is_wanted(
    sim: DiscordSimulator, on: bool
) -> None:
    sim.server_members = on
    checks = {c.name: c for c in await Rig(sim, members_intent=True).adapter.diagnose()}
    assert checks["server members intent"].ok is on
    assert "server members intent" not in {c.name for c in await Rig(sim).adapter.diagnose()}


async def test_commands_that_are_not_registered_yet_are_to_note_only(sim: DiscordSimulator) -> None:
    checks = {check.name: check for check in await Rig(sim).adapter.diagnose()}
    assert checks["commands"].ok
    assert "not registered everywhere" in checks["commands"].detail
    assert "`parley run` registers them" in checks["commands"].advice


async def test_the_doctor_does_not_raise(sim: DiscordSimulator) -> None:
    (check,) = await Rig(sim, token="wrong").adapter.diagnose()
    assert (check.name, check.ok) == ("token", False)
    await sim.stop()
    (check,) = await Rig(sim).adapter.diagnose()
    assert not check.ok
    assert check.advice
