"""Reminders from the question to the message: whose, where, in which words, and when."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.appointments.appointment import Appointment, AppointmentPolicy
from gateway.appointments.occurrence import Happening
from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import Button, ButtonPressed, ChatMessage, CommandInvoked, MessageAuthor, Quote
from gateway.people import Audience, Role
from gateway.policy.access import AccessPolicy, RolePolicy, ToolPolicy, ToolRule
from gateway.policy.proactive import ProactivePolicy
from gateway.ports import (
    Capabilities,
    MembershipStatus,
    ModelMessage,
    ModelRequest,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)
from gateway.ports.memory import NoTools
from gateway.ports.proactive import PendingNotice
from gateway.stores.appointments import LEASE, AppointmentStore
from gateway.stores.personal_data import SqlPersonalData
from gateway.text import Text
from gateway.turn.due_appointments import DueAppointments
from gateway.turn.proactive import ProactiveSender
from gateway.turn.reminder_tool import MAY_NOT
from gateway.turn.services import Policies
from gateway.zones import TimePolicy
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place, received

ROOM = place("C1", Audience.PRIVATE_ROOM)
BUTTONS = Capabilities(joins_threads=True, max_buttons=5)


class OneTool(NoTools):
    """A tool beside which the others are offered."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("look_up", "Look something up", {"type": "object"}, side_effects=False),)


def calling(*arguments: Mapping[str, Any]) -> Callable[[ModelRequest], str | ModelMessage]:
    """A model that calls the tool with these arguments, one after the other, then answers."""

    def reply(request: ModelRequest) -> str | ModelMessage:
        done = outcomes(request)
        if len(done) >= len(arguments):
            return "Done."
        call = ToolCall(f"c{len(done)}", "remind", json.dumps(arguments[len(done)]))
        return ModelMessage("assistant", (call,))

    return reply


def outcomes(request: ModelRequest) -> list[ToolOutcome]:
    blocks = [block for message in request.messages for block in message.content]
    return [block for block in blocks if isinstance(block, ToolOutcome)]


class Runner:
    """The runner of a gateway; `gone` are the people who left."""

    def __init__(self, g: Gateway) -> None:
        self.gone: set[str] = set()
        self.told: list[str] = []
        store = g.services.stores.appointments
        assert store is not None
        self.store: AppointmentStore = store
        self.g = g
        self.due = DueAppointments(
            g.services, store, g.intake.add_scheduled, self._belongs, self._tell
        )

    async def pass_time(self, **time: float) -> None:
        """Let time pass and work on all that is due."""
        self.g.clock.skip(timedelta(**time).total_seconds())
        while await self.due.step():
            pass
        await ProactiveSender(self.g.services).release()
        await self.g.rest()

    async def _belongs(self, person: str, project: str) -> MembershipStatus:
        return MembershipStatus.GONE if person in self.gone else MembershipStatus.UNKNOWN

    async def _tell(self, tenant: str, group: str, said: Text) -> None:
        self.told.append(said.english)


def policies(**changes: Any) -> Policies:
    own = AppointmentPolicy(enabled=True, **changes.pop("appointments", {}))
    return Policies(appointments=own, times=TimePolicy(zone="Europe/Zurich"), **changes)


@asynccontextmanager
async def reminding(
    rules: Policies | None = None, can: Capabilities = BUTTONS
) -> AsyncIterator[tuple[Gateway, Runner]]:
    """A gateway at 10:00 in Zurich, Saturday, 21 November 2026."""
    async with gateway(policies=rules or policies(), tools=(OneTool(),), capabilities=can) as g:
        yield g, Runner(g)


async def ask(g: Gateway, number: int, *arguments: Mapping[str, Any], **rest: Any) -> str:
    """Ask something at which the model calls the tool; return the result of its last call."""
    g.model.reply = calling(*arguments)
    content = rest.pop("content", "please")
    now = g.clock.now()
    await g.take(received(content, message_id=f"m{number}", timestamp=now, **rest))
    return outcomes(g.model.requests[-1])[-1].content


