"""A send happens once, and what goes wrong has a type that says what to do."""

import asyncio
from typing import Final

import pytest

from gateway.errors import Ambiguous, FormatRejected, Permanent, Transient
from gateway.immutable import replace
from gateway.message import Part
from parley.testing.case import PATIENCE
from parley.testing.marks import where
from parley.testing.stage import Stage, by_bot
from simulators.base import Fault, FaultKind

served: Final = where(lambda case: "send" in case.methods, "its case names no request for sending")


async def broken(stage: Stage, kind: FaultKind, **more: float) -> int:
    """Let the next send fail; returns how many sends there were before."""
    stage.platform.faults.add(Fault(stage.case.methods["send"], kind, **more))  # type: ignore[arg-type]  # numbers only
    return len(stage.requests("send"))


@served
async def test_a_rate_limit_is_transient_with_the_wait_that_the_platform_states(
    stage: Stage,
) -> None:
    place = (await stage.hear()).place
    before = await broken(stage, "rate_limit", retry_after=7.0)
    with pytest.raises(Transient) as raised:
        await stage.send("hello", place)
    assert raised.value.retry_after == 7.0
    assert len(stage.requests("send")) == before + 1, "the core decides when to try again"
    assert by_bot(stage.platform.shown(stage.room)) == []
    await stage.send("hello", place)
    assert len(by_bot(stage.platform.shown(stage.room))) == 1


@served
async def test_a_server_error_is_not_retried_by_the_adapter(stage: Stage) -> None:
    place = (await stage.hear()).place
    before = await broken(stage, "server_error")
    with pytest.raises((Transient, Ambiguous)):
        await stage.send("hello", place)
    assert len(stage.requests("send")) == before + 1
    assert by_bot(stage.platform.shown(stage.room)) == []


@served
async def test_a_connection_cut_before_the_send_delivers_nothing(stage: Stage) -> None:
    place = (await stage.hear()).place
    before = await broken(stage, "drop_before")
    with pytest.raises((Transient, Ambiguous)):
        await stage.send("hello", place)
    assert len(stage.requests("send")) <= before + 1
    assert by_bot(stage.platform.shown(stage.room)) == []
    await stage.send("hello", place)
    assert len(by_bot(stage.platform.shown(stage.room))) == 1


@served
@pytest.mark.parametrize("kind", ["drop_after", "drop_within"])
async def test_a_connection_cut_before_or_in_the_response_is_ambiguous(
    stage: Stage, kind: FaultKind
) -> None:
    place = (await stage.hear()).place
    before = await broken(stage, kind)
    outbound = stage.outbound("hello", place)
    with pytest.raises(Ambiguous):
        await stage.adapter.send(outbound)
    assert len(stage.requests("send")) == before + 1
    assert len(by_bot(stage.platform.shown(stage.room))) == 1
    await stage.adapter.send(outbound)
    repeated = not stage.adapter.capabilities.idempotent_sends
    assert len(by_bot(stage.platform.shown(stage.room))) == 1 + repeated


@served
async def test_an_unreachable_platform_is_transient(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.platform.stop()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises((Transient, Ambiguous)):
            await stage.send("through a connection that was open", place)
        with pytest.raises(Transient):
            await stage.send("through a new one", place)


@where(lambda case: case.broken is not None, "its case names no refused markup")
async def test_refused_markup_can_be_sent_again_as_plain_text(stage: Stage) -> None:
    place = (await stage.hear()).place
    assert stage.case.broken is not None
    part = Part(stage.case.broken, "a < b & <b>c")
    outbound = stage.outbound("", place, part=part)
    with pytest.raises(FormatRejected):
        await stage.adapter.send(outbound)
    await stage.adapter.send(replace(outbound, part=Part(part.text, part.text)))
    (seen,) = await stage.shown(stage.room, bool)
    assert seen.text == part.text


@where(lambda case: bool(case.unknown_chat), "its case names no unknown chat")
async def test_a_missing_chat_is_permanent(stage: Stage) -> None:
    place = replace((await stage.hear()).place, channel_id=stage.case.unknown_chat)
    with pytest.raises(Permanent):
        await stage.send("hello", place)


async def test_a_part_rendered_for_another_platform_is_not_sent(stage: Stage) -> None:
    """Blocks are Slack's; elsewhere they are refused, or their plain text is sent."""
    place = (await stage.hear()).place
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*hi*"}}]
    outbound = stage.outbound("", place, part=Part({"blocks": blocks, "text": "hi"}, "hi"))
    try:
        await stage.adapter.send(outbound)
    except Permanent:
        assert by_bot(stage.platform.shown(stage.room)) == []
    else:
        (seen,) = await stage.shown(stage.room, bool)
        assert seen.text.strip("*") == "hi"


async def test_an_empty_part_is_permanent(stage: Stage) -> None:
    place = (await stage.hear()).place
    with pytest.raises(Permanent):
        await stage.adapter.send(stage.outbound("", place, part=None))


async def test_a_receipt_has_an_id_and_an_aware_time(stage: Stage) -> None:
    place = (await stage.hear()).place
    one, two = await stage.send("one", place), await stage.send("two", place)
    assert one.message_id != two.message_id
    assert "" not in (one.message_id, two.message_id)
    for receipt in (one, two):
        assert receipt.timestamp is None or receipt.timestamp.tzinfo is not None


async def test_concurrent_sends_all_arrive(stage: Stage) -> None:
    place = (await stage.hear()).place
    async with asyncio.TaskGroup() as tasks:
        for number in range(20):
            tasks.create_task(stage.send(f"number {number}", place))
    seen = await stage.shown(stage.room, lambda messages: len(messages) == 20)
    assert {message.text for message in seen} == {f"number {number}" for number in range(20)}
