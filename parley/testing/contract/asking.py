"""Commands, buttons and inline queries, where they are declared."""

from typing import Protocol, runtime_checkable

import pytest

from gateway.errors import Permanent
from gateway.immutable import replace
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageReceived,
)
from gateway.ports import (
    CanAnswerInline,
    CanClearButtons,
)
from parley.testing.case import PATIENCE
from parley.testing.marks import lacks, proves
from parley.testing.stage import Stage, buttons, by_bot
from simulators.base import SimPerson, SimRoom


@runtime_checkable
class AsksInline(Protocol):
    """A platform on which people type after the bot's name in any chat."""

    def inline(self, person: SimPerson, query: str, chat_type: str = "sender") -> str: ...

    async def wait_inline(
        self, query_id: str, timeout: float = PATIENCE
    ) -> list[tuple[str, str]]: ...


@proves("native_commands")
async def test_a_command_is_an_event_with_its_name_and_arguments(stage: Stage) -> None:
    for number, room in enumerate((stage.room, stage.platform.room("general")), 1):
        await stage.platform.command(stage.person, room, "ask", "why is it so?")
        event = await stage.sink.first(CommandInvoked, number)
        assert (event.name, event.arguments) == ("ask", "why is it so?")
        assert (event.author.id, event.place.channel_id) == (stage.person.id, room.id)
    assert stage.sink.messages() == [], "a command is no message beside"


@lacks("native_commands")
async def test_without_native_commands_a_command_is_a_written_message(stage: Stage) -> None:
    await stage.platform.command(stage.person, stage.room, "ask", "why is it so?")
    await stage.sink.until(lambda: stage.sink.events != [])
    (event,) = stage.sink.events
    assert isinstance(event, CommandInvoked | MessageReceived)
    assert event.message is not None
    assert event.message.content == "/ask why is it so?"


@proves("commands_wait")
async def test_a_command_without_an_answer_is_pending_until_it_is_completed(stage: Stage) -> None:
    room = stage.platform.room("general")
    await stage.platform.command(stage.person, room, "context")
    command = await stage.sink.first(CommandInvoked)
    await waits(stage, room, True)
    await stage.adapter.send(stage.nothing(command))
    await waits(stage, room, False)
    assert by_bot(stage.platform.shown(room)) == []
    await stage.adapter.send(stage.nothing(command))
    assert by_bot(stage.platform.shown(room)) == [], "saying it again changes nothing"


@lacks("commands_wait")
async def test_without_native_commands_nothing_is_pending(stage: Stage) -> None:
    await stage.platform.command(stage.person, stage.room, "context")
    await stage.sink.until(lambda: stage.sink.events != [])
    assert not stage.platform_waits(stage.room)


async def waits(stage: Stage, room: SimRoom, expected: bool) -> None:
    """Return once people see that a command waits, or no longer do."""
    await stage.platform.wait_for(room, lambda _: stage.platform_waits(room) is expected, PATIENCE)


@proves("max_buttons")
async def test_as_many_buttons_as_declared_are_shown(stage: Stage) -> None:
    most = stage.adapter.capabilities.max_buttons
    place = (await stage.hear()).place
    receipt = await stage.send("Which?", place, buttons=buttons(most))
    (seen,) = await stage.shown(stage.room, bool)
    assert [button.label for button in seen.buttons] == [one.label for one in buttons(most)]
    for number, button in enumerate((buttons(most)[0], buttons(most)[-1]), 1):
        await stage.platform.press(stage.person, stage.room, receipt.message_id, button.label)
        event = await stage.sink.first(ButtonPressed, number)
        assert (event.value, event.label) == (button.value, button.label)
        assert (event.author.id, event.message_id) == (stage.person.id, receipt.message_id)
        assert event.place == place
    with pytest.raises(Permanent):
        await stage.send("Which?", place, buttons=buttons(most + 1))


@proves("clears_buttons")
@pytest.mark.parametrize("pressed", [True, False], ids=["pressed", "over"])
async def test_buttons_are_removed_and_the_text_stays(stage: Stage, pressed: bool) -> None:
    place = (await stage.hear()).place
    receipt = await stage.send("Which?", place, buttons=buttons(2))
    (seen,) = await stage.shown(stage.room, bool)
    clearing = stage.outbound("Which?", place, key="gone:0", clears=receipt.message_id)
    if pressed:
        label = seen.buttons[0].label
        await stage.platform.press(stage.person, stage.room, receipt.message_id, label)
        event = await stage.sink.first(ButtonPressed)
        clearing = replace(clearing, part=event.shown, reply_handle=event.reply_handle)
    assert isinstance(stage.adapter, CanClearButtons)
    for _ in range(2):
        await stage.adapter.clear_buttons(clearing)
    await stage.shown(stage.room, lambda messages: not messages[0].buttons)
    assert [one.text for one in by_bot(stage.platform.shown(stage.room))] == ["Which?"]


@proves("max_buttons")
async def test_a_value_of_64_bytes_is_returned_unchanged(stage: Stage) -> None:
    place = (await stage.hear()).place
    value = "ä" * 32
    receipt = await stage.send("Sure?", place, buttons=(Button("Yes", value), Button("No", "no")))
    await stage.shown(stage.room, bool)
    await stage.platform.press(stage.person, stage.room, receipt.message_id, "Yes")
    assert (await stage.sink.first(ButtonPressed)).value == value


@lacks("max_buttons")
async def test_without_buttons_only_the_text_is_shown(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("Sure?", place, buttons=buttons(2))
    (seen,) = await stage.shown(stage.room, bool)
    assert (seen.text, seen.buttons) == ("Sure?", ())


@proves("inline_queries")
async def test_an_inline_query_gets_texts_to_send(stage: Stage) -> None:
    assert isinstance(stage.platform, AsksInline)
    assert isinstance(stage.adapter, CanAnswerInline)
    query_id = stage.platform.inline(stage.person, "tea")
    event = await stage.sink.first(InlineQueried)
    assert (event.query, event.author.id) == ("tea", stage.person.id)
    await stage.adapter.answer_inline(event.event_id, (Button("Green", "green tea"),))
    assert await stage.platform.wait_inline(query_id) == [("Green", "green tea")]