async def all_of(runner: Runner, person: str = "ada") -> list[Appointment]:
    return await runner.store.of_person("default", f"test:main:{person}")


def buttons(g: Gateway) -> dict[str, Button]:
    return {button.label: button for button in g.adapter.sent[-1].buttons}


async def press(g: Gateway, label: str, person: str = "ada", at: Any = None) -> None:
    value = buttons(g)[label].value
    event = ButtonPressed(f"p{len(g.texts)}", at or direct("ada"), MessageAuthor(person), value)
    await g.take(event)


async def command(g: Gateway, arguments: str = "", at: Any = None, person: str = "ada") -> str:
    event = CommandInvoked(
        f"k{len(g.texts)}", at or direct(person), MessageAuthor(person), "reminders", arguments
    )
    await g.take(event)
    return g.texts[-1]


async def test_a_reminder_is_repeated_with_its_zone_and_comes_once() -> None:
    async with reminding() as (g, runner):
        result = await ask(g, 1, {"text": "call the printer", "at": "2026-11-21T11:30"})
        assert json.loads(result)["noted"]["next"] == ["Saturday, 21 November 2026, 11:30"]
        assert "Reminder 1: “call the printer”, 2026-11-21 11:30 CET (Europe/Zurich)" in g.texts[0]
        assert list(buttons(g)) == ["Undo"]
        await runner.pass_time(minutes=89)
        assert len(g.texts) == 1
        await runner.pass_time(minutes=1)
        assert g.texts[1:] == ["⏰ call the printer"]
        await runner.pass_time(days=2)
        assert len(g.texts) == 2
        assert await all_of(runner) == []


async def test_the_tool_is_offered_only_where_appointments_are_on() -> None:
    async with gateway(tools=(OneTool(),)) as g:
        await g.take(received("hello"))
        assert "remind" not in {tool.name for tool in g.model.requests[0].tools}
    async with gateway(policies=policies()) as g:
        await g.take(received("hello"))
        assert [tool.name for tool in g.model.requests[0].tools] == ["remind"]
    async with reminding() as (g, _):
        await g.take(received("hello"))
        (spec,) = [tool for tool in g.model.requests[0].tools if tool.name == "remind"]
        assert "run" not in spec.schema["properties"]  # type: ignore[operator]  # JSON


async def test_undo_removes_it_and_only_its_person_can() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5}, at=ROOM, mentions_bot=True)
        value = buttons(g)["Undo"].value
        await g.take(ButtonPressed("p1", ROOM, MessageAuthor("bob"), value))
        assert "Only the person whose reminder this is" in g.texts[-1]
        assert len(await all_of(runner)) == 1
        await g.take(ButtonPressed("p2", ROOM, MessageAuthor("ada"), value))
        assert g.texts[-1] == "Reminder 1 is removed: “tea”"
        await g.take(ButtonPressed("p3", ROOM, MessageAuthor("ada"), value))
        assert "does not exist any more" in g.texts[-1]
        await runner.pass_time(minutes=6)
        assert len(g.texts) == 4


async def test_without_buttons_the_confirmation_says_how_to_remove_it() -> None:
    async with reminding(can=Capabilities(joins_threads=True)) as (g, _):
        await ask(g, 1, {"text": "tea", "in_minutes": 5})
        assert "To remove it, write /reminders." in g.texts[0]


async def test_a_recurring_one_shows_its_next_times_and_says_what_it_missed() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "stand-up", "at": "2026-11-23T09:00", "every": "weekday"})
        assert "2026-11-23 09:00 CET, then 2026-11-24 09:00 CET, 2026-11-25" in g.texts[0]
        await runner.pass_time(days=1, hours=23)  # Monday, 09:00
        assert g.texts[1:] == ["⏰ stand-up"]
        await runner.pass_time(days=3, hours=2)  # an outage over three times
        assert g.texts[2:] == [
            (
                "⏰ stand-up\n\nThis was due at 2026-11-26 09:00 CET. "
                "Before that, 2 times passed while I could not write to you."
            )
        ]
        await runner.pass_time(hours=22)
        assert g.texts[3:] == ["⏰ stand-up"]


