"""A send happens once, what goes wrong has a type that says what to do, and the platform accepts
rendered parts unchanged and complete, with their buttons."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from gateway.errors import Ambiguous, FormatRejected, Permanent, Transient
from gateway.immutable import replace
from gateway.llm.offline_samples import SAMPLES, everything, long_text
from gateway.message import Button, Part
from gateway.platforms import renderer_of
from gateway.render import render, render_with, with_commands
from parley.testing.case import PATIENCE
from parley.testing.marks import lacks, proves, where
from parley.testing.stage import Stage, by_bot
from simulators.base import Fault, FaultKind, Shown

served: Final = where(lambda case: "send" in case.methods, "its case names no request for sending")
NASTY: Final = """\
<b>no bold</b> &amp; a < b > c && "quotes" <@U123> <!here> @everyone [not a link]( `tick

````
```
a fence in a fence & <tags>
```
````

> quoted **bold *both* bold** ~~gone~~ ||secret||

\\*escaped\\* _under_score_ snake_case_name 2 * 3 ünïcödé 🎉👩‍👩‍👧

| a \\| b | `c` |
|---|---|
| **x** | <y> |
"""
TEXTS: Final = {
    **{name: "\n\n".join(sample) for name, sample in SAMPLES.items()},
    "everything": everything(),
    "long": long_text(),
    "nasty": NASTY,
}
BUTTONS: Final = (Button("Delete", "confirm:x:yes"), Button("Keep", "confirm:x:no"))


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


@pytest.mark.parametrize("markdown", TEXTS.values(), ids=list(TEXTS))
async def test_the_platform_accepts_every_part_unchanged_and_no_word_is_lost(
    stage: Stage, markdown: str
) -> None:
    place = (await stage.hear()).place
    parts = render_with(renderer_of(stage.case.manifest), markdown)
    for number, part in enumerate(parts):
        await stage.adapter.send(stage.outbound("", place, part=part, key=f"long:{number}"))
    seen = await said_in_full(stage, parts)
    expected = words(" ".join(part.text for part in render(markdown, "plain")))
    assert expected <= words(" ".join(message.text for message in seen))


async def said_in_full(stage: Stage, parts: Sequence[Part]) -> list[Shown]:
    """Return the messages once every part has arrived; on other platforms a part is one message."""
    if not stage.case.whole_parts:
        ends = str(parts[-1].payload).split()[-1]
        return await stage.shown(
            stage.room, lambda messages: bool(messages) and messages[-1].text.endswith(ends)
        )
    seen = await stage.shown(stage.room, lambda messages: len(messages) == len(parts))
    for part, message in zip(parts, seen, strict=True):
        assert contains(message.payload, part.payload), "the platform got something else"
    return seen


async def test_the_last_part_of_an_answer_has_its_buttons(stage: Stage) -> None:
    place = (await stage.hear()).place
    parts = render_with(renderer_of(stage.case.manifest), "Forget **everything**?")
    outbound = stage.outbound("", place, part=parts[-1], buttons=BUTTONS)
    await stage.adapter.send(outbound)
    (seen,) = await stage.shown(stage.room, bool)
    offered = stage.adapter.capabilities.max_buttons >= len(BUTTONS)
    assert [one.label for one in seen.buttons] == (["Delete", "Keep"] if offered else [])
    assert words(seen.text) >= {"Forget", "everything"}


def words(text: str) -> set[str]:
    """The words of a text; addresses may be shown as links, numbers of a list by the platform."""
    every = re.findall(r"\w+", re.sub(r"https?://\S+", " ", text))
    return {word for word in every if not word.isdigit()}


def contains(sent: object, expected: object) -> bool:
    """True when `expected` is a part of the body of a request, unchanged."""
    if isinstance(expected, Mapping):
        return isinstance(sent, Mapping) and all(sent.get(k) == v for k, v in expected.items())
    if isinstance(sent, Mapping):
        return any(contains(value, expected) for value in sent.values())
    return sent == expected


@proves("tappable_commands")
async def test_a_command_that_people_can_tap_is_no_code(stage: Stage) -> None:
    shown = await shown_command(stage)
    assert shown.text == "Write /help"
    assert "<code" not in shown.html


@lacks("tappable_commands")
async def test_a_command_in_code_keeps_its_name(stage: Stage) -> None:
    assert "/help" in (await shown_command(stage)).text


async def shown_command(stage: Stage) -> Shown:
    """Send a sentence with a command as the gateway does; return what people see."""
    manifest = stage.case.manifest
    markdown = with_commands("Write `/help`", manifest.capabilities)
    (part,) = render_with(renderer_of(manifest), markdown)
    place = (await stage.hear()).place
    await stage.adapter.send(stage.outbound("", place, part=part))
    return (await stage.shown(stage.room, bool))[0]
