"""Messages in a conversation that an operator took over, and the button that shows earlier text."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.conversation import key_of
from gateway.message import ButtonPressed, MessageAuthor, Place
from gateway.people import Audience
from gateway.ports.conversations import StoredTurn
from gateway.ports.takeovers import Takeover
from gateway.turn.takeover import UNREAD
from tests.gateway.turn.test_memory import with_diary
from tests.support.gateway import Gateway, gateway
from tests.support.messages import received

IDLE = timedelta(hours=8)


def direct(name: str = "ada") -> Place:
    return Place("test", "main", f"D-{name}", Audience.DIRECT)


async def taken(g: Gateway, place: Place, person: str = "test:main:ada") -> Takeover:
    """An operator takes the conversation of this place over."""
    now, key = g.clock.now(), str(key_of("default", place))
    takeover = Takeover("t1", "default", key, "test:main:olga", "Olga", person, now, now)
    assert g.services.stores.takeovers is not None
    assert await g.services.stores.takeovers.take(takeover, now - IDLE)
    return takeover


async def shared(g: Gateway) -> bool:
    assert g.services.stores.takeovers is not None
    takeover = await g.services.stores.takeovers.find("t1")
    return takeover is not None and takeover.shared


async def test_the_assistant_is_silent_and_stores_what_is_said() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.take(received("are you a person?", at=direct()))
        assert (g.texts, g.model.requests) == ([], [])
        assert await g.stored_words() == ["are you a person?"]
        (trace,) = g.traces
        assert trace.outcome == "handed_over"
        assert ("operator", True, "handed_over") in [one[:3] for one in trace.decisions]
        assert await g.rows("inbox WHERE NOT done") == 0
        assert await g.rows("traces WHERE slot IS NULL") == 1


async def test_a_person_with_memory_off_is_told_that_nobody_reads_the_message() -> None:
    async with gateway() as g:
        with_diary(g, keeps=False)
        await taken(g, direct())
        await g.take(received("can you help?", at=direct()))
        assert [UNREAD.replace("`", "") in text.replace("`", "") for text in g.texts] == [True]
        assert (g.model.requests, await g.stored_words()) == ([], [])


async def test_other_conversations_are_answered() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.take(received("hello", at=direct("eve"), author="eve"))
        assert g.texts == ["answer"]


async def test_commands_are_answered() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.take(received("/help", at=direct()))
        assert len(g.texts) == 1


async def test_the_assistant_reads_what_was_said_when_it_answers_again() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.take(received("my order is late", at=direct()))
        key, at = key_of("default", direct()), g.clock.now()
        said = StoredTurn("a1", "assistant", "I look into it.", at, speaker="Olga")
        await g.services.stores.conversations.append(key, (said,))
        assert g.services.stores.takeovers is not None
        await g.services.stores.takeovers.end("t1")
        await g.take(received("and now?", message_id="m2", at=direct()))
        assert g.texts == ["answer"]
        shown = str(g.model.requests[-1].messages)
        assert "my order is late" in shown
        assert "(An operator, Olga, wrote:) I look into it." in shown


async def test_an_idle_takeover_is_given_back_with_a_reason() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.clock.advance(IDLE.total_seconds())
        await g.take(received("hello?", at=direct()))
        assert g.texts == ["answer"]
        assert ("operator", True, "returned_when_idle") in [
            one[:3] for one in g.traces[-1].decisions
        ]
        assert g.services.stores.takeovers is not None
        assert await g.services.stores.takeovers.find("t1") is None


async def test_who_may_not_write_is_refused_all_the_same() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.take(received("x", at=direct(), author="bot", is_bot=True))
        assert await g.stored_words() == []


async def press(g: Gateway, place: Place, name: str, value: str = "takeover:share:t1") -> None:
    await g.take(ButtonPressed(f"press-{name}", place, MessageAuthor(name), value))


async def test_the_person_shows_the_earlier_messages() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await press(g, direct(), "ada")
        assert await shared(g)
        assert "Olga can now read" in g.texts[-1]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (direct("eve"), "eve"),
        (direct("ada"), "eve"),
        (direct("eve"), "ada"),
        (replace(direct("ada"), audience=Audience.PUBLIC_ROOM), "ada"),
    ],
)
async def test_nobody_else_shows_them(place: Place, name: str) -> None:
    async with gateway() as g:
        await taken(g, direct())
        await press(g, place, name)
        assert not await shared(g)
        assert "Only the person" in g.texts[-1]
        assert [one.event for one in g.services.security._seen] == ["takeover_share_denied"]


async def test_a_room_has_nothing_to_show() -> None:
    async with gateway() as g:
        await taken(g, direct(), person="")
        await press(g, direct(), "ada")
        assert not await shared(g)


@pytest.mark.parametrize("value", ["takeover:share:", "takeover:share:t2", "takeover:share:\x00"])
async def test_an_unknown_button_shows_nothing(value: str) -> None:
    async with gateway() as g:
        await taken(g, direct())
        await press(g, direct(), "ada", value)
        assert not await shared(g)
        assert "This has ended" in g.texts[-1]


async def test_an_old_button_shows_nothing() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.clock.advance(IDLE.total_seconds())
        await press(g, direct(), "ada")
        assert not await shared(g)
