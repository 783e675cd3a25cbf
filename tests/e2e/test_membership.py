"""A project's memory in a direct message is reached by people who belong to it at present."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator, SimPerson, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import VARIANTS, only, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.support.waiting import eventually

WORD = "HALIBUT"
BIBLE = f"The word of the house is {WORD}."
PLATFORMS = only("discord", "slack-socket", "telegram-polling")
ASKED = {
    "discord": "GET /guilds/{id}/members/{id}",
    "slack": "users.info",
    "telegram": "getChatMember",
}


@pytest.fixture(autouse=True)
def _asked_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module("anthropic")  # seconds on a busy machine, which are no part of any answer
    monkeypatch.setattr("gateway.outbound.membership.BELIEVED_FOR", timedelta(0))
    monkeypatch.setattr("gateway.outbound.membership.DOUBTED_FOR", timedelta(0))


def operated(platform: PlatformSimulator) -> Mapping[str, object]:
    return {"access": {"operators": [platform.person("Olga").id]}}


async def written(lab: Lab, title: str = "general") -> SimRoom:
    """A room whose project has a BIBLE."""
    room = lab.platform.room(title)
    olga = Talk(lab, lab.platform.person("Olga"), room)
    await olga.command("bible", BIBLE)
    return room


async def at_home(lab: Lab, room: SimRoom, name: str = "Ada") -> Talk:
    """Somebody who was seen in the room, and chose its project in a direct message."""
    ada = direct(lab, name)
    await Talk(lab, ada.person, room).say("hello")
    assert "The project is now" in (await ada.command("project", "1")).text
    return ada


def leave(platform: PlatformSimulator, person: SimPerson, room: SimRoom, *, notify: bool) -> None:
    match platform:
        case DiscordSimulator():
            platform.leave(person, notify=notify)
        case TelegramSimulator():
            platform.leave(person, room, "kicked", notify=notify)


async def removed(lab: Lab, person: SimPerson, room: SimRoom, *, notify: bool) -> None:
    """They left the project, or were put out of it."""
    if isinstance(lab.platform, SlackSimulator):
        await lab.platform.deactivate(person, notify=notify)
        await lab.platform.deliveries.settled(5.0)
    else:
        leave(lab.platform, person, room, notify=notify)
    await lab.idle()


async def until_unseen(lab: Lab, person: SimPerson) -> None:
    """Return once the person is known to be in no project."""
    identity = f"{lab.platform.platform}:main:{person.id}"
    never = datetime.fromtimestamp(0, UTC)
    people = lab.app.storage.memory.people

    async def unseen() -> bool:
        return not await people.projects("default", (identity,), never)

    await eventually(unseen)


async def back(lab: Lab, person: SimPerson, room: SimRoom) -> None:
    match lab.platform:
        case SlackSimulator() as slack:
            await slack.reactivate(person)
            await slack.deliveries.settled(5.0)
        case DiscordSimulator() as discord:
            discord.join(person)
        case TelegramSimulator() as telegram:
            telegram.join(person, room)
    await lab.idle()


def told_the_word(model: AnthropicSimulator) -> bool:
    return WORD in str(model.bodies[-1])


@only("slack-socket", "telegram-polling")
async def test_a_departure_takes_effect_immediately(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.membership.BELIEVED_FOR", timedelta(hours=1))
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        await ada.say("what is the word?")
        assert told_the_word(model)

        await removed(lab, ada.person, room, notify=True)
        await until_unseen(lab, ada.person)
        answer = await ada.say("what is the word?")
        assert not told_the_word(model)
        assert "You are not in" in answer.text


@only("discord")
async def test_discord_reports_a_departure_if_the_intent_is_on(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.membership.BELIEVED_FOR", timedelta(hours=1))
    plain = DiscordSimulator.settings
    intent = {"members_intent": True}
    monkeypatch.setattr(DiscordSimulator, "settings", lambda sim: plain(sim) | intent)
    monkeypatch.setitem(VARIANTS, variant, lambda: DiscordSimulator(server_members=True))
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        await ada.say("what is the word?")
        assert told_the_word(model)

        await removed(lab, ada.person, room, notify=True)
        await until_unseen(lab, ada.person)
        await ada.say("what is the word?")
        assert not told_the_word(model)


@PLATFORMS
async def test_a_departure_without_an_event_ends_access_to_the_project(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        await ada.say("what is the word?")
        assert told_the_word(model)

        await removed(lab, ada.person, room, notify=False)
        answer = await ada.say("what is the word?")
        assert not told_the_word(model)
        assert "You are not in" in answer.text
        assert "You are not in" not in (await ada.say("and now?")).text
        assert not told_the_word(model)
        assert WORD not in (await ada.command("bible")).text
        assert "The project is now" not in (await ada.command("project", "1")).text


@PLATFORMS
async def test_a_returning_member_regains_access_after_writing(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        await removed(lab, ada.person, room, notify=True)
        await ada.say("what is the word?")
        assert not told_the_word(model)

        await back(lab, ada.person, room)
        await Talk(lab, ada.person, room).say("I am back")
        assert "The project is now" in (await ada.command("project", "1")).text
        await ada.say("what is the word?")
        assert told_the_word(model)


@PLATFORMS
async def test_without_an_answer_of_the_platform_the_project_is_not_used_and_the_answer_is_sent(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        ada = await at_home(lab, await written(lab))
        fault = Fault(ASKED[lab.platform.platform], "server_error", times=100)
        lab.platform.faults.add(fault)
        answer = await ada.say("what is the word?")
        assert not told_the_word(model)
        assert "does not say at the moment if you are still in" in answer.text

        lab.platform.faults.clear()
        await ada.say("what is the word?")
        assert told_the_word(model)


@only("telegram-polling")
async def test_removing_the_bot_from_a_room_removes_all_memberships(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        assert isinstance(lab.platform, TelegramSimulator)
        lab.platform.block(room)
        await until_unseen(lab, ada.person)
        await ada.say("what is the word?")
        assert not told_the_word(model)
        lab.platform.block(room, blocked=False)
        await lab.idle()
        assert (
            "do not know of any project that you belong to" in (await ada.command("project")).text
        )


@only("slack-socket")
async def test_leaving_a_channel_of_slack_is_not_leaving_the_workspace(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        assert isinstance(lab.platform, SlackSimulator)
        await lab.platform.leave(ada.person, room)
        await lab.idle()
        await ada.say("what is the word?")
        assert told_the_word(model)


@only("slack-socket")
async def test_a_member_who_becomes_a_guest_of_slack_loses_access(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        ada = await at_home(lab, room)
        assert isinstance(lab.platform, SlackSimulator)
        await lab.platform.make_guest(ada.person)
        await lab.platform.deliveries.settled(5.0)
        await ada.say("what is the word?")
        assert not told_the_word(model)
        here = Talk(lab, ada.person, await lab.platform.open_thread(ada.person, room, "here"))
        await here.say("what is the word?")
        assert not told_the_word(model)


@only("slack-socket")
async def test_people_of_another_company_have_no_access_to_the_project_and_are_answered(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        room = await written(lab)
        assert isinstance(lab.platform, SlackSimulator)
        eve = lab.platform.outsider("Eve")
        lab.platform.share(room)
        there = Talk(lab, eve, await lab.platform.open_thread(eve, room, "here"))
        count = len(model.bodies)
        assert (await there.say("what is the word?")).text
        assert len(model.bodies) == count + 1
        assert not told_the_word(model)

        alone = Talk(lab, eve, lab.platform.direct(eve))
        assert (
            "do not know of any project that you belong to" in (await alone.command("project")).text
        )
        await alone.say("what is the word?")
        assert not told_the_word(model)
        assert WORD not in (await alone.command("bible")).text


@only("slack-socket")
async def test_answers_in_a_shared_channel_use_no_project_memory(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        ours = await written(lab)
        assert isinstance(lab.platform, SlackSimulator)
        shared = lab.platform.room("with-them")
        lab.platform.share(shared)
        ada = lab.platform.person("Ada")
        for room, seen in ((ours, True), (shared, False)):
            thread = await lab.platform.open_thread(ada, room, "here")
            await Talk(lab, ada, thread).say("what is the word?")
            assert told_the_word(model) is seen, room.title
        olga = lab.platform.person("Olga")
        assert WORD not in (await Talk(lab, olga, shared).command("bible")).text


@only("slack-socket")
async def test_a_configured_shared_channel_uses_the_project(variant: str, tmp_path: Path) -> None:
    def allowed(platform: PlatformSimulator) -> Mapping[str, object]:
        room = platform.room("with-them")
        return {**operated(platform), "memory": {"shared_rooms": [f"slack:{room.id}"]}}

    async with open_lab_with_model(variant, tmp_path, allowed) as (lab, model):
        await written(lab)
        assert isinstance(lab.platform, SlackSimulator)
        room, ada = lab.platform.room("with-them"), lab.platform.person("Ada")
        eve = lab.platform.outsider("Eve")
        lab.platform.share(room)
        for person, seen in ((ada, True), (eve, False)):
            thread = await lab.platform.open_thread(person, room, "here")
            await Talk(lab, person, thread).say("what is the word?")
            assert told_the_word(model) is seen, person.name