async def test_one_that_is_too_late_is_said_to_be_missed() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-21T11:00"})
        await runner.pass_time(hours=26)
        assert g.texts[1:] == ["I missed a reminder that was due at 2026-11-21 11:00 CET: “tea”"]
        assert buttons(g) == {}
        await ask(g, 2, {"text": "stretch", "at": "2026-11-22T13:00", "every": "3 days"})
        await runner.pass_time(days=2, hours=3)
        assert len(g.texts) == 3
        await runner.pass_time(days=1)
        assert "Before that, 1 time passed" in g.texts[3]


async def test_in_a_room_everybody_sees_it_with_the_name_and_without_mentions() -> None:
    async with reminding() as (g, runner):
        words = "@everyone *look* <!channel> @here"
        await ask(g, 1, {"text": words, "in_minutes": 5}, at=ROOM, mentions_bot=True)
        await runner.pass_time(minutes=5)
        sent = g.adapter.sent[-1]
        assert sent.place == ROOM
        assert sent.part is not None
        assert sent.part.text == f"⏰ Ada: {words}"
        assert sent.buttons == ()
        # nobody else's, and in a room nothing of a direct conversation
        await ask(g, 2, {"text": "private", "in_minutes": 90})
        listed = await ask(g, 3, {}, at=ROOM, mentions_bot=True)
        assert json.loads(listed) == {"appointments": []}
        assert "no reminders here" in await command(g, at=ROOM)
        assert "private" in await command(g)
        assert "no reminders here" in await command(g, person="bob")


async def test_the_author_of_the_question_owns_it_whoever_wrote_the_text() -> None:
    async with reminding() as (g, runner):
        quote = Quote("q1", "remind Ada to pay me", author_id="ada", author_name="Ada")
        event = received("do that", author="bob", at=ROOM, mentions_bot=True)
        message: ChatMessage = event.message
        quoted = type(event)(event.event_id, _with_quote(message, quote))
        g.model.reply = calling({"text": "pay me", "in_minutes": 5})
        await g.take(quoted)
        assert await all_of(runner) == []
        (one,) = await all_of(runner, "bob")
        assert one.name == "Bob"


def _with_quote(message: ChatMessage, quote: Quote) -> ChatMessage:
    return replace(message, quote=quote)


async def test_a_time_that_is_past_or_too_much_is_refused_with_the_reason() -> None:
    async with reminding(policies(appointments={"per_person": 2})) as (g, runner):
        past = await ask(g, 1, {"text": "tea", "at": "2026-11-21T09:59"})
        assert "this time is past; now it is Saturday, 21 November 2026, 10:00" in past
        assert await all_of(runner) == []
        later = {"text": "tea", "in_minutes": 5}
        assert "2 appointments already" in await ask(g, 2, later, later, later)
        assert [one.number for one in await all_of(runner)] == [1, 2]
        assert "cannot be used" in await ask(g, 3, {"text": "x" * 1_001, "in_minutes": 5})
        key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        assert "secret" in await ask(g, 4, {"text": f"use {key}", "in_minutes": 5})


async def test_it_is_changed_and_removed_by_its_number() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-22T09:00", "every": "day"})
        await ask(g, 2, {"number": 1, "at": "2026-11-22T10:00"})
        (one,) = await all_of(runner)
        assert (one.number, one.words, one.rule) == (1, "tea", None)
        assert one.due == datetime.fromisoformat("2026-11-22T10:00")
        await ask(g, 3, {"number": 1, "text": "coffee"})
        assert (await all_of(runner))[0].words == "coffee"
        assert "no such appointment" in await ask(g, 4, {"number": 2})
        assert "no such appointment" in await ask(g, 5, {"number": 1}, author="bob")
        await ask(g, 6, {"number": 1})
        assert "Reminder 1 is removed: “coffee”" in g.texts[-1]
        assert await all_of(runner) == []


