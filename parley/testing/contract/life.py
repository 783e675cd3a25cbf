"""Connecting and disconnecting, in any order and as often as anybody likes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable

import pytest

from gateway.errors import DeliveryError, StartError
from gateway.message import Attachment, Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import (
    CanCheckLiveness,
    CanDelete,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanReconnect,
    CanType,
    PlatformAdapter,
)
from parley.http.webhook_listener import WebhookListener
from parley.testing.case import PATIENCE, AdapterCase, HostedPlatform
from parley.testing.marks import where
from parley.testing.stage import EventRecorder, Stage, make_adapter, on_stage


def place_on(case: AdapterCase) -> Place:
    """Some direct conversation."""
    return Place(case.manifest.platform, "main", "5000001", Audience.DIRECT)


async def everything_it_can(adapter: PlatformAdapter, place: Place) -> list[BaseException | None]:
    """Return the exception of each ability."""
    part = Part("hi", "hi")
    tries: list[Awaitable[object]] = [adapter.send(Outbound("k:0", place, part))]
    if isinstance(adapter, CanDelete):
        tries.append(adapter.delete(place, "1"))
    if isinstance(adapter, CanType):
        tries.append(adapter.typing(place, "1"))
    if isinstance(adapter, CanMarkRead):
        tries.append(adapter.mark_read(place, "1"))
    if isinstance(adapter, CanReact):
        tries.append(adapter.react(place, "1", "👍"))
        tries.append(adapter.unreact(place, "1", "👍"))
    if isinstance(adapter, CanFetchFiles):
        tries.append(adapter.fetch(Attachment("other", "1"), 10))
    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*tries, return_exceptions=True)
    return [result if isinstance(result, BaseException) else None for result in results]


async def test_everything_is_refused_before_connect(case: AdapterCase) -> None:
    platform, listener = case.platform("main"), WebhookListener()
    await platform.start()
    adapter = make_adapter(case, platform, listener, Counter())
    try:
        outcomes = await everything_it_can(adapter, place_on(case))
        assert all(isinstance(one, DeliveryError) for one in outcomes), outcomes
        assert list(platform.calls) == [], "no request without a connection"
        await adapter.disconnect()
        await adapter.disconnect()
    finally:
        await platform.stop()


async def test_everything_is_refused_after_disconnect(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.adapter.disconnect()
    await stage.adapter.disconnect()
    before = len(stage.platform.calls)
    outcomes = await everything_it_can(stage.adapter, place)
    assert all(isinstance(one, DeliveryError) for one in outcomes), outcomes
    assert len(stage.platform.calls) == before


async def test_connect_twice_leaves_one_connection(stage: Stage) -> None:
    await stage.adapter.connect(stage.sink)
    await again(stage)
    await stage.hear("once")
    await stage.hear("and then")
    assert [message.content for message in stage.sink.messages()] == ["once", "and then"]
    assert len({event.event_id for event in stage.sink.events}) == len(stage.sink.events)


async def test_an_adapter_connects_again_after_disconnect(stage: Stage) -> None:
    for number in range(2):
        await stage.adapter.disconnect()
        await stage.adapter.connect(stage.sink)
        await again(stage)
        message = await stage.hear(f"number {number}")
        await stage.send("answer", message.place)
        await stage.shown(stage.room, bool)


async def again(stage: Stage) -> None:
    """Wait for the new connection; where the adapter is the server, people come back."""
    if isinstance(stage.platform, HostedPlatform):
        await stage.platform.stop()
        await stage.platform.host(stage.adapter)
    await stage.platform.wait_connected()


async def test_wait_closed_returns_after_disconnect(stage: Stage) -> None:
    waiting = asyncio.create_task(stage.adapter.wait_closed())
    await asyncio.sleep(0)
    assert not waiting.done()
    await stage.adapter.disconnect()
    async with asyncio.timeout(PATIENCE):
        await waiting


@where(
    lambda case: case.can_become_unresponsive, "it holds no connection that can become unresponsive"
)
async def test_a_connection_reports_its_liveness_and_can_be_revived(stage: Stage) -> None:
    adapter = stage.adapter
    assert isinstance(adapter, CanCheckLiveness)
    await stage.hear("before")
    assert adapter.alive().ok, adapter.alive().detail
    if isinstance(adapter, CanReconnect):
        await adapter.reconnect()
        await stage.platform.say(stage.person, stage.room, "meanwhile")
        await stage.sink.message("meanwhile")
    await stage.hear("after")
    await adapter.disconnect()
    assert not adapter.alive().ok
    assert adapter.alive().detail


@where(lambda case: "send" in case.methods, "its case names no request for sending")
async def test_an_unreachable_platform_is_a_start_error(case: AdapterCase) -> None:
    platform, listener = case.platform("main"), WebhookListener()
    await platform.start()
    adapter = make_adapter(case, platform, listener, Counter())
    await platform.stop()
    with pytest.raises(StartError) as raised:
        async with asyncio.timeout(PATIENCE):
            await adapter.connect(EventRecorder())
    assert not raised.value.permanent, "it may come back"
    await adapter.disconnect()


@where(lambda case: case.accounts, "it has one account only")
async def test_two_accounts_at_the_same_time_are_separate(case: AdapterCase) -> None:
    listener = WebhookListener()
    await listener.start()
    try:
        async with (
            on_stage(case, "one", listener) as one,
            on_stage(case, "second", listener) as two,
        ):
            for stage, name in ((one, "one"), (two, "second")):
                message = await stage.hear(f"to {name}")
                assert (message.place.account, message.person.account) == (name, name)
                await stage.send(f"from {name}", message.place, key="the same key:0")
            for stage, name in ((one, "one"), (two, "second")):
                assert [m.content for m in stage.sink.messages()] == [f"to {name}"]
                seen = await stage.shown(stage.room, bool)
                assert [message.text for message in seen] == [f"from {name}"]
            await one.adapter.disconnect()
            await two.hear("still here")
    finally:
        await listener.stop()
