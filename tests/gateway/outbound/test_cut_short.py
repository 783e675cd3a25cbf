"""Recovery after a run that ended during a send."""

import asyncio

import pytest

from gateway.errors import Ambiguous, DeliveryError, Permanent, Transient
from gateway.immutable import replace
from gateway.message import Outbound, Place, Receipt
from gateway.outbound.deliverer import QUARANTINED, Deliverer
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import REPEAT_NOTE, AccountSender, DeliveryRules
from gateway.ports import Capabilities, LiveStyle, LiveView, SendPace
from gateway.ports.work_guard import WorkItem
from gateway.stores.sqlite.queues import SqliteInbox
from tests.gateway.outbound.conftest import Bench
from tests.support.adapter import RecordingAdapter
from tests.support.messages import direct, outbound, place
from tests.support.work import deadly


class Last:
    """The run before this one, on the same outbox: it ends without a word."""

    def __init__(self, bench: Bench, *failures: DeliveryError | None) -> None:
        self.adapter = RecordingAdapter(bench.adapter.capabilities)
        self.adapter.failures.extend(failures)
        line = AccountSender(self.adapter, Pacer(SendPace(chat_per_second=1), bench.clock))
        line.connected.set()
        lines = {("test", "main"): line}
        self.deliverer = Deliverer(
            bench.outbox, lines, bench.clock, DeliveryRules(), lambda *_: None
        )
        self.bench = bench

    async def sends(self, *items: Outbound, seconds: float = 0.0) -> None:
        begun = self.deliverer.immediate_send_key(items)
        await SqliteInbox(self.bench.database, self.bench.clock).finish((), items, begun)
        self.deliverer.submit(items, begun)
        await self.bench.clock.advance(seconds)

    def hangs(self, patch: pytest.MonkeyPatch) -> None:
        """The platform has got the send, and its answer never comes."""
        send = self.adapter.send

        async def hanging(item: Outbound) -> Receipt:
            await send(item)
            await asyncio.Event().wait()
            raise AssertionError("never")

        patch.setattr(self.adapter, "send", hanging)

    async def dies(self) -> None:
        await self.deliverer._tasks.stop()


class Gone(RecordingAdapter):
    """An adapter whose live messages are deleted before the answer replaces them."""

    def live_style(self, place: Place) -> LiveStyle:
        return LiveStyle()

    async def show_live(self, view: LiveView) -> str:
        return "m1"

    async def end_live(self, item: Outbound) -> Receipt:
        raise Permanent("gone")

    async def delete(self, place: Place, message_id: str) -> None: ...


def without_edits(run: Last) -> AccountSender:
    """Return the account of a run, on a platform that refuses every edit."""
    run.adapter.__class__ = Gone
    line = AccountSender(run.adapter, Pacer(SendPace(), run.bench.clock))
    line.connected.set()
    return line


async def test_a_send_started_before_a_crash_is_repeated_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    await last.sends(outbound("r:0", "a"), outbound("r:1", "b"), outbound("s:0", "c"))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert last.adapter.texts == ["a"]
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a", "b", "c"]


async def test_a_later_part_that_waited_for_its_slot_is_repeated_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    await last.sends(outbound("r:0", "a"))
    last.hangs(monkeypatch)
    await last.sends(outbound("r:1", "b"), seconds=2)
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert last.adapter.texts == ["a", "b"]
    assert bench.adapter.texts == [REPEAT_NOTE.english, "b"]


async def test_a_send_that_was_not_started_before_a_crash_needs_no_note(bench: Bench) -> None:
    last = Last(bench, Transient("500"))
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
async def test_a_repetition_that_the_platform_recognises_needs_no_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(ephemeral=True, idempotent_sends=True)}], indirect=True
)
@pytest.mark.parametrize(
    ("at", "handle", "notes"),
    [
        (place(), "", [REPEAT_NOTE.english]),
        (direct(), "command", [REPEAT_NOTE.english]),
        (direct(), "", []),
    ],
)
async def test_a_repeated_message_for_one_person_alone_is_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, at: Place, handle: str, notes: list[str]
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    item = outbound("r:0", "a", at)
    await last.sends(replace(item, private_to="ada", reply_handle=handle))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [*notes, "a"]
    assert all(item.private_to == "ada" for item in bench.adapter.sent)


@pytest.mark.parametrize("bench", [{"rules": DeliveryRules(repeat_ambiguous=False)}], indirect=True)
async def test_a_started_send_becomes_a_dead_letter_if_repetition_is_disabled(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    await last.sends(outbound("r:0", "a"), outbound("s:0", "b"))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["b"]
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}


