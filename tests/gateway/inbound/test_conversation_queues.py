"""Order within a conversation, none between conversations."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.inbound.conversation_queues import MAX_COLLECTED, ConversationQueues, Overlap
from gateway.message import MessageDeleted, MessageEdited, MessageReceived
from gateway.ports.queues import InboxEntry
from gateway.store_retry import uninterrupted
from gateway.turn.slots import Slots
from tests.support.clock import settle
from tests.support.messages import AT, direct, received


class Worker:
    """Handles batches when told to, and remembers them."""

    def __init__(self) -> None:
        self.done: list[list[str]] = []
        self.dropped: list[str] = []
        self.started: list[str] = []
        self.gate = asyncio.Semaphore(0)

    async def handle(self, entries: Sequence[InboxEntry]) -> None:
        self.started.append(entries[0].id)
        await self.gate.acquire()
        self.done.append([entry.id for entry in entries])

    async def drop(self, entries: Sequence[InboxEntry]) -> None:
        self.dropped += [entry.id for entry in entries]

    def queues(self, overlap: Overlap = "collect", concurrency: int = 8) -> ConversationQueues:
        return ConversationQueues(self.handle, self.drop, slots=Slots(concurrency), overlap=overlap)

    async def release(self, times: int = 1) -> None:
        for _ in range(times):
            self.gate.release()
            await settle()


def entry(name: str, conversation: str = "conversation", author: str = "ada") -> InboxEntry:
    return InboxEntry(name, conversation, received(message_id=name, author=author), AT)


async def test_messages_during_a_turn_are_collected_into_the_next() -> None:
    worker = Worker()
    queues = worker.queues()
    for name in ("a", "b", "c"):
        queues.submit(entry(name))
    await worker.release(2)
    assert worker.done == [["a"], ["b", "c"]]


async def test_the_age_is_that_of_the_message_that_waits_longest() -> None:
    worker = Worker()
    queues = worker.queues(concurrency=1)
    assert queues.oldest is None
    later = AT + timedelta(seconds=9)
    queues.submit(entry("a"))
    await settle()
    queues.submit(replace(entry("b", "second"), received_at=later))
    assert queues.oldest == later
    queues.submit(entry("c", "third"))
    assert queues.oldest == AT
    await worker.release(3)
    assert queues.oldest is None


async def test_a_conversation_is_worked_on_while_its_turn_runs() -> None:
    worker = Worker()
    queues = worker.queues(concurrency=1)
    for conversation in ("first", "second"):
        queues.submit(entry(conversation, conversation))
    await settle()
    seen = []
    for _ in range(3):
        seen.append([name for name in ("first", "second", "third") if queues.works_on(name)])
        await worker.release()
    assert seen == [["first"], ["second"], []]


async def test_only_messages_of_one_author_are_collected() -> None:
    worker = Worker()
    queues = worker.queues()
    for name, author in (("a", "ada"), ("b", "ada"), ("c", "ben"), ("d", "ada")):
        queues.submit(entry(name, author=author))
    await worker.release(4)
    assert worker.done == [["a"], ["b"], ["c"], ["d"]]


async def test_a_turn_collects_a_limited_number_of_messages() -> None:
    worker = Worker()
    queues = worker.queues()
    for number in range(MAX_COLLECTED + 3):
        queues.submit(entry(str(number)))
    await worker.release(3)
    assert [len(batch) for batch in worker.done] == [1, MAX_COLLECTED, 2]


async def test_overlap_queue_gives_each_message_its_own_turn() -> None:
    worker = Worker()
    queues = worker.queues("queue")
    for name in ("a", "b", "c"):
        queues.submit(entry(name))
    await worker.release(3)
    assert worker.done == [["a"], ["b"], ["c"]]


async def test_overlap_drop_refuses_messages_during_a_turn() -> None:
    worker = Worker()
    queues = worker.queues("drop")
    for name in ("a", "b"):
        queues.submit(entry(name))
    await worker.release()
    queues.submit(entry("c"))
    await worker.release()
    assert worker.done == [["a"], ["c"]]
    assert worker.dropped == ["b"]


def revision(
    event: MessageEdited | MessageDeleted, conversation: str = "conversation"
) -> InboxEntry:
    return InboxEntry(event.event_id, conversation, event, AT)


def text_of(entry: InboxEntry) -> str:
    assert isinstance(entry.event, MessageReceived)
    return entry.event.message.content


async def test_a_message_deleted_before_its_turn_is_withdrawn() -> None:
    worker, gone = Worker(), list[str]()

    async def withdraw(entries: Sequence[InboxEntry]) -> None:
        gone.extend(entry.id for entry in entries)

    queues = ConversationQueues(worker.handle, worker.drop, withdrawn=withdraw)
    for name in ("a", "b", "c"):
        queues.submit(entry(name))
    queues.submit(revision(MessageDeleted("gone", direct(), ("b",))))
    assert queues.waiting == 2, "c and the deletion"
    await worker.release(3)
    assert worker.done == [["a"], ["c"], ["gone"]]
    assert (gone, worker.dropped) == (["b"], [])


async def test_a_message_edited_before_its_turn_is_answered_in_its_new_text() -> None:
    words: list[list[str]] = []
    gate = asyncio.Semaphore(0)

    async def handle(entries: Sequence[InboxEntry]) -> None:
        await gate.acquire()
        words.append([text_of(e) for e in entries if isinstance(e.event, MessageReceived)])

    queues = ConversationQueues(handle, handle)
    queues.submit(InboxEntry("a", "conversation", received("first", message_id="a"), AT))
    await settle()
    queues.submit(InboxEntry("b", "conversation", received("secnd", message_id="b"), AT))
    for name, text in (("a", "too late"), ("b", "second")):
        changed = received(text, message_id=name).message
        queues.submit(revision(MessageEdited(f"edit-{name}", changed)))
    for _ in range(4):
        gate.release()
    await settle()
    assert words[:2] == [["first"], ["second"]]


async def test_an_edit_and_a_deletion_apply_to_messages_resumed_after_a_restart() -> None:
    """They are in the inbox in order; none has started."""
    worker = Worker()
    queues = worker.queues()
    queues.submit(entry("a"))
    queues.submit(revision(MessageDeleted("gone", direct(), ("a",))))
    await settle()
    assert worker.started == ["gone"]
    assert worker.dropped == ["a"]


async def test_a_turn_without_a_remaining_message_is_not_stopped() -> None:
    worker = Worker()
    queues = worker.queues()
    queues.submit(entry("a"))
    queues.submit(revision(MessageDeleted("gone", direct(), ("a",))))
    assert not queues.stop_running("conversation")


async def test_conversations_do_not_delay_each_other() -> None:
    worker = Worker()
    queues = worker.queues()
    queues.submit(entry("slow", conversation="one"))
    queues.submit(entry("quick", conversation="two"))
    await settle()
    assert worker.started == ["slow", "quick"]


async def test_the_number_of_concurrent_turns_is_limited() -> None:
    worker = Worker()
    queues = worker.queues(concurrency=2)
    for number in range(5):
        queues.submit(entry(str(number), conversation=f"lane-{number}"))
    await settle()
    assert worker.started == ["0", "1"]
    assert queues.running == 2
    await worker.release(5)
    assert [batch[0] for batch in worker.done] == ["0", "1", "2", "3", "4"]


async def test_a_failing_turn_does_not_stop_its_conversation() -> None:
    seen: list[str] = []

    async def handle(entries: Sequence[InboxEntry]) -> None:
        seen.append(entries[0].id)
        if entries[0].id == "bad":
            raise RuntimeError("broken")

    queues = ConversationQueues(handle, Worker().drop, overlap="queue")
    queues.submit(entry("bad"))
    queues.submit(entry("good"))
    await settle()
    assert seen == ["bad", "good"]
    assert queues.idle


async def test_a_stopped_turn_is_dropped_and_the_conversation_continues() -> None:
    worker = Worker()
    queues = worker.queues("queue")
    queues.submit(entry("a"))
    queues.submit(entry("b"))
    await settle()
    assert queues.stop_running("conversation")
    await worker.release()
    assert worker.dropped == ["a"]
    assert worker.done == [["b"]]
    assert not queues.stop_running("conversation")


async def test_the_messages_in_progress_are_known() -> None:
    worker = Worker()
    queues = worker.queues("queue")
    queues.submit(entry("running"))
    queues.submit(entry("waiting"))
    await settle()
    assert queues.holds("conversation", ("running",))
    assert queues.holds("conversation", ("waiting",))
    assert not queues.holds("conversation", ("other",))
    assert not queues.holds("elsewhere", ("running",))


async def test_a_queue_without_work_is_deleted() -> None:
    worker = Worker()
    queues = worker.queues()
    for number in range(100):
        queues.submit(entry(str(number), conversation=f"lane-{number}"))
    await worker.release(100)
    assert queues.idle
    assert queues.waiting == 0
    assert queues._queues == {}


async def test_too_many_waiting_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.inbound.conversation_queues.MAX_WAITING", 3)
    worker = Worker()
    queues = worker.queues("queue")
    for number in range(4):
        queues.check_room()
        queues.submit(entry(str(number)))
    with pytest.raises(StoreUnavailable, match="waiting already"):
        queues.check_room()


async def test_draining_accepts_nothing_and_waits_for_running_turns() -> None:
    worker = Worker()
    queues = worker.queues("queue")
    queues.submit(entry("a"))
    draining = asyncio.create_task(queues.drain(5))
    await settle()
    queues.submit(entry("late"))
    await worker.release()
    assert await draining
    assert worker.done == [["a"]]


async def test_stop_starts_no_waiting_turn() -> None:
    worker = Worker()
    queues = worker.queues(concurrency=1)
    for number in range(5):
        queues.submit(entry(str(number), conversation=f"lane-{number}"))
    await settle()
    await queues.stop()
    await settle()
    assert worker.started == ["0"]
    assert queues.idle
    assert (queues.waiting, queues.running, len(queues._tasks)) == (0, 0, 0)


async def test_draining_returns_the_messages_that_were_not_started() -> None:
    worker = Worker()
    queues = worker.queues(concurrency=1)
    queues.submit(entry("a", conversation="one"))
    queues.submit(entry("b", conversation="two"))
    draining = asyncio.create_task(queues.drain(5))
    await settle()
    await worker.release()
    assert await draining
    assert worker.started == ["a"]
    assert queues.waiting == 0


async def test_draining_has_a_time_limit() -> None:
    worker = Worker()
    queues = worker.queues()
    queues.submit(entry("a"))
    assert not await queues.drain(0.01)
    await queues.stop()


async def test_a_turn_completed_before_the_stop_took_effect_is_not_dropped() -> None:
    worker = Worker()
    reached = asyncio.Event()

    async def handle(entries: Sequence[InboxEntry]) -> None:
        reached.set()
        await uninterrupted(worker.handle(entries))

    queues = ConversationQueues(handle, worker.drop)
    queues.submit(entry("a"))
    await reached.wait()
    await settle()
    assert queues.stop_running("conversation")
    await worker.release()
    assert (worker.done, worker.dropped) == ([["a"]], [])
    assert queues.idle


async def test_a_revision_cannot_be_stopped() -> None:
    worker = Worker()
    queues = worker.queues()
    gone = MessageDeleted("e1", direct(), ("m1",))
    queues.submit(InboxEntry("gone", "conversation", gone, AT))
    await settle()
    assert not queues.stop_running("conversation")
    await worker.release()
    assert (worker.done, worker.dropped) == ([["gone"]], [])


async def test_a_stopped_turn_is_dropped_also_during_draining() -> None:
    worker = Worker()
    queues = worker.queues()
    queues.submit(entry("a"))
    await settle()
    draining = asyncio.create_task(queues.drain(5))
    await settle()
    assert queues.stop_running("conversation")
    assert await draining
    assert worker.dropped == ["a"]
