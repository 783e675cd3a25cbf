"""Connecting, problems of an account, and disconnecting."""

import asyncio

import pytest

from adapters.discord.connection import DiscordAdapter
from adapters.discord.manifest import MANIFEST, DiscordSettings
from adapters.discord.socket import GatewayConnection
from gateway.errors import StartError
from gateway.immutable import replace
from gateway.message import MessageReceived
from gateway.ports import (
    CanDelete,
    CanDiagnose,
    CanFetchFiles,
    CanReact,
    CanType,
    CommandSpec,
    PlatformAdapter,
)
from gateway.ports.adapter import CommandLanguages
from simulators.base import Fault
from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import COMMANDS as OFFERED
from tests.adapters.discord.rig import Rig, connected
from tests.support.adapter_context import MemoryState
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


def test_the_adapter_matches_its_manifest(sim: DiscordSimulator) -> None:
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


async def test_a_wrong_token_is_a_permanent_start_error(sim: DiscordSimulator) -> None:
    rig = Rig(sim, token="wrong")
    with pytest.raises(StartError, match="refused the token") as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent
    assert "platforms.discord.token" in caught.value.advice
    assert "wrong" not in str(caught.value)


async def test_a_missing_intent_is_reported_with_advice(sim: DiscordSimulator) -> None:
    sim.message_content = False
    rig = Rig(sim)
    with pytest.raises(StartError) as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent
    assert "Message Content Intent" in caught.value.advice


async def test_the_members_intent_is_requested_only_if_configured(
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


async def test_the_token_of_another_application_is_refused(sim: DiscordSimulator) -> None:
    rig = Rig(sim, application_id="42")
    with pytest.raises(StartError, match="not to 42") as caught:
        await rig.adapter.connect(rig.inbox)
    assert caught.value.permanent


async def test_a_missing_token_is_reported(sim: DiscordSimulator) -> None:
    rig = Rig(sim, token="")
    with pytest.raises(StartError, match=r"platforms\.discord\.token"):
        await rig.adapter.connect(rig.inbox)


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "drop_before"])
async def test_an_outage_at_the_start_is_temporary(sim: DiscordSimulator, kind: str) -> None:
    fault = Fault("GET /users/@me", kind, times=9)  # type: ignore[arg-type]  # one of the kinds
    sim.faults.add(fault)
    rig = Rig(sim)
    with pytest.raises(StartError) as caught:
        await rig.adapter.connect(rig.inbox)
    assert not caught.value.permanent
    sim.faults.clear()
    await rig.adapter.connect(rig.inbox)
    await rig.adapter.disconnect()


