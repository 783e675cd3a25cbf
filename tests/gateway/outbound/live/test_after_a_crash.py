"""The process after a crash replaces the live message of the first one, or adds a note."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.message import Outbound, Part
from gateway.outbound.live.answer import LiveAnswer
from gateway.outbound.retry_decision import REPEAT_NOTE, AccountSender
from gateway.ports import Capabilities, LiveStyle, LiveView
from tests.gateway.outbound.live.bench import (
    PIECES,
    WHOLE,
    Bench,
    Screen,
    closed,
    on_bench,
    write,
)
from tests.support.clock import settle
from tests.support.messages import place


async def nothing(_: str) -> None: ...


@pytest.mark.parametrize("quick", [True, False])
async def test_the_process_after_a_crash_edits_the_message_of_the_first(quick: bool) -> None:
    async def test(bench: Bench) -> None:
        first = bench.answer(place())
        await write(first, bench.clock, 0.5, PIECES[:4])
        await first.close()  # and then the process is killed
        (left,) = bench.screen.messages
        second = bench.answer(place(), again=True)
        await write(second, bench.clock, 0.0 if quick else 0.5, PIECES)
        await second.close()
        (send,) = await bench.deliver(second)
        assert send.replaces == left
        assert bench.screen.messages == {left: WHOLE}

    await on_bench(test)


@dataclass
class Knowing(Screen):
    """A platform that recognises a message by its key."""

    known: dict[str, str] = field(default_factory=dict)

    async def show_live(self, view: LiveView) -> str:
        if not view.handle and view.key in self.known:
            return self.known[view.key]
        self.known[view.key] = await super().show_live(view)
        return self.known[view.key]


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("left", [True, False])
async def test_the_message_is_edited_also_if_its_id_was_not_stored(
    left: bool, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(bench: Bench) -> None:
        can = Capabilities(idempotent_sends=True)
        knows = Knowing(bench.clock, capabilities=can)
        bench.screen = knows
        if left:
            first = bench.answer(place())
            monkeypatch.setattr(first, "_remember", nothing)  # killed before it could
            await write(first, bench.clock, 0.5, PIECES[:4])
            await first.close()
        second = bench.answer(place(), again=True)
        await write(second, bench.clock, 0.0 if quick else 0.5, PIECES)
        await second.close()
        bench.line = AccountSender(knows, bench.line.pacer)
        bench.line.connected.set()
        bench.deliverer._senders = {("test", "main"): bench.line}
        await bench.deliver(second)
        assert list(knows.messages.values()) == [WHOLE]

    await on_bench(test)


@pytest.mark.parametrize("trouble", ["", "429", "cut before", "cut after"])
async def test_a_message_without_a_stored_id_is_looked_for_until_the_platform_answers(
    trouble: str,
) -> None:
    async def test(bench: Bench) -> None:
        can = Capabilities(idempotent_sends=True)
        knows = bench.screen = Knowing(bench.clock, capabilities=can, troubles=[trouble])
        live = bench.answer(place(), again=True)
        await write(live, bench.clock, 0.0, PIECES)
        await closed(live, bench.clock)
        (send,) = live.finished((Outbound("r1:0", place(), Part(WHOLE, WHOLE)),))
        assert send.replaces in knows.messages

    await on_bench(test)


async def test_a_message_without_a_stored_id_does_not_appear_above_earlier_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(bench: Bench) -> None:
        can = Capabilities(idempotent_sends=True)
        knows = bench.screen = Knowing(bench.clock, capabilities=can)
        waits = [True]
        monkeypatch.setattr(bench.deliverer, "quiet", lambda _: not waits[0])
        live = bench.answer(place(), again=True)
        await write(live, bench.clock, 0.0, PIECES)
        closing = asyncio.create_task(closed(live, bench.clock))
        await settle()
        assert knows.messages == {}
        waits[0] = False
        await closing
        assert len(knows.messages) == 1

    await on_bench(test)


@pytest.mark.parametrize("unavailable", [0, 2])
async def test_a_repeated_request_shows_no_text_of_a_withheld_answer(unavailable: int) -> None:
    left = [unavailable]

    async def taken_over() -> bool:
        left[0] -= 1
        if left[0] >= 0:
            raise StoreUnavailable("disk full")
        return True

    async def test(bench: Bench) -> None:
        can = Capabilities(idempotent_sends=True)
        knows = bench.screen = Knowing(bench.clock, capabilities=can)
        live = bench.answer(place(), again=True, silenced=taken_over)
        live.begin()
        await live.on_text(WHOLE)
        await closed(live, bench.clock)
        assert len(knows.messages) == 1
        assert not any("Sentence" in text for text in knows.messages.values())

    await on_bench(test)


async def second_of(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> LiveAnswer:
    """The whole answer of the process after a crash. The first one was killed before it stored the
    id of its message."""
    first = bench.answer(place())
    monkeypatch.setattr(first, "_appeared", lambda *_: nothing(""))
    await write(first, bench.clock, 0.5, PIECES[:4])
    await first.close()
    second = bench.answer(place(), again=True)
    await write(second, bench.clock, 0.5, PIECES)
    await second.close()
    return second


async def test_without_the_message_id_the_answer_is_sent_below_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(bench: Bench) -> None:
        second = await second_of(bench, monkeypatch)
        noted, answer = await bench.deliver(second)
        assert noted.key.rpartition(":")[0] != answer.key.rpartition(":")[0]
        _, *texts = bench.screen.messages.values()
        assert texts == [REPEAT_NOTE.english, WHOLE]

    await on_bench(test)


async def test_a_run_that_cannot_replace_the_first_message_shows_no_second_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(bench: Bench) -> None:
        await second_of(bench, monkeypatch)  # and then the process is killed
        assert len(bench.screen.messages) == 1
        third = bench.answer(place(), again=True)
        await write(third, bench.clock, 0.5, PIECES)
        await third.close()
        await bench.deliver(third)
        _, *texts = bench.screen.messages.values()
        assert texts == [REPEAT_NOTE.english, WHOLE]

    await on_bench(test)


@pytest.mark.parametrize("trouble", ["cut after", "slow"])
async def test_an_answer_follows_a_note_if_its_first_message_has_no_result(
    trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.live.answer.LAST_WAIT", 0.0)

    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.4, PIECES[:3])
        await live.close()
        sends = live.finished((Outbound("r1:0", place(), Part(WHOLE, WHOLE)),))
        assert [send.part and send.part.text for send in sends] == [REPEAT_NOTE.english, WHOLE]
        assert not any(send.replaces for send in sends)

    await on_bench(test, troubles=[trouble])


async def test_a_refused_first_message_needs_no_note() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.4, PIECES[:3])
        await closed(live, bench.clock)
        assert len(await bench.deliver(live)) == 1

    await on_bench(test, troubles=["429"])
    await on_bench(test, troubles=["refused"])


class Unreadable:
    """The state of an account in a store that is unavailable."""

    async def get(self, key: str) -> str | None:
        raise StoreUnavailable("disk full")

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        raise StoreUnavailable("disk full")


async def test_nothing_is_shown_that_a_later_run_would_not_know() -> None:
    async def test(bench: Bench) -> None:
        bench.state = Unreadable()
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES)
        await live.close()
        assert bench.screen.messages == {}
        assert len(await bench.deliver(live)) == 1

    await on_bench(test)


@pytest.mark.parametrize("fades", [0.0, 30.0])
async def test_without_the_stored_message_id_the_answer_follows_a_note(fades: float) -> None:
    async def test(bench: Bench) -> None:
        bench.state = Unreadable()
        live = bench.answer(place(), again=True)
        await write(live, bench.clock, 0.5, PIECES)
        await live.close()
        assert len(await bench.deliver(live)) == (1 if fades else 2)

    await on_bench(test, style=LiveStyle(pause=1.0, fades=fades))


async def test_a_stored_message_needs_no_note() -> None:
    async def test(bench: Bench) -> None:
        first = bench.answer(place())
        await write(first, bench.clock, 0.5, PIECES[:4])
        await first.close()
        second = bench.answer(place(), again=True)
        await write(second, bench.clock, 0.5, PIECES)
        await second.close()
        assert len(await bench.deliver(second)) == 1

    await on_bench(test)
