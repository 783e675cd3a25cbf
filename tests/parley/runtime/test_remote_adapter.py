"""Answers of a connected process to workers that request a live message."""

from dataclasses import replace

import pytest

from gateway.connected_account import ConnectedAccount
from gateway.errors import Busy, Permanent, Transient
from gateway.message import Part, Place
from gateway.outbound.deliverer import AccountSender, Deliverer, DeliveryRules
from gateway.outbound.pacing import Pacer
from gateway.ports import LiveStyle, LiveView, SendPace
from gateway.stores.sqlite.hot_state import SqliteOutbox
from parley.runtime.remote_adapter import SIGN, Sign, handlers_of, shown
from tests.support.adapter import MANIFEST, RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import direct, outbound


class Shower:
    """Shows anything, unless told to fail."""

    def __init__(self) -> None:
        self.views: list[LiveView] = []
        self.failure: Transient | None = None

    def live_style(self, place: Place) -> LiveStyle:
        return LiveStyle()

    async def show_live(self, view: LiveView) -> str:
        self.views.append(view)
        if self.failure is not None:
            raise self.failure
        return "handle"

    async def end_live(self, _: object) -> None: ...


class Desk:
    """An account with a deliverer, on a clock of its own."""

    def __init__(self, pace: SendPace) -> None:
        self.clock, self.shower = FakeClock(), Shower()
        self.line = AccountSender(RecordingAdapter(), Pacer(pace, self.clock))
        self.line.connected.set()
        outbox = SqliteOutbox(sqlite_database(":memory:"), self.clock)
        self.deliverer = Deliverer(
            outbox, {("test", "main"): self.line}, self.clock, DeliveryRules(), lambda *_: None
        )
        live = self.shower
        self.connected = ConnectedAccount(MANIFEST, self.line.adapter, live=live)  # type: ignore[arg-type]

    async def show(self) -> str:
        view = LiveView("live:1", direct(), Part("so far", "so far"), "so far")
        return await shown(view, self.connected, self.deliverer)


async def test_it_is_shown_where_there_is_room() -> None:
    desk = Desk(SendPace())
    assert await desk.show() == "handle"


async def test_all_workers_together_keep_within_the_chats_budget() -> None:
    desk = Desk(SendPace(chat_per_second=1))
    assert await desk.show() == "handle"
    with pytest.raises(Busy):
        await desk.show()
    await desk.clock.advance(1.0)
    assert await desk.show() == "handle"


async def test_nothing_is_shown_while_something_is_to_be_sent_or_nothing_can_be() -> None:
    desk = Desk(SendPace())
    desk.line.connected.clear()
    with pytest.raises(Busy):
        await desk.show()
    desk.deliverer.submit([outbound("r:0", "an answer", direct())])
    desk.line.connected.set()
    with pytest.raises(Busy):
        await desk.show()
    assert desk.shower.views == []
    await desk.deliverer.stop()


async def test_a_limit_that_the_platform_names_binds_the_answer_as_well() -> None:
    desk = Desk(SendPace())
    desk.shower.failure = Transient("429", 30.0)
    with pytest.raises(Transient):
        await desk.show()
    assert desk.line.pacer.penalised(direct())
    with pytest.raises(Busy):
        await desk.show()
    assert len(desk.shower.views) == 1


async def test_nor_does_anybody_type_while_it_binds() -> None:
    desk, typed = Desk(SendPace()), list[str]()

    class Typing:
        async def typing(self, place: Place, message_id: str) -> None:
            typed.append(message_id)

    connected = replace(desk.connected, typing=Typing())
    type_ = handlers_of(connected, desk.deliverer)["typing"]
    asked = SIGN.dump_json(Sign(direct(), "m1"))
    desk.line.pacer.penalise(direct(), 30.0)
    await type_(asked)
    assert typed == []
    await desk.clock.advance(30.0)
    await type_(asked)
    assert typed == ["m1"]


async def test_an_account_that_is_not_held_here_shows_nothing() -> None:
    desk = Desk(SendPace())
    view = LiveView("live:1", direct(platform="other"), Part("a", "a"), "a")
    with pytest.raises(Permanent):
        await shown(view, desk.connected, desk.deliverer)