async def test_the_command_lists_skips_and_removes() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-22T09:00", "every": "day"})
        listed = await command(g)
        assert "Reminder 1: “tea”, 2026-11-22 09:00 CET, then 2026-11-23" in listed
        assert list(buttons(g)) == ["Remove 1", "Skip 1"]
        await press(g, "Skip 1")
        assert "2026-11-23 09:00 CET" in g.texts[-1]
        assert "To change one" in await command(g, "move 1")
        assert "no reminder with this number" in await command(g, "remove 9")
        assert "2026-11-24 09:00" in await command(g, "skip 1")
        await runner.pass_time(days=2)
        assert "⏰ tea" not in g.texts
        assert await command(g, "remove 1") == "Reminder 1 is removed: “tea”"


async def test_the_button_under_a_reminder_repeats_it_in_an_hour_once() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5})
        await runner.pass_time(minutes=5)
        value = buttons(g)["In 1 hour"].value
        for number in range(2):
            await g.take(ButtonPressed(f"l{number}", direct(), MessageAuthor("ada"), value))
        (again,) = await all_of(runner)
        assert again.number == 2
        await runner.pass_time(hours=1)
        assert g.texts.count("⏰ tea") == 2
        for number in range(2):  # the first message still has its button
            await g.take(ButtonPressed(f"n{number}", direct(), MessageAuthor("ada"), value))
        await runner.pass_time(hours=1)
        assert g.texts.count("⏰ tea") == 3


async def test_wall_clock_times_move_with_the_person_and_instants_do_not() -> None:
    async with reminding() as (g, runner):
        noted = (
            {"text": "wall", "at": "2026-11-22T09:00"},
            {"text": "instant", "in_minutes": 1440},
            {"text": "named", "at": "2026-11-22T09:00", "zone": "Europe/Zurich"},
        )
        await ask(g, 1, *noted)
        event = CommandInvoked("z1", direct(), MessageAuthor("ada"), "timezone", "Asia/Tokyo")
        await g.take(event)
        found = {one.words: one.due_at for one in await all_of(runner)}
        assert found == {
            "wall": datetime(2026, 11, 22, 0, tzinfo=UTC),
            "instant": datetime(2026, 11, 22, 9, tzinfo=UTC),
            "named": datetime(2026, 11, 22, 8, tzinfo=UTC),
        }
        told = received("hi", message_id="m9")
        author = replace(told.message.author, zone="America/New_York")
        await g.take(CommandInvoked("z2", direct(), MessageAuthor("ada"), "timezone", "auto"))
        await g.take(type(told)("e9", replace(told.message, author=author)))
        wall = next(one for one in await all_of(runner) if one.words == "wall")
        assert wall.zone == "America/New_York"


async def test_who_lost_access_or_left_gets_nothing() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5})
        await ask(g, 2, {"text": "daily", "at": "2026-11-21T10:05", "every": "day"})
        blocked = policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
        before = g.services.current.value
        g.services.current.value = blocked
        await runner.pass_time(minutes=6)
        assert len(g.texts) == 2
        (paused,) = await all_of(runner)
        assert paused.state == "paused"
        g.services.current.value = before
        assert "· paused" in await command(g)
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5}, at=ROOM, mentions_bot=True)
        runner.gone.add("test:main:ada")
        await runner.pass_time(minutes=6)
        assert len(g.texts) == 1
        assert await all_of(runner) == []


async def test_a_repeated_one_waits_for_the_end_of_quiet_hours() -> None:
    quiet = policies(proactive=ProactivePolicy(quiet_hours="10:03-11:00"))
    async with reminding(quiet) as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-21T10:05", "every": "day"})
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 1
        await runner.pass_time(minutes=56)
        assert g.texts[1].startswith("This waited for the end of your quiet hours:\n\n⏰ tea")
        (one,) = await all_of(runner)
        assert (one.due.day, one.missed) == (22, 0)


async def test_a_single_one_comes_at_the_time_that_its_person_named() -> None:
    quiet = policies(proactive=ProactivePolicy(quiet_hours="10:03-11:00"))
    async with reminding(quiet) as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-21T10:05"})
        await runner.pass_time(minutes=5)
        assert g.texts[1].startswith("⏰ tea")


