"""One id from a message's arrival to its answer, also when another message starts the turn."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from structlog.testing import capture_logs

from gateway.errors import Permanent
from gateway.extensions import ExtensionRegistry
from gateway.message import Outbound, Place, Receipt
from gateway.observe.correlation import add_turn_id, correlation_id
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports import ModelRequest, TextBlock
from gateway.ports.queues import InboxEntry
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received

Seen = defaultdict[str, set[object]]


def turn_id_in_log() -> str:
    """The id of the turn that a line of the log would have."""
    return str(add_turn_id(None, "info", {}).get("turn", ""))


def follow(g: Gateway) -> Seen:
    """By what was said, the ids under which model and platform were asked."""
    seen: Seen = defaultdict(set)

    def reply(request: ModelRequest) -> str:
        question = request.messages[-1].content[-1]
        assert isinstance(question, TextBlock)
        word = question.text.split()[-1]
        seen[word].add(turn_id_in_log())
        return f"answer to {word}"

    send = g.adapter.send

    async def watched(outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        seen[outbound.part.text.split()[-1]].add(turn_id_in_log())
        return await send(outbound)

    g.model.reply = reply
    g.adapter.send = watched  # type: ignore[method-assign]  # looked through
    return seen


def id_of(message_id: str) -> str:
    return correlation_id(f"test:main:message:e-{message_id}")


async def test_concurrent_and_successive_messages_keep_their_ids() -> None:
    async with gateway(overlap="queue") as g:
        seen = follow(g)
        g.model.open.clear()
        names = [f"{chat}{number}" for number in range(4) for chat in ("a", "b", "c")]
        for name in names:
            await g.intake(received(name, message_id=name, author=name[0], at=direct(name[0])))
        await g.rest()
        g.model.open.set()
        await g.rest()
    assert seen == {name: {id_of(name)} for name in names}
    assert {trace.id for trace in g.traces} == {id_of(name) for name in names}


async def test_collected_messages_continue_under_the_id_of_the_last_one() -> None:
    async with gateway() as g:
        seen = follow(g)
        g.model.open.clear()
        for name in ("one", "two", "three"):
            await g.take(received(name, message_id=name, at=direct()))
        g.model.open.set()
        await g.rest()
    assert seen["one"] == {id_of("one")}
    assert seen["three"] == {id_of("three")}
    collected = next(trace for trace in g.traces if trace.id == id_of("two"))
    assert collected.outcome == "collected"
    assert collected.decisions[-1].detail == id_of("three")


async def test_each_send_of_a_chat_is_logged_under_its_own_answer() -> None:
    """One task serves a chat for as long as it has work; it was started by the first answer."""
    async with gateway(overlap="queue") as g:
        held = asyncio.Event()
        send = g.adapter.send

        async def slow(outbound: Outbound) -> Receipt:
            await held.wait()
            return await send(outbound)

        g.adapter.send = slow  # type: ignore[method-assign]  # slowed down
        g.adapter.failures.extend([None, Permanent("blocked"), None, None])
        for name in ("first", "second"):
            await g.take(received(name, message_id=name, at=direct()))
        processors = [add_turn_id]
        with capture_logs(processors=processors) as logs:
            held.set()
            await g.rest()
    dead = [line for line in logs if line["event"] == "dead_letter"]
    assert [line["turn"] for line in dead] == [id_of("second")]


async def test_a_failing_queue_logs_its_message() -> None:
    """The end of the first turn starts the second one."""
    async with gateway(overlap="queue") as g:
        first_done = asyncio.Event()

        async def handle(entries: Sequence[InboxEntry]) -> None:
            if entries[0].id.endswith("first"):
                await first_done.wait()
            else:
                raise ArithmeticError

        g.dispatcher.queues._handle = handle
        processors = [add_turn_id]
        with capture_logs(processors=processors) as logs:
            for name in ("first", "second"):
                await g.take(received("hello", message_id=name, at=direct()))
            first_done.set()
            await g.rest()
    failed = [line for line in logs if line["event"] == "turn_failed"]
    assert [line["turn"] for line in failed] == [id_of("second")]


async def test_each_collected_message_is_admitted_under_its_own_id() -> None:
    seen: list[object] = []

    class Gate:
        async def check_access(self, person: PersonId, place: Place) -> Decision:
            seen.append(turn_id_in_log())
            return Decision("access", True, "fine")

    async with gateway(extensions=ExtensionRegistry(access_controller=Gate())) as g:
        g.model.open.clear()
        for name in ("one", "two", "three"):
            await g.take(received(name, message_id=name, at=direct()))
        g.model.open.set()
        await g.rest()
    assert seen == [id_of("one"), id_of("two"), id_of("three")]
