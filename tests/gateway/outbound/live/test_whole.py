"""From the first piece to the delivered answer, on a platform that fails as it likes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.errors import StoreUnavailable
from gateway.errors import Ambiguous, Permanent, Transient
from gateway.message import Outbound, Part, Place, Receipt
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.live.answer import (
    HELD,
    HELD_AFTER,
    LAST_WAIT,
    LiveAnswer,
    LiveDependencies,
    LiveTarget,
)
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import AccountSender, DeliveryRules
from gateway.outbound.send_attempt import REPEAT_NOTE
from gateway.platforms import discover, renderer_of
from gateway.ports import AdapterState, Capabilities, LiveStyle, LiveView, SendPace
from gateway.render import render
from gateway.stores.sqlite.adapter_states import SqliteAdapterStates
from gateway.stores.sqlite.outbox import SqliteOutbox
from tests.support.clock import FakeClock, InlineThreads, settle
from tests.support.databases import sqlite_database
from tests.support.messages import place

DISCORD = renderer_of(discover().manifests["discord"])

PIECES = [f"Sentence number {n} of the answer. " for n in range(12)]
WHOLE = "".join(PIECES).strip()
EDITED = LiveStyle(pause=1.0)
NO_PACE = SendPace()
Check = Callable[[], Awaitable[bool]]


async def never() -> bool:
    return False


@dataclass
class Screen:
    """A platform. `troubles` are what happens to the next requests, first in, first out."""

    clock: FakeClock
    platform: str = "test"
    account: str = "main"
    capabilities: Capabilities = field(default_factory=Capabilities)
    style: LiveStyle = EDITED
    messages: dict[str, str] = field(default_factory=dict)
    draft: str = ""
    troubles: list[str] = field(default_factory=list)
    asked: list[tuple[str, float]] = field(default_factory=list)
    orphans: int = 0

    async def connect(self, sink: object) -> None: ...
    async def wait_closed(self) -> None: ...
    async def disconnect(self) -> None: ...

    def live_style(self, place: Place) -> LiveStyle:
        return self.style

    async def show_live(self, view: LiveView) -> str:
        if self.style.fades:
            return await self._request("draft", lambda: self._draft(view.part))
        if view.handle:
            return await self._request("edit", lambda: self._change(view.handle, view.part))
        return await self._request("post", lambda: self._post(view.part))

    async def end_live(self, outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        part = outbound.part
        change = self._request("final edit", lambda: self._change(outbound.replaces, part))
        return Receipt(await change)

    async def send(self, outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        part = outbound.part
        return Receipt(await self._request("send", lambda: self._post(part)))

    async def delete(self, place: Place, message_id: str) -> None:
        self.messages.pop(message_id, None)

    async def _request(self, kind: str, act: Callable[[], str]) -> str:
        self.asked.append((kind, self.clock.monotonic()))
        trouble = self.troubles.pop(0) if self.troubles else ""
        # What the core cannot know of a message that is not its own to find again.
        sure = kind in ("edit", "final edit", "draft")
        if trouble == "slow":
            await self.clock.sleep(LAST_WAIT * 3)
        if trouble == "429":
            raise Transient("429", 7.0)
        if trouble == "cut before" and (sure or kind == "post"):
            raise Ambiguous("cut")
        if trouble == "refused" and kind != "send":
            raise Permanent("no")
        result = act()
        if trouble == "cut after" and (sure or kind == "post"):
            self.orphans += not sure
            raise Ambiguous("cut")
        return result

    def _post(self, part: Part) -> str:
        handle = f"m{len(self.asked)}"
        self.messages[handle] = part.text
        return handle

    def _change(self, handle: str, part: Part) -> str:
        if handle not in self.messages:
            raise Permanent("gone")
        self.messages[handle] = part.text
        return handle

    def _draft(self, part: Part) -> str:
        self.draft = part.text
        return ""


@dataclass
class Bench:
    screen: Screen
    deliverer: Deliverer
    outbox: SqliteOutbox
    line: AccountSender
    clock: FakeClock
    state: AdapterState

    def answer(self, at: Place, *, again: bool = False, silenced: Check = never) -> LiveAnswer:
        means = LiveDependencies(
            adapter=self.screen,
            shower=self.screen,
            pacer=self.line.pacer,
            free=lambda: self.deliverer.quiet(at),
            memory=self.state,
            clock=self.clock,
            count=lambda *_: None,
            silenced=silenced,
        )
        target = LiveTarget("live:e1", at, DISCORD, "q1", again=again)
        return LiveAnswer(target, means, self.screen.style)

    async def deliver(self, live: LiveAnswer, text: str = WHOLE) -> tuple[Outbound, ...]:
        """Deliver an answer as the pipeline does at the end of a turn."""
        parts = render(text, "discord")
        sends = tuple(Outbound(f"r1:{n}", place(), part) for n, part in enumerate(parts))
        sends = live.finished(sends)
        await self.outbox.add(sends)
        self.deliverer.submit(sends)
        await self.clock.advance(3_600)
        return sends


async def on_bench(
    test: Callable[[Bench], Awaitable[None]],
    *,
    style: LiveStyle = EDITED,
    troubles: Sequence[str] = (),
    pace: SendPace = NO_PACE,
) -> None:
    asyncio.get_running_loop().set_default_executor(InlineThreads())
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    outbox = SqliteOutbox(database, clock)
    screen = Screen(clock, style=style, troubles=list(troubles))
    line = AccountSender(screen, Pacer(pace, clock))
    line.connected.set()
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, DeliveryRules(), lambda *_: None)
    try:
        await test(
            Bench(
                screen,
                deliverer,
                outbox,
                line,
                clock,
                SqliteAdapterStates(database, clock).of("test", "main"),
            )
        )
    finally:
        await deliverer.stop()
        await database.stop()


async def write(live: LiveAnswer, clock: FakeClock, gap: float, pieces: Sequence[str]) -> None:
    """The model writes, one piece after the other."""
    live.begin()
    for piece in pieces:
        await live.on_text(piece)
        await clock.advance(gap)


async def closed(live: LiveAnswer, clock: FakeClock) -> None:
    """Close it while time goes on."""
    closing = asyncio.create_task(live.close())
    for _ in range(20):
        if closing.done():
            break
        await clock.advance(1.0)
    await closing


TROUBLE = st.sampled_from(["", "", "", "429", "cut before", "cut after", "refused", "slow"])


@settings(max_examples=250, deadline=None)
@given(
    troubles=st.lists(TROUBLE, max_size=12),
    gap=st.sampled_from([0.0, 0.3, 1.0, 5.0]),
    fades=st.booleans(),
    paced=st.booleans(),
)
def test_the_answer_is_shown_exactly_once_under_any_failure(
    troubles: list[str], gap: float, fades: bool, paced: bool
) -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, gap, PIECES)
        await closed(live, bench.clock)
        await bench.deliver(live)
        *others, above, answer = ["", *bench.screen.messages.values()]
        assert answer == WHOLE
        if above == REPEAT_NOTE.text:
            assert {"cut before", "cut after", "slow"} & {*troubles}
        else:
            others.append(above)
            assert not bench.screen.orphans, "a message that may be left is announced"
        assert len(others) - 1 <= bench.screen.orphans, "nothing but the answer is left"
        assert await bench.outbox.waiting(10) == []

    style = LiveStyle(pause=1.0, fades=30.0 if fades else 0.0)
    pace = SendPace(30.0, 1.0, 20.0) if paced else SendPace()
    asyncio.run(on_bench(test, style=style, troubles=troubles, pace=pace))


async def test_a_quick_answer_needs_no_live_request() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.05, PIECES)
        await live.close()
        await bench.deliver(live)
        assert [kind for kind, _ in bench.screen.asked] == ["send"]

    await on_bench(test)


async def test_text_that_was_not_shown_can_be_withdrawn_and_shown_text_cannot() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await live.on_text("A first beginning that breaks off")
        assert live.take_back("")
        await write(live, bench.clock, 0.5, PIECES)
        assert live.visible
        assert not live.take_back("")
        await live.close()
        assert not any("first beginning" in text for text in bench.screen.messages.values())
        await bench.deliver(live)

    await on_bench(test)


@pytest.mark.parametrize("style", [EDITED, LiveStyle(pause=1.0, fades=30.0)])
async def test_a_wait_for_the_model_is_shown_after_some_seconds(style: LiveStyle) -> None:
    async def test(bench: Bench) -> None:
        text = render(HELD, "discord")[0].text
        live = bench.answer(place())
        live.begin()
        live.waits()
        await bench.clock.advance(HELD_AFTER - 0.1)
        assert bench.screen.asked == []
        await bench.clock.advance(0.2)
        assert text in (*bench.screen.messages.values(), bench.screen.draft)
        live.waits()
        await bench.clock.advance(60.0)
        questions = [kind for kind, _ in bench.screen.asked]
        assert questions == ["post"] if not style.fades else set(questions) == {"draft"}
        assert live.take_back(""), "nothing of the answer was shown"
        await write(live, bench.clock, 0.5, PIECES)
        await closed(live, bench.clock)
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [WHOLE]

    await on_bench(test, style=style)


async def test_a_wait_is_not_shown_where_text_can_only_be_appended() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        live.begin()
        live.waits()
        await bench.clock.advance(60.0)
        assert bench.screen.asked == []
        await live.close()

    await on_bench(test, style=LiveStyle(pause=1.0, appends=True))


async def test_a_wait_without_an_answer_is_replaced_by_a_sentence() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        live.begin()
        live.waits()
        await bench.clock.advance(90.0)
        await closed(live, bench.clock)
        await bench.deliver(live, "I can't reach my language model right now.")
        assert list(bench.screen.messages.values()) == [
            "I can't reach my language model right now."
        ]

    await on_bench(test)


async def test_edits_keep_the_pause_of_the_platform() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.2, PIECES * 5)
        times = [at for _, at in bench.screen.asked]
        assert len(times) > 5
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert min(gaps) >= 1.1 - 1e-6
        await live.close()

    await on_bench(test, style=LiveStyle(pause=1.1))


async def test_in_a_group_the_rate_of_the_room_is_reserved_for_answers() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES * 20)
        in_a_minute = [at for _, at in bench.screen.asked if at <= 60.0]
        assert len(in_a_minute) <= 20 + 4
        await live.close()
        began = bench.clock.monotonic()
        await bench.deliver(live)
        final = bench.screen.asked[-1]
        assert final[0] == "final edit"
        assert final[1] - began <= 1.0, "the answer waits for one interval of the chat at most"

    await on_bench(test, pace=SendPace(30.0, 1.0, 20.0))


async def test_no_live_text_is_shown_between_parts_of_an_earlier_answer() -> None:
    async def test(bench: Bench) -> None:
        earlier = tuple(Outbound(f"r0:{n}", place(), Part(f"p{n}", f"p{n}")) for n in range(4))
        await bench.outbox.add(earlier)
        bench.deliverer.submit(earlier)
        live = bench.answer(place())
        await write(live, bench.clock, 1.0, PIECES)
        await live.close()
        kinds = [kind for kind, _ in bench.screen.asked]
        assert kinds[:4] == ["send"] * 4
        assert "post" in kinds[4:]

    await on_bench(test, pace=SendPace(0.0, 1.0, 0.0))


async def test_a_hanging_edit_delays_the_answer_for_a_limited_time() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.4, PIECES[:4])
        bench.screen.troubles = ["slow"]
        await write(live, bench.clock, 0.4, PIECES[4:])
        began = bench.clock.monotonic()
        await closed(live, bench.clock)
        assert bench.clock.monotonic() - began <= LAST_WAIT + 1.0
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [WHOLE]

    await on_bench(test)


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
        bench.deliverer._lines = {("test", "main"): bench.line}
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


async def test_without_the_message_id_the_answer_is_sent_below_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(bench: Bench) -> None:
        first = bench.answer(place())
        monkeypatch.setattr(first, "_appeared", lambda *_: nothing(""))  # killed before it could
        await write(first, bench.clock, 0.5, PIECES[:4])
        await first.close()
        second = bench.answer(place(), again=True)
        await write(second, bench.clock, 0.5, PIECES)
        await second.close()
        noted, answer = await bench.deliver(second)
        assert noted.key.rpartition(":")[0] != answer.key.rpartition(":")[0]
        _, *texts = bench.screen.messages.values()
        assert texts == [REPEAT_NOTE.text, WHOLE]

    await on_bench(test)


async def test_a_run_that_cannot_replace_the_first_message_shows_no_second_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(bench: Bench) -> None:
        first = bench.answer(place())
        monkeypatch.setattr(first, "_appeared", lambda *_: nothing(""))  # killed before it could
        await write(first, bench.clock, 0.5, PIECES[:4])
        await first.close()
        second = bench.answer(place(), again=True)
        await write(second, bench.clock, 0.5, PIECES)
        await second.close()  # and then the process is killed
        assert len(bench.screen.messages) == 1
        third = bench.answer(place(), again=True)
        await write(third, bench.clock, 0.5, PIECES)
        await third.close()
        await bench.deliver(third)
        _, *texts = bench.screen.messages.values()
        assert texts == [REPEAT_NOTE.text, WHOLE]

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
        assert [send.part for send in sends] == [REPEAT_NOTE, Part(WHOLE, WHOLE)]
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


async def nothing(_: str) -> None: ...


async def test_a_private_refusal_does_not_replace_a_public_message() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES[:4])
        await live.close()
        whisper = Outbound("r1:0", place(), Part("limit", "limit"), private_to="ada")
        closing, last = live.finished((whisper,))
        assert last == whisper
        assert closing.replaces in bench.screen.messages
        assert closing.part is not None
        assert closing.part.text.endswith("(The answer was interrupted here.)")
        assert closing.key.rpartition(":")[0] != "r1", "one can fail without the other"

    await on_bench(test)


async def test_an_exception_in_an_adapter_disables_only_the_live_text() -> None:
    class Broken(Screen):
        async def show_live(self, view: LiveView) -> str:
            raise RuntimeError("a bug")

    async def test(bench: Bench) -> None:
        bench.screen.__class__ = Broken
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES)
        await live.close()
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [REPEAT_NOTE.text, WHOLE]
        await settle()

    await on_bench(test)
