"""Answers that grow: in rooms, with buttons, after a loss, and without a connection."""

import asyncio

import pytest

from gateway.errors import DeliveryError, Permanent
from gateway.message import Part, Place
from gateway.ports import CanDelete, CanShowLive, LiveView
from parley.testing.case import PATIENCE
from parley.testing.stage import Stage, buttons

proves = pytest.mark.proves
pytestmark = proves("live")


def view(place: Place, text: str, added: str, handle: str = "") -> LiveView:
    """Return the visible part of an answer."""
    return LiveView("live:1", place, Part(text, text), added, handle)


@proves("rooms")
async def test_a_live_answer_in_a_room_is_one_message_for_everybody(stage: Stage) -> None:
    room = stage.platform.room("general")
    place = (await stage.hear("tell me", room, mention=True)).place
    assert isinstance(stage.adapter, CanShowLive)
    handle = await stage.adapter.show_live(view(place, "one", "one"))
    assert await stage.adapter.show_live(view(place, "one two", " two", handle)) == handle
    (seen,) = await stage.shown(
        room, lambda messages: [one.text for one in messages] == ["one two"]
    )
    final = stage.outbound("one two three", place, replaces=handle)
    receipts = [await stage.adapter.end_live(final) for _ in range(2)]
    (last,) = await stage.shown(
        room, lambda messages: [one.text for one in messages] == ["one two three"]
    )
    assert {receipt.message_id for receipt in receipts} == {last.id} == {seen.id}


async def test_a_process_without_the_connection_has_the_same_style(stage: Stage) -> None:
    place = (await stage.hear()).place
    assert isinstance(stage.adapter, CanShowLive)
    elsewhere = stage.case.manifest.live
    assert elsewhere is not None
    assert elsewhere(place) == stage.adapter.live_style(place)


@proves("max_buttons")
async def test_a_live_answer_can_have_buttons(stage: Stage) -> None:
    place = (await stage.hear()).place
    assert isinstance(stage.adapter, CanShowLive)
    receipt = await stage.send("one", place)
    final = stage.outbound("one two", place, replaces=receipt.message_id, buttons=buttons(2))
    await stage.adapter.end_live(final)
    (seen,) = await stage.shown(
        stage.room, lambda messages: [one.text for one in messages] == ["one two"]
    )
    assert [button.label for button in seen.buttons] == ["Choice 1", "Choice 2"]


@proves("deletes")
async def test_a_live_answer_whose_message_is_deleted_is_permanent(stage: Stage) -> None:
    place = (await stage.hear()).place
    receipt = await stage.send("one", place)
    await stage.shown(stage.room, bool)
    assert isinstance(stage.adapter, CanDelete)
    await stage.adapter.delete(place, receipt.message_id)
    assert isinstance(stage.adapter, CanShowLive)
    with pytest.raises(Permanent):
        await stage.adapter.end_live(stage.outbound("one", place, replaces=receipt.message_id))


async def test_without_a_connection_a_live_answer_fails_immediately(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.adapter.disconnect()
    assert isinstance(stage.adapter, CanShowLive)
    final = stage.outbound("one", place, replaces="1")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(DeliveryError):
            await stage.adapter.show_live(view(place, "one", "one"))
        with pytest.raises(DeliveryError):
            await stage.adapter.end_live(final)
