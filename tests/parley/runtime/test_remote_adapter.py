"""Answers of a connected process to workers that request a live message."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from db.errors import StoreUnavailable
from gateway.errors import Busy, Permanent, Transient
from gateway.immutable import replace
from gateway.message import Part, Place
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.live.answer import (
    BEGUN,
    ENDED,
    LiveAnswer,
    LiveDependencies,
    LiveTarget,
    memory_key,
    store_handle,
)
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import REPEAT_NOTE, AccountSender, DeliveryRules
from gateway.platforms import ConnectedAccount, renderer_of
from gateway.ports import CanTellReach, LiveStyle, LiveView, PlatformReach, SendPace
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.sqlite.queues import SqliteOutbox
from parley.runtime.remote_adapter import (
    ENDED_CALL,
    SIGN,
    Ended,
    RemoteAdapter,
    Sign,
    handlers_of,
    shown,
)
from tests.support.adapter import MANIFEST, RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database, started
from tests.support.messages import direct, outbound

Desks = Callable[[SendPace], Awaitable["Desk"]]


class Deleting(RecordingAdapter):
    """Remembers what it deletes."""

    def __init__(self) -> None:
        super().__init__()
        self.deleted: list[str] = []

    async def delete(self, place: Place, message_id: str) -> None:
        self.deleted.append(message_id)


async def _nothing() -> None: ...


class Shower:
    """Shows anything, unless told to fail."""

    def __init__(self) -> None:
        self.views: list[LiveView] = []
        self.failure: Transient | None = None
        self.style = LiveStyle()
        self.meanwhile: Callable[[], Awaitable[object]] = _nothing

    def live_style(self, place: Place) -> LiveStyle:
        return self.style

    async def show_live(self, view: LiveView) -> str:
        self.views.append(view)
        await self.meanwhile()
        if self.failure is not None:
            raise self.failure
        return "handle"

    async def end_live(self, _: object) -> None: ...


class Desk:
    """An account with a deliverer, on a clock of its own."""

    def __init__(self, pace: SendPace) -> None:
        self.clock, self.shower = FakeClock(), Shower()
        self.adapter = Deleting()
        self.line = AccountSender(self.adapter, Pacer(pace, self.clock))
        self.line.connected.set()
        self.database = sqlite_database(":memory:")
        outbox = SqliteOutbox(self.database, self.clock)
        self.state = SqliteAdapterStates(self.database, self.clock).of("test", "main")
        self.has_all = True
        self.deliverer = Deliverer(
            outbox,
            {("test", "main"): self.line},
            self.clock,
            DeliveryRules(),
            lambda *_: None,
            has_all=lambda account: self.has_all and account == ("test", "main"),
        )
        live = self.shower
        self.connected = ConnectedAccount(MANIFEST, self.line.adapter, live=live)  # type: ignore[arg-type]

    def live_answer(self, *, again: bool) -> LiveAnswer:
        """A live answer in a worker."""
        target = LiveTarget("live:1", direct(), renderer_of(MANIFEST), again=again)
        live: Any = self.shower
        means = LiveDependencies(
            self.line.adapter,
            live,
            self.line.pacer,
            lambda: True,
            self.state,
            self.clock,
            lambda *_: None,
        )
        return LiveAnswer(target, means, self.shower.style)

    async def show(self) -> str:
        view = LiveView("live:1", direct(), Part("so far", "so far"), "so far")
        return await shown(view, self.connected, self.deliverer, self.state)


@pytest.fixture
async def desk_with() -> AsyncIterator[Desks]:
    """Opens accounts with a send rate, until the end of the test."""
    async with AsyncExitStack() as stack:

        async def opened(pace: SendPace) -> Desk:
            desk = Desk(pace)
            await stack.enter_async_context(started(desk.database))
            return desk

        yield opened


@pytest.fixture
async def desk(desk_with: Desks) -> Desk:
    """An account without a limit."""
    return await desk_with(SendPace())


async def test_a_live_answer_is_shown_while_the_rate_allows(desk: Desk) -> None:
    await store_handle(desk.state, "live:1", BEGUN)
    assert await desk.show() == "handle"


@pytest.mark.parametrize(("fades", "stored"), [(0.0, "handle"), (30.0, None)])
async def test_the_handle_of_a_live_message_that_stays_outlives_its_worker(
    desk: Desk, fades: float, stored: str | None
) -> None:
    desk.shower.style = LiveStyle(fades=fades)
    await desk.show()
    assert await desk.state.get(memory_key("live:1")) == stored


async def test_a_live_answer_is_shown_although_its_handle_cannot_be_stored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def put(self: SqliteAdapterStates, *_: object) -> None:
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(type(desk.state), "put", put)
    assert await desk.show() == "handle"


async def test_a_call_of_a_killed_worker_shows_nothing_below_the_answer_of_the_next(
    desk: Desk,
) -> None:
    await store_handle(desk.state, "live:1", BEGUN)  # killed while its call waits
    live = desk.live_answer(again=True)
    await live.on_text("so far, and the rest")
    await live.close()
    note, answer = live.finished((outbound("r:0", "so far, and the rest", direct()),))
    assert note.part == Part(REPEAT_NOTE.english, REPEAT_NOTE.english)
    assert not answer.replaces
    with pytest.raises(Permanent):
        await desk.show()
    assert desk.shower.views == []
    later = desk.live_answer(again=True)  # the next worker was killed too
    await later.close()
    assert later.finished((answer,)) == (note, answer)


async def test_a_message_that_appears_after_the_answer_was_sent_is_deleted(desk: Desk) -> None:
    desk.shower.meanwhile = lambda: store_handle(desk.state, "live:1", ENDED)
    with pytest.raises(Permanent):
        await desk.show()
    assert desk.adapter.deleted == ["handle"]
    assert await desk.state.get(memory_key("live:1")) == ENDED


async def test_all_workers_together_keep_the_rate_of_a_chat(desk_with: Desks) -> None:
    desk = await desk_with(SendPace(chat_per_second=1))
    assert await desk.show() == "handle"
    with pytest.raises(Busy):
        await desk.show()
    await desk.clock.advance(1.0)
    assert await desk.show() == "handle"


async def test_no_live_answer_is_shown_while_disconnected_or_while_a_send_waits(desk: Desk) -> None:
    desk.line.connected.clear()
    with pytest.raises(Busy):
        await desk.show()
    desk.deliverer.submit([outbound("r:0", "an answer", direct())])
    desk.line.connected.set()
    with pytest.raises(Busy):
        await desk.show()
    assert desk.shower.views == []
    await desk.deliverer.stop()


async def test_no_live_answer_overtakes_the_sends_that_a_killed_process_left(desk: Desk) -> None:
    desk.has_all = False
    with pytest.raises(Busy):
        await desk.show()
    desk.has_all = True
    assert await desk.show() == "handle"


async def test_a_rate_limit_of_the_platform_also_applies_to_the_answer(desk: Desk) -> None:
    desk.shower.failure = Transient("429", 30.0)
    with pytest.raises(Transient):
        await desk.show()
    assert desk.line.pacer.penalised(direct())
    with pytest.raises(Busy):
        await desk.show()
    assert len(desk.shower.views) == 1


async def test_the_end_of_messages_is_shown_by_the_connected_process(desk: Desk) -> None:
    shown = list[str]()

    class Ends:
        async def ended(self, place: Place, message_ids: tuple[str, ...]) -> None:
            shown.extend(message_ids)

    connected = replace(desk.connected, ends=Ends())
    end = handlers_of(connected, desk.deliverer, desk.state)["ended"]
    desk.line.pacer.penalise(direct(), 30.0)
    await end(ENDED_CALL.dump_json(Ended(direct(), ("m1", "m2"))))
    assert shown == ["m1", "m2"]


async def test_typing_is_not_shown_during_a_rate_limit(desk: Desk) -> None:
    typed = list[str]()

    class Typing:
        async def typing(self, place: Place, message_id: str) -> None:
            typed.append(message_id)

    connected = replace(desk.connected, typing=Typing())
    type_ = handlers_of(connected, desk.deliverer, desk.state)["typing"]
    question = SIGN.dump_json(Sign(direct(), "m1"))
    desk.line.pacer.penalise(direct(), 30.0)
    await type_(question)
    assert typed == []
    await desk.clock.advance(30.0)
    await type_(question)
    assert typed == ["m1"]


async def test_a_worker_asks_the_connected_process_what_a_person_gets(desk: Desk) -> None:
    class Reaches:
        async def reach(self, place: Place) -> PlatformReach:
            return PlatformReach("template" if place == direct() else "open", 900)

    connected = replace(desk.connected, reaches=Reaches())
    handlers = handlers_of(connected, desk.deliverer, desk.state)

    class Calls:
        async def call(self, method: str, payload: bytes, timeout: float) -> bytes:
            return await handlers[method](payload)

    manifest = replace(MANIFEST, abilities=(CanTellReach,))
    calls: Any = Calls()
    worker = RemoteAdapter(manifest, "main", calls).connected()
    assert worker.reaches is not None
    assert await worker.reaches.reach(direct()) == PlatformReach("template", 900)
    assert RemoteAdapter(MANIFEST, "main", calls).connected().reaches is None


async def test_an_account_without_a_connected_process_shows_nothing(desk: Desk) -> None:
    view = LiveView("live:1", direct(platform="other"), Part("a", "a"), "a")
    with pytest.raises(Permanent):
        await shown(view, desk.connected, desk.deliverer, desk.state)