async def test_a_process_that_dies_after_the_outbox_has_it_sends_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5})
        g.clock.skip(300)
        (one,) = await runner.store.claim(g.clock.now())
        monkeypatch.setattr(runner.store, "advance", _dies)
        g.clock.skip(LEASE.total_seconds())
        await runner.due.step()
        monkeypatch.undo()
        await g.rest()
        await runner.pass_time(seconds=LEASE.total_seconds())
        assert g.texts.count("⏰ tea") == 1
        assert await runner.store.claim(g.clock.now() + timedelta(days=1)) == []
        assert one.words == "tea"


async def _dies(*_: object) -> bool:
    raise RuntimeError("the process ends here")


SUMMARY = "post a summary of open tasks"
OPERATOR = RolePolicy(operators=frozenset({"ada"}))


async def test_a_scheduled_question_is_asked_with_the_rights_of_its_maker() -> None:
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        asked = {"text": SUMMARY, "at": "2026-11-23T08:00", "every": "weekday", "run": True}
        content = f"every weekday at 8 {SUMMARY}"
        await ask(g, 1, asked, content=content, at=ROOM, mentions_bot=True)
        assert f"Scheduled question 1: “{SUMMARY}”" in g.texts[0]
        g.model.reply = lambda request: "Three tasks are open."
        await runner.pass_time(days=1, hours=22)
        assert g.texts[1] == ("Three tasks are open.\n\nScheduled by Ada for 2026-11-23 08:00 CET.")
        assert SUMMARY in g.model.last_words()
        assert "remind" not in {tool.name for tool in g.model.requests[-1].tools}
        assert g.adapter.sent[1].reply_to_id == ""
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 2


async def test_a_scheduled_question_is_asked_before_the_readers_of_that_moment() -> None:
    public = replace(ROOM, audience=Audience.PUBLIC_ROOM, outsiders=True)
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        asked = {"text": SUMMARY, "in_minutes": 5, "run": True}
        await ask(g, 1, asked, content=SUMMARY, at=ROOM, mentions_bot=True)
        await g.take(received("hello all", message_id="m3", at=public))
        g.model.reply = lambda request: f"The key is {key}."
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 2
        assert not any(key in one for one in g.texts)
        assert g.adapter.sent[-1].place == public


async def test_a_scheduled_question_waits_for_the_end_of_quiet_hours() -> None:
    quiet = policies(roles=OPERATOR, proactive=ProactivePolicy(quiet_hours="10:03-11:00"))
    async with reminding(quiet) as (g, runner):
        asked = {"text": SUMMARY, "at": "2026-11-21T10:05", "run": True}
        await ask(g, 1, asked, content=SUMMARY)
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 1
        await runner.pass_time(minutes=56)
        assert len(g.texts) == 2


async def test_it_is_asked_once_also_when_the_process_dies_in_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        asked = {"text": SUMMARY, "in_minutes": 5, "run": True}
        await ask(g, 1, asked, content=SUMMARY)
        monkeypatch.setattr(runner.store, "advance", _dies)
        g.clock.skip(300)
        await runner.due.step()
        await g.rest()
        monkeypatch.undo()
        await runner.pass_time(seconds=LEASE.total_seconds())
        assert len(g.texts) == 2


async def test_only_people_with_the_right_schedule_questions_in_their_own_words() -> None:
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        asked = {"text": SUMMARY, "in_minutes": 5, "run": True}
        assert "word for word" in await ask(g, 1, asked, content="do what the file says")
        assert "may not schedule" in await ask(g, 2, asked, content=SUMMARY, author="bob")
        assert await all_of(runner) == []
        assert await all_of(runner, "bob") == []


async def test_people_without_access_to_projects_schedule_no_questions() -> None:
    """At its time nobody tells any more that its maker is a guest of the workspace."""
    tools = ToolPolicy(rules={"remind": ToolRule(role=Role.GUEST)})
    rules = policies(appointments={"prompts": Role.GUEST}, tools=tools)
    async with reminding(rules) as (g, runner):
        asked = {"text": SUMMARY, "in_minutes": 5, "run": True}
        g.model.reply = calling(asked)
        guest = received(SUMMARY, timestamp=g.clock.now())
        author = replace(guest.message.author, outside=True)
        await g.take(replace(guest, message=replace(guest.message, author=author)))
        assert outcomes(g.model.requests[-1])[-1].content == MAY_NOT
        assert await all_of(runner) == []


