"""Order within a conversation, none between conversations."""

import asyncio
from collections.abc import Sequence

import pytest

from db.errors import StoreUnavailable
from gateway.inbound.conversation_queues import MAX_COLLECTED, ConversationQueues, Overlap
from gateway.message import MessageDeleted, MessageEdited, MessageReceived
from gateway.ports.inbox import InboxEntry
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

    def lanes(self, overlap: Overlap = "collect", concurrency: int = 8) -> ConversationQueues:
        return ConversationQueues(self.handle, self.drop, slots=Slots(concurrency), overlap=overlap)

    async def release(self, times: int = 1) -> None:
        for _ in range(times):
            self.gate.release()
            await settle()


def entry(name: str, lane: str = "lane", author: str = "ada") -> InboxEntry:
    return InboxEntry(name, lane, received(message_id=name, author=author), AT)


async def test_what_arrives_during_a_turn_is_collected_into_the_next() -> None:
    worker = Worker()
    lanes = worker.lanes()
    for name in ("a", "b", "c"):
        lanes.submit(entry(name))
    await worker.release(2)
    assert worker.done == [["a"], ["b", "c"]]


async def test_only_messages_of_one_author_are_collected() -> None:
    worker = Worker()
    lanes = worker.lanes()
    for name, author in (("a", "ada"), ("b", "ada"), ("c", "ben"), ("d", "ada")):
        lanes.submit(entry(name, author=author))
    await worker.release(4)
    assert worker.done == [["a"], ["b"], ["c"], ["d"]]


async def test_a_turn_collects_a_bounded_number() -> None:
    worker = Worker()
    lanes = worker.lanes()
    for number in range(MAX_COLLECTED + 3):
        lanes.submit(entry(str(number)))
    await worker.release(3)
    assert [len(batch) for batch in worker.done] == [1, MAX_COLLECTED, 2]


async def test_queue_gives_each_message_its_own_turn() -> None:
    worker = Worker()
    lanes = worker.lanes("queue")
    for name in ("a", "b", "c"):
        lanes.submit(entry(name))
    await worker.release(3)
    assert worker.done == [["a"], ["b"], ["c"]]


async def test_drop_turns_away_what_arrives_during_a_turn() -> None:
    worker = Worker()
    lanes = worker.lanes("drop")
    for name in ("a", "b"):
        lanes.submit(entry(name))
    await worker.release()
    lanes.submit(entry("c"))
    await worker.release()
    assert worker.done == [["a"], ["c"]]
    assert worker.dropped == ["b"]


def revision(event: MessageEdited | MessageDeleted, lane: str = "lane") -> InboxEntry:
    return InboxEntry(event.event_id, lane, event, AT)


def text_of(entry: InboxEntry) -> str:
    assert isinstance(entry.event, MessageReceived)
    return entry.event.message.content


async def test_what_is_deleted_before_its_turn_is_withdrawn() -> None:
    worker, gone = Worker(), list[str]()

    async def withdraw(entries: Sequence[InboxEntry]) -> None:
        gone.extend(entry.id for entry in entries)

    lanes = ConversationQueues(worker.handle, worker.drop, withdrawn=withdraw)
    for name in ("a", "b", "c"):
        lanes.submit(entry(name))
    lanes.submit(revision(MessageDeleted("gone", direct(), ("b",))))
    assert lanes.waiting == 2, "c and the deletion"
    await worker.release(3)
    assert worker.done == [["a"], ["c"], ["gone"]]
    assert (gone, worker.dropped) == (["b"], [])


async def test_what_is_edited_before_its_turn_is_handled_in_its_new_wording() -> None:
    words: list[list[str]] = []
    gate = asyncio.Semaphore(0)

    async def handle(entries: Sequence[InboxEntry]) -> None:
        await gate.acquire()
        words.append([text_of(e) for e in entries if isinstance(e.event, MessageReceived)])

    lanes = ConversationQueues(handle, handle)
    lanes.submit(InboxEntry("a", "lane", received("first", message_id="a"), AT))
    await settle()
    lanes.submit(InboxEntry("b", "lane", received("secnd", message_id="b"), AT))
    for name, text in (("a", "too late"), ("b", "second")):
        changed = received(text, message_id=name).message
        lanes.submit(revision(MessageEdited(f"edit-{name}", changed)))
    for _ in range(4):
        gate.release()
    await settle()
    assert words[:2] == [["first"], ["second"]]


async def test_an_edit_and_a_deletion_reach_what_a_restart_takes_up_with_them() -> None:
    """They stand in the inbox one after the other; none of it has begun."""
    worker = Worker()
    lanes = worker.lanes()
    lanes.submit(entry("a"))
    lanes.submit(revision(MessageDeleted("gone", direct(), ("a",))))
    await settle()
    assert worker.started == ["gone"]
    assert worker.dropped == ["a"]


async def test_a_turn_without_a_message_left_is_not_stopped() -> None:
    worker = Worker()
    lanes = worker.lanes()
    lanes.submit(entry("a"))
    lanes.submit(revision(MessageDeleted("gone", direct(), ("a",))))
    assert not lanes.stop_running("lane")


async def test_conversations_do_not_wait_for_each_other() -> None:
    worker = Worker()
    lanes = worker.lanes()
    lanes.submit(entry("slow", lane="one"))
    lanes.submit(entry("quick", lane="two"))
    await settle()
    assert worker.started == ["slow", "quick"]


