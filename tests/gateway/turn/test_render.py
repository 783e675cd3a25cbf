"""From the answer's Markdown to sends: their number and content, and the response filter."""

import pytest

from gateway.immutable import replace
from gateway.message import (
    Button,
    ButtonPressed,
    Choice,
    MessageAuthor,
    Outbound,
    OutboundFile,
    Part,
    Reply,
    ShownReply,
)
from gateway.people import Audience
from gateway.policy.rate_limits import RateLimits
from gateway.policy.response_filter import REPLACEMENT
from gateway.ports import Capabilities, CommandSpec
from gateway.ports.memory import AnswerFooter, Caller
from gateway.ports.rights import IN_CHAT
from gateway.render import address
from gateway.text import ENGLISH, verbatim
from gateway.turn.model_turn import NO_ANSWER
from gateway.turn.render import LEFT_OUT, screened
from gateway.turn.services import Policies
from tests.gateway.commands.test_handler import command
from tests.gateway.turn.test_memory import with_diary
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import direct, place, received

PARTS = [Part("one", "one"), Part("two", "two")]
BUTTONS = (Button("Yes", "y"),)
FILE = OutboundFile("a.txt", "text/plain", b"a")

KEY = "AKIA" + "IOSFODNN7ABCDEFG"
SECRET = 'password: "hunter22"'
WHISPERS = Capabilities(joins_threads=True, ephemeral=True, max_buttons=3)
SHOWS_ALL = Capabilities(joins_threads=True, max_buttons=3)
UNDO = Choice(verbatim("Undo"), "memory:undo:mem-1")
UNDO_BUTTON = Button("Undo", "memory:undo:mem-1")
NOTE = AnswerFooter(
    verbatim("_Noted: “likes kites”_"), (UNDO,), typed=verbatim("_Noted: “likes kites” · `/undo`_")
)
POLICIES = Policies(
    limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
)


def test_the_first_part_replies_the_last_has_the_buttons_and_files_follow() -> None:
    reply = ShownReply("…", BUTTONS, (FILE,), private_to="ada")
    sends = address("r", direct(), PARTS, reply, reply_to_id="m1", reply_handle="h")
    assert [send.key for send in sends] == ["r:0", "r:1", "r:2"]
    assert [send.reply_to_id for send in sends] == ["m1", "", ""]
    assert [send.buttons for send in sends] == [(), BUTTONS, ()]
    assert [send.file for send in sends] == [None, None, FILE]
    assert {(send.private_to, send.reply_handle) for send in sends} == {("ada", "h")}


async def test_an_answer_with_too_many_parts_states_that_it_is_incomplete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.turn.render.MAX_PARTS", 3)
    async with gateway() as g:
        g.model.reply = lambda request: "\n\n".join(f"paragraph {n} " * 300 for n in range(9))
        await g.take(received("tell me all"))
        assert len(g.texts) == 3
        assert g.texts[-1] == LEFT_OUT.english.strip("_")
        detail = next(d.detail for d in g.traces[0].decisions if d.stage == "render")
        assert detail.startswith("the first 2 of ")


async def test_an_answer_with_the_maximum_of_parts_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = [Part(str(n), str(n)) for n in range(3)]
    monkeypatch.setattr("gateway.turn.render.MAX_PARTS", 3)
    monkeypatch.setattr("gateway.render.render_with", lambda *_: list(parts))
    async with gateway() as g:
        await g.take(received("tell me all"))
        assert g.texts == ["0", "1", "2"]


async def test_an_answer_of_markup_only_is_not_empty() -> None:
    async with gateway() as g:
        g.model.reply = lambda request: "```\n```"
        await g.take(received("hello"))
        assert g.texts == [NO_ANSWER.english]


async def test_a_button_press_is_not_a_message_to_reply_to() -> None:
    capabilities = Capabilities(max_buttons=3)
    async with gateway(capabilities=capabilities) as g:
        room = replace(place(), thread_id="")
        await g.take(ButtonPressed("action:1", room, MessageAuthor("ada"), "go-on", "Go on"))
        assert [send.reply_to_id for send in g.adapter.sent] == [""]


async def asked_in_room(
    capabilities: Capabilities,
    after: AnswerFooter,
    audience: Audience = Audience.PUBLIC_ROOM,
    answer: str = "ok",
) -> list[Outbound]:
    async with gateway(capabilities=capabilities) as g:
        with_diary(g, after=after)
        g.model.reply = lambda request: answer
        await g.take(received("I like kites", at=place(audience=audience), mentions_bot=True))
        return g.adapter.sent


def texts(sent: list[Outbound]) -> list[str]:
    return [one.part.text for one in sent if one.part is not None]


@pytest.mark.parametrize("audience", [Audience.PUBLIC_ROOM, Audience.PRIVATE_ROOM])
async def test_a_note_in_a_room_is_a_message_for_one_person(audience: Audience) -> None:
    answer, note = await asked_in_room(WHISPERS, NOTE, audience)
    assert [(one.private_to, one.buttons) for one in (answer, note)] == [
        ("", ()),
        ("ada", (UNDO_BUTTON,)),
    ]
    assert texts([answer]) == ["ok"]
    assert "likes kites" in texts([note])[0]
    assert answer.key.rpartition(":")[0] != note.key.rpartition(":")[0], "one fails alone"


async def test_a_note_is_omitted_where_private_messages_are_impossible() -> None:
    sent = await asked_in_room(SHOWS_ALL, NOTE)
    assert texts(sent) == ["ok"]
    assert [one.buttons for one in sent] == [()]