async def test_who_left_the_workspace_asks_nothing_in_private() -> None:
    private = replace(direct("ada"), workspace_id="W1")
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        asked = {"text": SUMMARY, "in_minutes": 5, "run": True}
        await ask(g, 1, asked, content=SUMMARY, at=private)
        assert len(await all_of(runner)) == 1
        runner.gone.add("test:main:ada")
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 1
        assert [one.state for one in await all_of(runner)] == ["paused"]


async def test_who_lost_the_right_has_it_paused_and_operators_are_told() -> None:
    async with reminding(policies(roles=OPERATOR)) as (g, runner):
        await ask(g, 1, {"text": SUMMARY, "in_minutes": 5, "run": True}, content=SUMMARY)
        g.services.current.value = policies()
        await runner.pass_time(minutes=5)
        assert len(g.texts) == 1
        assert (await all_of(runner))[0].state == "paused"
        assert runner.told == [
            "I paused a scheduled question of Ada, who may no longer have it asked: “"
            + SUMMARY
            + "”"
        ]


async def test_erasure_leaves_nothing_to_send() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "tea", "in_minutes": 5})
        await SqlPersonalData(g.database, g.clock).erase("default", ("test:main:ada",))
        await runner.pass_time(minutes=6)
        assert len(g.texts) == 1


async def test_a_turn_whose_model_fails_leaves_nothing() -> None:
    async with reminding() as (g, runner):

        def fails(request: ModelRequest) -> str | ModelMessage:
            if outcomes(request):
                raise RuntimeError("no answer")
            return calling({"text": "tea", "in_minutes": 5})(request)

        g.model.reply = fails
        await g.take(received("please"))
        assert await all_of(runner) == []
        assert len(g.texts) == 1


async def test_a_clock_that_jumps_doubles_nothing() -> None:
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "once", "at": "2026-11-21T11:00"})
        await ask(g, 2, {"text": "daily", "at": "2026-11-21T11:00", "every": "day"})
        await runner.pass_time(hours=2)
        sent = sorted(text.partition("\n")[0] for text in g.texts[2:])
        assert sent == ["⏰ daily", "⏰ once"]
        await runner.pass_time(hours=-2)
        await runner.pass_time(hours=1)
        assert len(g.texts) == 4
        await runner.pass_time(hours=24)
        assert g.texts[4:] == ["⏰ daily"]


async def waiting_in_quiet_hours(
    g: Gateway, runner: Runner, what: Mapping[str, Any], number: int = 1
) -> None:
    """Make a reminder for 10:05, and let it wait for 11:00."""
    await ask(g, number, {"text": "tea", "at": "2026-11-21T10:05", **what})
    await runner.pass_time(minutes=5)
    assert not any("⏰" in said for said in g.texts)
    assert await g.rows("proactive_waiting") == 1


QUIET = ProactivePolicy(quiet_hours="10:03-11:00")


@pytest.mark.parametrize("way", ["undo", "command", "tool", "erasure"])
async def test_one_that_is_removed_while_it_waits_is_not_sent(way: str) -> None:
    async with reminding(policies(proactive=QUIET)) as (g, runner):
        await waiting_in_quiet_hours(g, runner, {"every": "day"})
        if way == "undo":
            await press(g, "Undo")
        elif way == "command":
            await command(g, "remove 1")
        elif way == "tool":
            await ask(g, 2, {"number": 1})
        else:
            await SqlPersonalData(g.database, g.clock).erase("default", ["test:main:ada"])
        assert await g.rows("proactive_waiting") == 0
        await runner.pass_time(minutes=56)
        assert not any("⏰" in said for said in g.texts)


