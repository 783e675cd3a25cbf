"""Messages in a conversation that an operator took over, and the button that shows earlier text."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import ButtonPressed, MessageAuthor, Outbound, Place, Receipt
from gateway.people import Audience
from gateway.ports import (
    LiveStyle,
    LiveView,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
)
from gateway.ports.conversations import StoredTurn
from gateway.ports.unit_of_work import CompletedTurn
from gateway.stores.takeovers import Takeover
from gateway.turn.takeover import UNREAD
from tests.gateway.turn.test_memory import with_diary
from tests.support.adapter import RecordingAdapter
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
        assert [UNREAD.english.replace("`", "") in text.replace("`", "") for text in g.texts] == [
            True
        ]
        assert (g.model.requests, await g.stored_words()) == ([], [])


BEGINNING, REST = "The parcel left the house on Monday, ", "and it arrives tomorrow."


class LiveAdapter(RecordingAdapter):
    """Shows answers while they are written, in `shown` by message, and types."""

    style = LiveStyle(pause=1.0)

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, str] = {}
        self.requests = 0
        self.typed = 0

    async def typing(self, place: Place, message_id: str) -> None:
        self.typed += 1

    def live_style(self, place: Place) -> LiveStyle | None:
        return self.style

    async def show_live(self, view: LiveView) -> str:
        self.requests += 1
        self.shown["live"] = view.part.text
        return "" if self.style.fades else "live"

    async def end_live(self, outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        self.shown[outbound.replaces] = outbound.part.text
        return Receipt(outbound.replaces)


def written_slowly(g: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model writes the rest of its answer when `g.model.open` is set."""
    g.model.open.clear()

    async def stream(_: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta(BEGINNING)
        await g.model.open.wait()
        yield TextDelta(REST)
        said = ModelMessage("assistant", (TextBlock(BEGINNING + REST),))
        yield ModelFinished(said, "end", g.model.usage, "offline")

    monkeypatch.setattr(g.model, "stream", stream)


async def test_an_answer_that_is_being_written_at_a_takeover_is_withheld() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("where is my parcel?", at=direct()))
        await taken(g, direct())
        g.model.open.set()
        await g.rest()
        assert (len(g.model.requests), g.texts) == (1, [])
        assert await g.rows("outbox") == 0
        assert await g.stored_words() == ["where is my parcel?"]
        assert await g.rows("turns WHERE role = 'assistant'") == 0
        assert await g.rows("usage") == 1
        (trace,) = g.traces
        assert trace.outcome == "handed_over"
        assert ("operator", False, "answer_withheld") in [one[:3] for one in trace.decisions]


async def test_a_takeover_of_an_idle_operator_withholds_nothing() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("where is my parcel?", at=direct()))
        takeover = await taken(g, direct())
        assert g.services.stores.takeovers is not None
        await g.services.stores.takeovers.took_part(takeover.id, g.clock.now() - IDLE)
        g.model.open.set()
        await g.rest()
        assert g.texts == ["answer"]


async def test_a_takeover_is_noticed_while_the_answer_waits_for_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:
        complete, attempts = g.services.stores.unit_of_work.complete, []

        async def unavailable_once(done: CompletedTurn) -> bool:
            attempts.append(done)
            if len(attempts) == 1:
                raise StoreUnavailable("gone")
            return await complete(done)

        monkeypatch.setattr(g.services.stores.unit_of_work, "complete", unavailable_once)
        await g.take(received("where is my parcel?", at=direct()))
        await taken(g, direct())
        await g.clock.advance(1)
        await g.rest()
        without = [done.silent_since is None for done in attempts]
        assert (without, g.texts, g.outcomes()) == ([False, False, True], [], ["handed_over"])