@pytest.mark.parametrize(("capabilities", "alone"), [(WHISPERS, True), (SHOWS_ALL, False)])
async def test_memory_learns_if_private_messages_are_possible(
    capabilities: Capabilities, alone: bool
) -> None:
    async with gateway(capabilities=capabilities) as g:
        diary = with_diary(g)
        await g.take(received("hello", at=place(), mentions_bot=True))
        await g.take(received("hello", message_id="m2"))
        assert [caller.alone for caller in diary.askers] == [alone, True]


@pytest.mark.parametrize("hidden", [KEY, SECRET])
async def test_a_note_with_a_secret_is_withheld_in_a_public_room(hidden: str) -> None:
    (answer,) = await asked_in_room(
        WHISPERS, AnswerFooter(verbatim(f"_Noted: “{hidden}”_"), (UNDO,))
    )
    assert texts([answer]) == ["ok"]
    closed = await asked_in_room(WHISPERS, AnswerFooter(verbatim(hidden)), Audience.PRIVATE_ROOM)
    assert len(closed) == 2, "the filter is for public rooms"


async def test_a_label_with_a_secret_is_omitted() -> None:
    after = AnswerFooter(
        verbatim("_Keep this?_"), (Choice(verbatim(f"Keep {KEY}"), "memory:keep:1"), UNDO)
    )
    (answer,) = await asked_in_room(WHISPERS, after)
    assert texts([answer]) == ["ok"]
    reply = ShownReply("?", after.shown(ENGLISH).buttons)
    shown, reason = screened(reply, Audience.PUBLIC_ROOM, ENGLISH)
    assert (shown.buttons, bool(reason)) == ((UNDO_BUTTON,), True)
    described = ShownReply("?", (Button("Keep", "v", KEY),))
    assert screened(described, Audience.PUBLIC_ROOM, ENGLISH)[0].buttons == ()
    assert screened(described, Audience.DIRECT, ENGLISH) == (described, "")


async def test_without_buttons_a_note_names_the_command() -> None:
    async with gateway() as g:
        with_diary(g, after=NOTE)
        await g.take(received("I like kites"))
        assert "/undo" in "".join(g.texts)
    async with gateway(capabilities=SHOWS_ALL) as g:
        with_diary(g, after=NOTE)
        await g.take(received("I like kites"))
        assert "/undo" not in "".join(g.texts)
        assert g.adapter.sent[-1].buttons == (UNDO_BUTTON,)


class Saying:
    """One command that says what it is given, with a button."""

    specs = (CommandSpec("say", "Say", True, allowed=IN_CHAT),)

    def __init__(self, text: str, label: str) -> None:
        self.reply = Reply(verbatim(text), (Choice(verbatim(label), "say:yes"),))

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        return self.reply

    def owns(self, value: str) -> bool:
        return value.startswith("say:")

    async def press(self, value: str, caller: Caller) -> Reply:
        return self.reply


async def rendered_answer(text: str, label: str, audience: Audience) -> list[Outbound]:
    async with gateway(policies=POLICIES, capabilities=SHOWS_ALL) as g:
        saying = Saying(text, label)
        force(g.services, "more_commands", saying)
        force(g.services, "commands", (*g.services.commands, *saying.specs))
        await g.take(command("say", at=place(audience=audience)))
        return g.adapter.sent


async def test_the_response_filter_applies_to_the_replies_of_commands() -> None:
    (shown,) = await rendered_answer(f"You told me {KEY}", "Yes", Audience.PUBLIC_ROOM)
    assert (texts([shown]), shown.buttons) == ([REPLACEMENT.english], ())
    (shown,) = await rendered_answer("Which?", f"Use {KEY}", Audience.PUBLIC_ROOM)
    assert (texts([shown]), shown.buttons) == (["Which?"], ())
    (shown,) = await rendered_answer(f"You told me {KEY}", "Yes", Audience.DIRECT)
    assert KEY in texts([shown])[0]


async def task_in_room(g: Gateway, text: str) -> str:
    await g.take(command("task", text, at=place()))
    return g.texts[-1]


async def test_a_task_with_a_secret_is_neither_set_nor_shown_in_a_public_room() -> None:
    async with gateway(policies=POLICIES) as g:
        assert "The task is not set" in await task_in_room(g, f"log in with {SECRET}")
        await g.take(command("task", at=place()))
        assert g.texts[-1].startswith("No task is set here")
        assert "hunter22" not in "".join(g.texts)


JOINED = (
    f'AKIA<img alt="{KEY[4:]}">',
    f"<https://e.org/AKIA>{KEY[4:]}",
    f"$AKIA\\left.{KEY[4:]}\\right.$",
)


@pytest.mark.parametrize("answer", JOINED)
async def test_a_key_that_rendering_joins_is_withheld_in_a_public_room(answer: str) -> None:
    async with gateway() as g:
        g.model.reply = lambda request: answer
        await g.take(received("the key?", at=place(), mentions_bot=True))
        assert g.texts == [REPLACEMENT.english]
        assert KEY[4:] not in str(await g.stored_words())


@pytest.mark.parametrize("hidden", JOINED)
async def test_a_note_with_a_key_that_rendering_joins_is_withheld(hidden: str) -> None:
    (answer,) = await asked_in_room(WHISPERS, AnswerFooter(verbatim(hidden), (UNDO,)))
    assert texts([answer]) == ["ok"]