async def test_no_more_run_at_once_than_allowed() -> None:
    worker = Worker()
    lanes = worker.lanes(concurrency=2)
    for number in range(5):
        lanes.submit(entry(str(number), lane=f"lane-{number}"))
    await settle()
    assert worker.started == ["0", "1"]
    assert lanes.running == 2
    await worker.release(5)
    assert [batch[0] for batch in worker.done] == ["0", "1", "2", "3", "4"]


async def test_a_failing_turn_does_not_stop_its_lane() -> None:
    seen: list[str] = []

    async def handle(entries: Sequence[InboxEntry]) -> None:
        seen.append(entries[0].id)
        if entries[0].id == "bad":
            raise RuntimeError("broken")

    lanes = ConversationQueues(handle, Worker().drop, overlap="queue")
    lanes.submit(entry("bad"))
    lanes.submit(entry("good"))
    await settle()
    assert seen == ["bad", "good"]
    assert lanes.idle


async def test_a_stopped_turn_is_dropped_and_the_lane_goes_on() -> None:
    worker = Worker()
    lanes = worker.lanes("queue")
    lanes.submit(entry("a"))
    lanes.submit(entry("b"))
    await settle()
    assert lanes.stop_running("lane")
    await worker.release()
    assert worker.dropped == ["a"]
    assert worker.done == [["b"]]
    assert not lanes.stop_running("lane")


async def test_it_knows_which_messages_are_on_their_way() -> None:
    worker = Worker()
    lanes = worker.lanes("queue")
    lanes.submit(entry("running"))
    lanes.submit(entry("waiting"))
    await settle()
    assert lanes.holds("lane", ("running",))
    assert lanes.holds("lane", ("waiting",))
    assert not lanes.holds("lane", ("other",))
    assert not lanes.holds("elsewhere", ("running",))


async def test_a_lane_without_work_is_forgotten() -> None:
    worker = Worker()
    lanes = worker.lanes()
    for number in range(100):
        lanes.submit(entry(str(number), lane=f"lane-{number}"))
    await worker.release(100)
    assert lanes.idle
    assert lanes.waiting == 0
    assert lanes._queues == {}


async def test_too_much_waiting_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.inbound.conversation_queues.MAX_WAITING", 3)
    worker = Worker()
    lanes = worker.lanes("queue")
    for number in range(4):
        lanes.check_room()
        lanes.submit(entry(str(number)))
    with pytest.raises(StoreUnavailable, match="waiting already"):
        lanes.check_room()


async def test_draining_takes_nothing_new_and_waits_for_what_runs() -> None:
    worker = Worker()
    lanes = worker.lanes("queue")
    lanes.submit(entry("a"))
    draining = asyncio.create_task(lanes.drain(5))
    await settle()
    lanes.submit(entry("late"))
    await worker.release()
    assert await draining
    assert worker.done == [["a"]]


async def test_stopping_begins_nothing_that_was_still_waiting() -> None:
    worker = Worker()
    lanes = worker.lanes(concurrency=1)
    for number in range(5):
        lanes.submit(entry(str(number), lane=f"lane-{number}"))
    await settle()
    await lanes.stop()
    await settle()
    assert worker.started == ["0"]
    assert lanes.idle
    assert (lanes.waiting, lanes.running, len(lanes._tasks)) == (0, 0, 0)


async def test_draining_hands_back_what_has_not_begun() -> None:
    worker = Worker()
    lanes = worker.lanes(concurrency=1)
    lanes.submit(entry("a", lane="one"))
    lanes.submit(entry("b", lane="two"))
    draining = asyncio.create_task(lanes.drain(5))
    await settle()
    await worker.release()
    assert await draining
    assert worker.started == ["a"]
    assert lanes.waiting == 0


async def test_draining_gives_up_after_its_time() -> None:
    worker = Worker()
    lanes = worker.lanes()
    lanes.submit(entry("a"))
    assert not await lanes.drain(0.01)
    await lanes.stop()


async def test_a_turn_that_was_done_before_the_stop_took_effect_is_not_dropped() -> None:
    worker = Worker()
    reached = asyncio.Event()

    async def handle(entries: Sequence[InboxEntry]) -> None:
        reached.set()
        await uninterrupted(worker.handle(entries))

    lanes = ConversationQueues(handle, worker.drop)
    lanes.submit(entry("a"))
    await reached.wait()
    await settle()
    assert lanes.stop_running("lane")
    await worker.release()
    assert (worker.done, worker.dropped) == ([["a"]], [])
    assert lanes.idle


async def test_a_revision_is_never_broken_off() -> None:
    worker = Worker()
    lanes = worker.lanes()
    gone = MessageDeleted("e1", direct(), ("m1",))
    lanes.submit(InboxEntry("gone", "lane", gone, AT))
    await settle()
    assert not lanes.stop_running("lane")
    await worker.release()
    assert (worker.done, worker.dropped) == ([["gone"]], [])


async def test_what_was_stopped_is_dropped_also_while_draining() -> None:
    worker = Worker()
    lanes = worker.lanes()
    lanes.submit(entry("a"))
    await settle()
    draining = asyncio.create_task(lanes.drain(5))
    await settle()
    assert lanes.stop_running("lane")
    assert await draining
    assert worker.dropped == ["a"]