async def test_a_takeover_while_the_answer_is_being_stored_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:
        complete = g.services.stores.unit_of_work.complete

        async def after_a_takeover(done: CompletedTurn) -> bool:
            await taken(g, direct())
            monkeypatch.setattr(g.services.stores.unit_of_work, "complete", complete)
            return await complete(done)

        monkeypatch.setattr(g.services.stores.unit_of_work, "complete", after_a_takeover)
        await g.take(received("where is my parcel?", at=direct()))
        await g.rest()
        assert (g.texts, g.outcomes()) == ([], ["handed_over"])
        assert await g.rows("turns WHERE role = 'assistant'") == 0
        assert await g.rows("inbox WHERE NOT done") == 0


async def test_an_apology_for_a_failing_model_is_withheld_too() -> None:
    def fails(_: ModelRequest) -> str:
        raise RuntimeError("broken")

    async with gateway() as g:
        g.model.reply = fails
        g.model.open.clear()
        await g.take(received("where is my parcel?", at=direct()))
        await taken(g, direct())
        g.model.open.set()
        await g.rest()
        assert (g.texts, g.outcomes()) == ([], ["handed_over"])
        assert await g.stored_words() == ["where is my parcel?"]


async def test_with_memory_off_the_person_is_told_instead_of_the_withheld_answer() -> None:
    async with gateway() as g:
        with_diary(g, keeps=False)
        g.model.open.clear()
        await g.take(received("can you help?", at=direct()))
        await taken(g, direct())
        g.model.open.set()
        await g.rest()
        assert [UNREAD.english.replace("`", "") in text.replace("`", "") for text in g.texts] == [
            True
        ]
        assert await g.stored_words() == []


@pytest.mark.parametrize(
    ("fades", "left"), [(0.0, "Somebody from the team"), (30.0, BEGINNING[:9])]
)
async def test_a_live_answer_stops_and_a_note_replaces_a_message_that_would_stay(
    monkeypatch: pytest.MonkeyPatch, fades: float, left: str
) -> None:
    adapter = LiveAdapter()
    adapter.style = LiveStyle(pause=1.0, fades=fades)
    async with gateway(adapter=adapter) as g:
        written_slowly(g, monkeypatch)
        await g.take(received("where is my parcel?", at=direct()))
        await g.clock.advance(3)
        assert BEGINNING.strip(", ") in adapter.shown["live"]
        await taken(g, direct())
        signs = adapter.requests, adapter.typed
        await g.clock.advance(60)
        assert (adapter.requests, adapter.typed) == signs
        g.model.open.set()
        await g.clock.advance(5)
        assert left in adapter.shown["live"]
        assert REST not in str(adapter.shown)
        assert (adapter.texts, adapter.requests) == ([], signs[0])


async def test_nothing_is_shown_live_while_it_is_unknown_who_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = LiveAdapter()
    async with gateway(adapter=adapter) as g:
        written_slowly(g, monkeypatch)
        await g.take(received("where is my parcel?", at=direct()))

        async def unavailable(_: str) -> None:
            raise StoreUnavailable("gone")

        with monkeypatch.context() as gone:
            gone.setattr(g.services.stores.takeovers, "of", unavailable)
            await g.clock.advance(5)
            assert adapter.shown == {}
        await g.clock.advance(2)
        assert BEGINNING.strip(", ") in adapter.shown["live"]


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
        await g.services.stores.takeovers.end("t1", g.clock.now())
        await g.take(received("and now?", message_id="m2", at=direct()))
        assert g.texts == ["answer"]
        shown = str(g.model.requests[-1].messages)
        assert "my order is late" in shown
        assert "(An operator, Olga, wrote:) I look into it." in shown


async def test_an_idle_takeover_is_given_back_with_a_reason() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.clock.advance(IDLE.total_seconds())
        await g.take(received("hello?", at=direct(), timestamp=g.clock.now()))
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
        assert "This button no longer works" in g.texts[-1]


async def test_an_old_button_shows_nothing() -> None:
    async with gateway() as g:
        await taken(g, direct())
        await g.clock.advance(IDLE.total_seconds())
        await press(g, direct(), "ada")
        assert not await shared(g)