async def test_a_send_without_a_response_stays_ambiguous_after_a_restart(bench: Bench) -> None:
    last = Last(bench, Ambiguous("cut"))
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_a_repetition_that_was_refused_stays_ambiguous_after_a_restart(bench: Bench) -> None:
    last = Last(bench, Ambiguous("cut"), None, Transient("429", 1.0))
    await last.sends(outbound("r:0", "a"), seconds=1)
    assert last.adapter.texts == [REPEAT_NOTE.english]
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_a_refused_repetition_of_a_started_send_stays_ambiguous(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    second = Last(bench, None, Transient("429", 1.0))
    await second.deliverer.start()
    await bench.clock.advance(1)
    assert second.adapter.texts == [REPEAT_NOTE.english]
    await second.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_an_answer_whose_live_message_is_gone_is_repeated_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    monkeypatch.setattr(last.deliverer, "_senders", {("test", "main"): without_edits(last)})
    last.hangs(monkeypatch)
    item = replace(outbound("r:0", "a"), replaces="m1")
    await last.sends(item)
    assert last.adapter.texts == ["a"]
    await last.dies()
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


@pytest.mark.parametrize(
    ("bench", "notes"),
    [
        ({"rules": DeliveryRules()}, [REPEAT_NOTE.english]),
        ({"rules": DeliveryRules(repeat_ambiguous=False)}, []),
        ({"capabilities": Capabilities(idempotent_sends=True)}, []),
    ],
    indirect=["bench"],
)
async def test_an_answer_beside_a_live_message_that_stays_is_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, notes: list[str]
) -> None:
    async def refused(*_: object) -> None:
        raise Permanent("too old")

    monkeypatch.setattr(Gone, "delete", refused)
    bench.adapter.__class__ = Gone
    assert await bench.send(replace(outbound("r:0", "a"), replaces="m1")) == [*notes, "a"]
    assert await bench.states() == {"r:0": "sent"}


async def test_an_edit_before_a_crash_is_repeated_without_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    monkeypatch.setattr(last.deliverer, "_senders", {("test", "main"): without_edits(last)})
    monkeypatch.setattr(Gone, "end_live", lambda *_: asyncio.Event().wait())
    await last.sends(replace(outbound("r:0", "a"), replaces="m1"))
    await last.dies()
    (left,) = await bench.outbox.waiting(10)
    assert not left.begun


async def test_a_send_that_another_process_began_is_left_to_it(bench: Bench) -> None:
    await bench.outbox.add([outbound("r:0", "a"), outbound("s:0", "b")])
    bench.line.connected.clear()
    await bench.deliverer.start()
    await bench.outbox.begin(outbound("r:0"))
    bench.line.connected.set()
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["b"]
    assert await bench.states() == {"r:0": "waiting", "s:0": "sent"}
    bench.deliverer.take(await bench.outbox.waiting(10))
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["b", REPEAT_NOTE.english, "a"]


async def test_a_send_that_another_process_confirmed_is_not_sent(bench: Bench) -> None:
    await bench.outbox.add([outbound("r:0", "a"), outbound("s:0", "b")])
    bench.line.connected.clear()
    await bench.deliverer.start()
    await bench.outbox.sent("r:0", Receipt("p1"))
    bench.line.connected.set()
    await bench.clock.advance(10)
    assert bench.adapter.texts == ["b"]


async def test_a_requested_pause_survives_a_restart(bench: Bench) -> None:
    last = Last(bench, Transient("429", 1800.0))
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    await bench.clock.advance(600)
    await bench.deliverer.start()
    await bench.send(outbound("s:0", "b"), outbound("o:0", "other", direct("ben")), seconds=1199)
    assert bench.adapter.texts == ["other"]
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["other", "a", "b"]


async def test_a_send_that_starts_at_once_needs_no_separate_write(bench: Bench) -> None:
    last, before = Last(bench), bench.database.transactions
    await last.sends(outbound("r:0", "a"))
    assert bench.database.transactions - before == 2  # queued as begun; sent
    await last.dies()


@pytest.mark.parametrize(
    "bench",
    [{"rules": DeliveryRules(repeat_ambiguous=allowed)} for allowed in (True, False)],
    indirect=True,
)
async def test_a_resent_dead_letter_that_may_have_arrived_is_below_a_note(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Last(bench)
    last.hangs(monkeypatch)
    await last.sends(outbound("r:0", "a"))
    await last.dies()
    await bench.outbox.dead(["r:0"], QUARANTINED)
    await bench.outbox.requeue(["r:0"])
    await bench.deliverer.start()
    await bench.clock.advance(10)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_a_quarantined_send_is_a_dead_letter_that_can_be_resent(
    bench: Bench,
) -> None:
    guard = deadly("send", "x:0")
    rules = DeliveryRules()
    deliverer = Deliverer(
        bench.outbox,
        {("test", "main"): bench.line},
        bench.clock,
        rules,
        lambda *_: None,
        guard=guard,
    )
    await bench.outbox.add([outbound("x:0"), outbound("y:0")])
    await deliverer.start()
    await bench.clock.advance(60)
    assert await bench.states() == {"x:0": "dead", "y:0": "sent"}
    assert guard.marked == [(WorkItem("send", "y:0"),)]
    (letter,) = await bench.outbox.dead_letters(10)
    assert letter.reason == QUARANTINED
    await bench.outbox.requeue(["x:0"])
    deliverer.take(await bench.outbox.waiting(10))
    await bench.clock.advance(60)
    assert await bench.states() == {"x:0": "sent", "y:0": "sent"}
    await deliverer.stop()