async def test_an_unreachable_server_is_temporary(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    await sim.stop()
    with pytest.raises(StartError, match="cannot be reached") as caught:
        await rig.adapter.connect(rig.inbox)
    assert not caught.value.permanent


async def test_a_token_revoked_while_connected_ends_the_connection(
    sim: DiscordSimulator,
) -> None:
    async with connected(sim) as rig:
        sim.token = "another"
        await sim.drop_connections()
        with pytest.raises(StartError, match="refused the token") as caught:
            await asyncio.wait_for(rig.adapter.wait_closed(), PATIENCE)
        assert caught.value.permanent


async def test_a_connection_lost_for_too_long_is_a_temporary_start_error(
    sim: DiscordSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.socket.CONNECTION_DEADLINE", 0.2)
    async with connected(sim) as rig:
        await sim.stop()
        with pytest.raises(StartError, match="No connection to Discord") as caught:
            await asyncio.wait_for(rig.adapter.wait_closed(), PATIENCE)
        assert not caught.value.permanent


async def test_a_short_interruption_causes_no_restart(
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


async def test_disconnect_ends_the_wait_and_works_twice(sim: DiscordSimulator) -> None:
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


async def test_it_can_connect_again(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    ann = sim.person("Ann")
    for count in (1, 2):
        await rig.adapter.connect(rig.inbox)
        await sim.say(ann, sim.direct(ann), f"hello {count}")
        await rig.inbox.wait(count)
        await rig.adapter.disconnect()
    assert all(isinstance(event, MessageReceived) for event in rig.inbox.events)


async def test_commands_are_registered_once_and_after_a_change(sim: DiscordSimulator) -> None:
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


async def test_commands_have_descriptions_in_discords_languages(sim: DiscordSimulator) -> None:
    """They are registered again only when their words change."""
    said = {"de": "Frag", "zh_Hant": "問", "ar": "اسأل"}

    def load() -> dict[str, tuple[CommandSpec, ...]]:
        return {
            name: tuple(replace(one, description=words, argument_help=words) for one in OFFERED)
            for name, words in said.items()
        }

    def puts() -> int:
        return sum(call.method == f"PUT {COMMANDS}" for call in sim.calls)

    languages, state = CommandLanguages(lambda: str(said), load), MemoryState()
    for _ in range(2):
        async with connected(sim, state=state, languages=languages):
            assert puts() == 1
            ask = sim.world.commands[0]
            assert ask["description_localizations"] == {"de": "Frag", "zh-TW": "問"}
            assert "'description_localizations': {'de': 'Frag'" in str(ask["options"])
    said["de"] = "Frage"
    async with connected(sim, state=state, languages=languages):
        assert puts() == 2


async def test_commands_can_be_registered_for_one_server(sim: DiscordSimulator) -> None:
    async with connected(sim, guild_id=sim.world.guild_id):
        assert not sim.world.commands
        assert [command["name"] for command in sim.world.guild_commands] == ["ask", "context"]
    async with connected(sim, guild_id=sim.world.guild_id):
        registrations = [call for call in sim.calls if call.method.startswith("PUT")]
        assert len(registrations) == 1


async def test_without_registered_commands_the_bot_works(sim: DiscordSimulator) -> None:
    async with connected(sim, guild_id="999") as rig:
        assert rig.counted["commands_not_registered", "discord"] == 1
        ann = sim.person("Ann")
        await sim.say(ann, sim.direct(ann), "hello")
        await rig.inbox.first(MessageReceived)


# --- the doctor -----------------------------------------------------------------------------------


async def test_the_doctor_finds_no_problem_of_a_working_account(sim: DiscordSimulator) -> None:
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


async def test_the_doctor_gives_advice(sim: DiscordSimulator) -> None:
    sim.message_content = False
    checks = {check.name: check for check in await Rig(sim, guild_id="999").adapter.diagnose()}
    assert not checks["message content intent"].ok
    assert "Switch on" in str(checks["message content intent"].advice)
    assert not checks["commands"].ok
    assert "guild_id" in str(checks["commands"].advice)
    assert checks["token"].ok


@pytest.mark.parametrize("on", [True, False])
async def test_the_doctor_checks_the_members_intent_if_configured(
    sim: DiscordSimulator, on: bool
) -> None:
    sim.server_members = on
    checks = {c.name: c for c in await Rig(sim, members_intent=True).adapter.diagnose()}
    assert checks["server members intent"].ok is on
    assert "server members intent" not in {c.name for c in await Rig(sim).adapter.diagnose()}


async def test_unregistered_commands_are_a_note(sim: DiscordSimulator) -> None:
    checks = {check.name: check for check in await Rig(sim).adapter.diagnose()}
    assert checks["commands"].ok
    assert "not registered everywhere" in str(checks["commands"].detail)
    assert "`parley run` registers them" in str(checks["commands"].advice)


async def test_the_doctor_names_servers_whose_earlier_messages_are_hidden(
    sim: DiscordSimulator,
) -> None:
    sim.world.bot_permissions &= ~(1 << 16)
    checks = {check.name: check for check in await Rig(sim).adapter.diagnose()}
    failed = checks["read message history"]
    assert (failed.ok, failed.cause) == (False, "permission")
    assert "Simulated server" in str(failed.detail)
    assert "permissions=" in str(failed.advice)


async def test_the_doctor_raises_nothing(sim: DiscordSimulator) -> None:
    (check,) = await Rig(sim, token="wrong").adapter.diagnose()
    assert (check.name, check.ok) == ("token", False)
    await sim.stop()
    (check,) = await Rig(sim).adapter.diagnose()
    assert not check.ok
    assert check.advice
