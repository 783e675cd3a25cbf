"""Connecting, repeated updates, refusals, and the report of `parley doctor`."""

import asyncio
from collections import Counter

import pytest

from adapters.telegram.connection import public_url
from gateway.errors import (
    StartError,
)
from gateway.immutable import replace
from gateway.message import (
    MessageReceived,
)
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.adapters.telegram.harness import (
    MODES,
    Listener,
    adapter_for,
    connected,
)
from tests.support.adapter_context import EventRecorder, MemoryState, unavailable
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


@MODES
async def test_updates_that_were_not_stored_are_fetched_again_in_order(mode: str) -> None:
    async with connected(mode, EventRecorder(unavailable(2))) as bench:
        ann, bob = bench.sim.person("Ann"), bench.sim.person("Bob")
        for number in range(5):
            await bench.sim.say(ann, bench.sim.direct(ann), f"ann {number}")
            await bench.sim.say(bob, bench.sim.direct(bob), f"bob {number}")
        events = await bench.sink.wait(10)
        texts = [one.message.content for one in events if isinstance(one, MessageReceived)]
        for name in ("ann", "bob"):
            mine = [one for one in texts if one.startswith(name)]
            assert mine == [f"{name} {number}" for number in range(5)]


async def test_no_update_is_confirmed_before_it_is_stored() -> None:
    sink = EventRecorder(unavailable(10_000))
    async with connected("polling", sink) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "keep me")
        await eventually(lambda: len(sink.failures) < 9_998)
        assert len(bench.sim.queue.waiting) == 1
        await bench.adapter.disconnect()
        assert len(bench.sim.queue.waiting) == 1
        sink.failures.clear()
        await bench.adapter.connect(sink)
        await sink.wait()
        await eventually(lambda: not bench.sim.queue.waiting)


async def test_an_exception_for_one_update_does_not_stop_the_others() -> None:
    sink = EventRecorder([RuntimeError("a bug") for _ in range(5)])
    async with connected("polling", sink) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "poison")
        await bench.sim.say(ann, bench.sim.direct(ann), "fine")
        (event,) = await sink.wait()
        assert isinstance(event, MessageReceived)
        assert event.message.content == "fine"


@MODES
async def test_polling_and_webhook_survive_interrupted_connections(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "before")
        await bench.sink.wait(1)
        await bench.sim.drop_connections()
        bench.sim.faults.add(Fault("getUpdates", "server_error"))
        bench.sim.faults.add(Fault("getUpdates", "rate_limit", retry_after=0.1))
        await bench.sim.say(ann, bench.sim.direct(ann), "after")
        await bench.sink.wait(2)


async def test_the_webhook_requires_the_secret() -> None:
    async with connected("webhook") as bench:
        ann = bench.sim.person("Ann")
        assert bench.sim.webhook.settings is not None
        right = bench.sim.webhook.settings
        bench.sim.webhook.settings = replace(right, secret="wrong")
        await bench.sim.say(ann, bench.sim.direct(ann), "let me in")
        await eventually(lambda: "401" in bench.sim.webhook.last_error)
        assert bench.sink.events == []
        bench.sim.webhook.settings = right
        await bench.sink.wait(1)


async def test_a_failing_store_is_answered_with_503() -> None:
    async with connected("webhook", EventRecorder(unavailable(1))) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "again please")
        await bench.sink.wait(1)
        assert "503" in bench.sim.webhook.last_error


async def test_a_wrong_token_is_reported_with_advice() -> None:
    sim = TelegramSimulator()
    await sim.start()
    try:
        token = "7000000001:another-token"
        adapter = adapter_for(sim, Listener(), Counter[str](), MemoryState(), bot_token=token)
        with pytest.raises(StartError, match="BotFather") as caught:
            await adapter.connect(EventRecorder())
        assert caught.value.permanent
        assert token not in str(caught.value)
        assert caught.value.__cause__ is None
        checks = await adapter.diagnose()
        assert [one.ok for one in checks] == [False]
    finally:
        await sim.stop()


async def test_an_unreachable_server_is_temporary() -> None:
    sim = TelegramSimulator()
    await sim.start()
    adapter = adapter_for(sim, Listener(), Counter[str](), MemoryState())
    await sim.stop()
    with pytest.raises(StartError, match="cannot be reached") as caught:
        await adapter.connect(EventRecorder())
    assert not caught.value.permanent


async def test_a_second_receiver_ends_the_first_with_advice() -> None:
    async with connected("polling") as bench:
        bench.sim.faults.clear()
        other = adapter_for(bench.sim, Listener(), Counter[str](), MemoryState())
        closed = asyncio.create_task(bench.adapter.wait_closed())
        await other.connect(EventRecorder())
        closed_other = asyncio.create_task(other.wait_closed())
        done, _ = await asyncio.wait(
            (closed, closed_other), timeout=PATIENCE, return_when="FIRST_COMPLETED"
        )
        assert done
        with pytest.raises(StartError, match="Another program"):
            done.pop().result()
        await other.disconnect()
        await bench.adapter.disconnect()
        await asyncio.gather(closed, closed_other, return_exceptions=True)


async def test_two_accounts_at_the_same_time_are_separate() -> None:
    listener, counts = Listener(), Counter[str]()
    sims = [
        TelegramSimulator("webhook", username="first_bot", token="1:aaaa"),
        TelegramSimulator("webhook", username="second_bot", token="2:bbbb"),
    ]
    sinks = [EventRecorder(), EventRecorder()]
    adapters = []
    async with listener.running():
        for sim, sink, account in zip(sims, sinks, ("main", "support"), strict=True):
            await sim.start()
            path = "/webhook/telegram" + ("" if account == "main" else f"/{account}")
            url = f"https://parley.example{path}"
            adapter = adapter_for(sim, listener, counts, MemoryState(), account, webhook_url=url)
            await adapter.connect(sink)
            sim.attach(listener.url)
            adapters.append(adapter)
        assert sorted(listener.handlers) == ["/webhook/telegram", "/webhook/telegram/support"]
        for sim in sims:
            ann = sim.person("Ann")
            await sim.say(ann, sim.direct(ann), f"to {sim.world.username}")
        for sim, sink, account in zip(sims, sinks, ("main", "support"), strict=True):
            (event,) = await sink.wait()
            assert isinstance(event, MessageReceived)
            assert event.message.content == f"to {sim.world.username}"
            assert event.message.place.account == account
        for adapter in adapters:
            await adapter.disconnect()
        assert listener.handlers == {}
        for sim in sims:
            await sim.stop()


@MODES
async def test_doctor_reports_problems(mode: str) -> None:
    async with connected(mode) as bench:
        checks = {one.name: one for one in await bench.adapter.diagnose()}
        assert str(checks["bot token"].detail) == "this is @parley_sim_bot"
        assert "setprivacy" in str(checks["privacy mode"].advice)
        assert all(one.ok for one in checks.values())
        await bench.adapter.disconnect()
        other = "polling" if mode == "webhook" else "webhook"
        changed = adapter_for(
            bench.sim,
            Listener(),
            Counter[str](),
            MemoryState(),
            mode=other,
            webhook_url="https://x.example",
            webhook_secret="s",
        )
        checks = {one.name: one for one in await changed.diagnose()}
        assert checks["updates"].ok is (mode == "polling")


async def test_the_webhook_path_is_appended_to_an_address_without_one() -> None:
    assert public_url("https://a.example/", "/webhook/telegram") == (
        "https://a.example/webhook/telegram"
    )
    assert public_url("https://a.example/x/tg", "/webhook/telegram") == "https://a.example/x/tg"