async def test_one_of_a_room_that_waits_is_listed_and_removed_when_it_was_the_last() -> None:
    async with reminding() as (g, runner):
        store = g.services.stores.proactive
        assert store is not None
        await ask(g, 1, {"text": "tea", "in_minutes": 5}, at=ROOM, mentions_bot=True)
        room = key_of("default", ROOM).channel_name
        await store.set_quiet_hours("default", room, "10:03-11:00", g.clock.now())
        await runner.pass_time(minutes=5)
        assert "“tea”" in await command(g)
        assert "is removed" in await command(g, "remove 1")
        await runner.pass_time(minutes=56)
        assert not any("⏰" in said for said in g.texts)


@pytest.mark.parametrize("rule", [{}, {"every": "day"}])
async def test_one_that_is_changed_while_it_waits_is_sent_as_it_was_changed(
    rule: Mapping[str, str],
) -> None:
    async with reminding() as (g, runner):
        store = g.services.stores.proactive
        assert store is not None
        room = key_of("default", ROOM).channel_name
        at = {"at": "2026-11-21T10:05", **rule}
        await ask(g, 1, {"text": "tea", **at}, at=ROOM, mentions_bot=True)
        await ask(g, 2, {"text": "milk", **at}, at=ROOM, mentions_bot=True)
        await store.set_quiet_hours("default", room, "10:03-11:00", g.clock.now())
        await runner.pass_time(minutes=5)
        assert await g.rows("proactive_waiting") == 2
        await ask(g, 3, {"number": 1, "text": "coffee"}, at=ROOM, mentions_bot=True)
        at_noon = {"number": 2, "at": "2026-11-21T12:00", **rule}
        await ask(g, 4, at_noon, at=ROOM, mentions_bot=True)
        await runner.pass_time(minutes=56)
        said = "\n".join(one for one in g.texts if "⏰" in one)
        assert ("coffee" in said, "tea" in said, "milk" in said) == (True, False, False)
        await runner.pass_time(minutes=60)
        assert sum("milk" in one for one in g.texts if "⏰" in one) == 1


async def test_one_that_is_removed_while_it_is_worked_on_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with reminding(policies(proactive=QUIET)) as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-21T10:05", "every": "day"})
        (one,) = await all_of(runner)
        happens = runner.due._pending

        async def removed_meanwhile(happening: Happening) -> PendingNotice:
            await runner.store.remove(one)
            return await happens(happening)

        monkeypatch.setattr(runner.due, "_pending", removed_meanwhile)
        await runner.pass_time(minutes=5)
        assert await g.rows("proactive_waiting") == 0


async def test_quiet_hours_that_begin_after_a_kill_send_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quiet = policies(proactive=ProactivePolicy(quiet_hours="10:06-11:00"))
    async with reminding(quiet) as (g, runner):
        await ask(g, 1, {"text": "tea", "at": "2026-11-21T10:05", "every": "day"})
        with monkeypatch.context() as patched:
            patched.setattr(runner.store, "advance", _dies)
            await runner.pass_time(minutes=5)
        await runner.pass_time(seconds=LEASE.total_seconds())
        await runner.pass_time(hours=1)
        assert sum("⏰ tea" in said for said in g.texts) == 1


async def test_those_of_a_closed_thread_are_seen_in_it_alone() -> None:
    closed = replace(ROOM, thread_id="T1", closed_thread=True)
    async with reminding() as (g, runner):
        await ask(g, 1, {"text": "her surprise", "in_minutes": 50}, at=closed, mentions_bot=True)
        await ask(g, 2, {"text": "tea", "in_minutes": 50}, at=ROOM, mentions_bot=True)
        other = replace(closed, thread_id="T2")
        for elsewhere in (ROOM, other, replace(ROOM, thread_id="T3")):
            assert "surprise" not in await command(g, at=elsewhere)
        assert "no reminder" in await command(g, "remove 1", at=ROOM)
        assert "surprise" not in await ask(g, 3, {}, at=ROOM, mentions_bot=True)
        listed = await command(g, at=closed)
        assert "her surprise" in listed
        assert "tea" in listed
        assert len(await all_of(runner)) == 2
