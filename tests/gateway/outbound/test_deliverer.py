"""Sends leave the outbox in order, and refusals of a platform are handled."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    PlatformFailed,
    Transient,
    WindowClosed,
)
from gateway.immutable import replace
from gateway.message import Button, Outbound, OutboundFile, Part, Receipt
from gateway.outbound.deliverer import UNANNOUNCED
from gateway.outbound.retry_decision import (
    LOST_NOTE,
    NOTES,
    REPEAT_NOTE,
    REPEATS,
    DeliveryRules,
    Repetitions,
    Send,
)
from gateway.ports import Capabilities
from tests.gateway.outbound.conftest import Bench
from tests.support.messages import direct, outbound


async def test_parts_arrive_in_order(bench: Bench) -> None:
    texts = [f"part {n}" for n in range(5)]
    items = [outbound(f"r:{n}", text) for n, text in enumerate(texts)]
    assert await bench.send(*items) == texts
    assert set((await bench.states()).values()) == {"sent"}
    assert bench.deliverer.idle


async def test_a_temporary_refusal_is_retried_at_the_stated_time(bench: Bench) -> None:
    bench.adapter.failures.append(Transient("429", 1800.0))
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=1799) == []
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["a", "b"]


async def test_without_a_stated_time_the_pauses_grow(bench: Bench) -> None:
    bench.adapter.failures.extend(Transient("500") for _ in range(4))
    await bench.send(outbound("r:0", "a"))
    assert bench.adapter.texts == ["a"]
    assert [s for s in bench.clock.slept if s > 0] == [0.5, 1.0, 2.0, 4.0]


async def test_one_chat_never_delays_another(bench: Bench) -> None:
    bench.adapter.failures.append(Transient("429", 60.0))
    slow, quick = outbound("a:0", "slow", direct("ada")), outbound("b:0", "quick", direct("ben"))
    assert await bench.send(slow, quick, seconds=1) == ["quick"]


async def test_a_rate_limit_of_the_account_is_not_tested_chat_by_chat(bench: Bench) -> None:
    bench.adapter.failures.append(Transient("429", 30.0, whole_account=True))
    await bench.send(outbound("a:0", "a", direct("ada")), seconds=1)
    assert await bench.send(outbound("b:0", "b", direct("ben")), seconds=28) == []
    await bench.clock.advance(1)
    assert sorted(bench.adapter.texts) == ["a", "b"]


async def test_only_rejected_markup_falls_back_to_plain_text(bench: Bench) -> None:
    bench.adapter.failures.append(FormatRejected("can't parse entities"))
    item = outbound("r:0")
    rich = type(item)(item.key, item.place, Part("<b>bold</b>", "bold"))
    assert await bench.send(rich) == ["bold"]
    assert bench.adapter.sent[0].part == Part("bold", "bold")


async def test_a_rate_limit_never_removes_the_formatting(bench: Bench) -> None:
    bench.adapter.failures.extend([Transient("429", 1.0), Transient("500"), Transient("502")])
    item = outbound("r:0")
    await bench.send(type(item)(item.key, item.place, Part("<b>bold</b>", "bold")))
    assert bench.adapter.sent[0].part == Part("<b>bold</b>", "bold")


async def test_refused_plain_text_becomes_a_dead_letter(bench: Bench) -> None:
    bench.adapter.failures.append(FormatRejected("no"))
    assert await bench.send(outbound("r:0", "plain")) == [LOST_NOTE.english]
    assert await bench.states() == {"r:0": "dead"}


async def test_a_part_that_cannot_be_sent_stops_the_rest_of_its_answer(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(Permanent("chat not found"))
    items = [outbound("r:0"), outbound("r:1"), outbound("s:0", "another answer")]
    assert await bench.send(*items) == [LOST_NOTE.english, "another answer"]
    assert await bench.states() == {"r:0": "dead", "r:1": "dead", "s:0": "sent"}


async def test_an_ambiguous_send_is_repeated_with_a_note(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == [REPEAT_NOTE.english, "a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
async def test_a_platform_that_recognises_the_key_needs_no_note(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == ["a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
@pytest.mark.parametrize("restored", [False, True])
async def test_no_platform_recognises_the_key_of_an_attempt_in_a_restored_outbox(
    bench: Bench, restored: bool
) -> None:
    send = Send(outbound("r:0", "a"), 0)
    assert Repetitions(DeliveryRules()).prepare_repetition(bench.line, send, restored=restored)
    assert send.announced is not restored


@pytest.mark.parametrize("bench", [{"rules": DeliveryRules(repeat_ambiguous=False)}], indirect=True)
async def test_an_ambiguous_send_is_not_repeated_if_disabled(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == []
    assert await bench.states() == {"r:0": "dead"}


@pytest.mark.parametrize(
    "bench", [{"rules": DeliveryRules(lifetime=timedelta(minutes=1))}], indirect=True
)
async def test_an_answer_beyond_its_lifetime_becomes_a_dead_letter(bench: Bench) -> None:
    bench.adapter.failures.extend(Transient("500", 30.0) for _ in range(5))
    await bench.send(outbound("r:0"), seconds=600)
    assert await bench.states() == {"r:0": "dead"}


async def test_an_exception_in_an_adapter_does_not_stop_the_chat(bench: Bench) -> None:
    bench.adapter.failures.append(ValueError("oops"))  # type: ignore[arg-type]
    assert await bench.send(outbound("r:0"), outbound("s:0", "next")) == [LOST_NOTE.english, "next"]


async def test_sends_wait_until_the_account_is_connected(bench: Bench) -> None:
    bench.line.connected.clear()
    assert await bench.send(outbound("r:0", "a")) == []
    bench.line.connected.set()
    await bench.clock.advance(0)
    assert bench.adapter.texts == ["a"]


async def test_a_new_process_continues_the_open_sends(bench: Bench) -> None:
    await bench.outbox.add((outbound("r:0", "a"), outbound("r:1", "b")))
    await bench.deliverer.start()
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["a", "b"]


async def test_sends_of_a_removed_account_become_dead_letters(bench: Bench) -> None:
    gone = outbound("r:0", at=direct(platform="gone"))
    await bench.send(gone)
    assert await bench.states() == {"r:0": "dead"}


async def test_an_ambiguous_send_is_repeated_a_limited_number_of_times(bench: Bench) -> None:
    bench.adapter.failures.extend([Ambiguous("1"), *[None, Ambiguous("2")] * REPEATS])
    reply = await bench.send(outbound("r:0", "a"), seconds=7200)
    assert reply == [REPEAT_NOTE.english] * REPEATS
    assert await bench.states() == {"r:0": "dead"}


async def test_a_repetition_waits_for_its_note(bench: Bench) -> None:
    bench.adapter.failures.extend([Ambiguous("?"), Transient("429", 30.0), Ambiguous("?")])
    assert await bench.send(outbound("r:0", "a"), seconds=29.0) == []
    await bench.clock.advance(20.0)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_a_repetition_without_a_confirmed_note_becomes_a_dead_letter(bench: Bench) -> None:
    bench.adapter.failures.extend(Ambiguous("?") for _ in range(2 + NOTES))
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b"), seconds=7200) == ["b"]
    assert not bench.adapter.failures
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}
    (letter,) = await bench.outbox.dead_letters(10)
    assert letter.reason == UNANNOUNCED


async def test_a_failure_of_the_platform_is_repeated_below_a_note(bench: Bench) -> None:
    bench.adapter.failures.append(PlatformFailed("503", 30.0))
    assert await bench.send(outbound("r:0", "a"), seconds=29.0) == []
    await bench.clock.advance(5.0)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


async def test_an_outage_of_the_platform_loses_nothing(bench: Bench) -> None:
    bench.adapter.failures.extend(PlatformFailed("503") for _ in range(500))
    assert await bench.send(outbound("r:0", "a"), seconds=4 * 3600) == []
    bench.adapter.failures.clear()
    await bench.clock.advance(60)
    assert bench.adapter.texts == [REPEAT_NOTE.english, "a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
async def test_recognised_repetitions_have_growing_pauses_and_a_limit(bench: Bench) -> None:
    bench.adapter.failures.extend(Ambiguous("cut") for _ in range(100))
    await bench.send(outbound("r:0", "a"), seconds=7200)
    assert len(bench.adapter.failures) == 100 - 1 - REPEATS
    assert [s for s in bench.clock.slept if s > 0] == [0.5 * 2**n for n in range(REPEATS)]
    assert await bench.states() == {"r:0": "dead"}
    assert bench.adapter.texts == []


@pytest.mark.parametrize(
    "bench", [{"rules": DeliveryRules(lifetime=timedelta(hours=1))}], indirect=True
)
async def test_an_answer_that_waited_too_long_for_its_account_is_not_sent(
    bench: Bench,
) -> None:
    bench.line.connected.clear()
    await bench.send(outbound("r:0", "old"), seconds=3601)
    await bench.send(outbound("s:0", "new"), seconds=1)
    bench.line.connected.set()
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["new"]
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}


@pytest.mark.parametrize(
    "bench", [{"rules": DeliveryRules(lifetime=timedelta(hours=1))}], indirect=True
)
async def test_a_stated_pause_without_end_does_not_block_the_chat(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(Transient("429", float("inf")))
    assert await bench.send(outbound("r:0", "a"), seconds=3601) == []
    assert await bench.send(outbound("s:0", "b"), seconds=1) == ["b"]
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}


async def test_refused_buttons_are_removed_after_the_markup(bench: Bench) -> None:
    bench.adapter.failures.extend([FormatRejected("no"), FormatRejected("buttons")])
    item = replace(outbound("r:0"), part=Part("<b>bold</b>", "bold"), buttons=(Button("Y", "y"),))
    assert await bench.send(item) == ["bold"]
    assert bench.adapter.sent[0].buttons == ()


async def test_a_refused_file_is_reported_as_missing(bench: Bench) -> None:
    bench.adapter.failures.extend([None, FormatRejected("too large")])
    file = replace(outbound("r:1"), part=None, file=OutboundFile("a.bin", "x/y", b"1"))
    assert await bench.send(outbound("r:0", "see the file"), file) == [
        "see the file",
        LOST_NOTE.english,
    ]
    assert await bench.states() == {"r:0": "sent", "r:1": "dead"}


@pytest.mark.parametrize("reason", [WindowClosed("24 h"), Ambiguous("?")])
@pytest.mark.parametrize("bench", [{"rules": DeliveryRules(repeat_ambiguous=False)}], indirect=True)
async def test_no_note_is_sent_where_it_cannot_arrive_or_may_be_false(
    bench: Bench, reason: Permanent | Ambiguous
) -> None:
    bench.adapter.failures.append(reason)
    assert await bench.send(outbound("r:0", "a")) == []


async def test_notes_that_cannot_be_sent_are_dropped(bench: Bench) -> None:
    bench.adapter.failures.extend([Permanent("blocked"), Permanent("blocked")])
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b")) == ["b"]


@pytest.mark.parametrize("refusal", [Permanent("no notes here"), FormatRejected("no text")])
async def test_a_repetition_whose_note_is_refused_becomes_a_dead_letter(
    bench: Bench, refusal: DeliveryError
) -> None:
    bench.adapter.failures.extend([Ambiguous("?"), refusal])
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b")) == ["b"]
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}


async def test_an_answer_that_may_have_arrived_is_not_reported_as_lost(bench: Bench) -> None:
    bench.adapter.failures.extend([Ambiguous("?"), None, Permanent("no")])
    assert await bench.send(outbound("r:0", "a")) == [REPEAT_NOTE.english]
    assert await bench.states() == {"r:0": "dead"}


class Locked:
    """An outbox on a disk that is full for its first `refusals` writes."""

    def __init__(self, bench: Bench, patch: pytest.MonkeyPatch, refusals: int) -> None:
        self.refusals = refusals
        for name in ("begin", "sent", "tried", "dead"):
            patch.setattr(bench.outbox, name, self._guarded(getattr(bench.outbox, name)))

    def _guarded(self, write: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def guarded(*arguments: object, **options: object) -> object:
            if self.refusals > 0:
                self.refusals -= 1
                raise StoreUnavailable("disk full")
            return await write(*arguments, **options)

        return guarded


async def test_a_chat_waits_while_the_outbox_is_unavailable_and_then_continues(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Locked(bench, monkeypatch, 5)
    bench.adapter.failures.append(Transient("500"))
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b")) == ["a", "b"]
    assert await bench.states() == {"r:0": "sent", "r:1": "sent"}


async def test_a_confirmed_send_is_stored_seconds_after_a_long_outage(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Locked(bench, monkeypatch, 20)
    sent = await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=90)
    assert sent == ["a", "b"]


async def test_an_outbox_that_stays_unavailable_stops_the_chat_and_keeps_its_answers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.WRITE_PAUSE", 600.0)
    Locked(bench, monkeypatch, 10**9)
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=10**6) == []
    assert bench.deliverer.idle
    assert await bench.states() == {"r:0": "waiting", "r:1": "waiting"}


async def test_an_invalid_receipt_of_an_adapter_does_not_stop_other_chats(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = bench.adapter.send

    async def nonsense(item: Outbound) -> Receipt:
        await send(item)
        return None if item.key == "r:0" else Receipt("p1")  # type: ignore[return-value]

    monkeypatch.setattr(bench.adapter, "send", nonsense)
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b")) == ["a", "b"]
    assert (await bench.states())["s:0"] == "sent"


async def test_stop_waits_for_a_send_in_flight_and_starts_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, gate = bench.adapter.send, asyncio.Event()

    async def slow(item: Outbound) -> Receipt:
        await gate.wait()
        return await send(item)

    monkeypatch.setattr(bench.adapter, "send", slow)
    await bench.send(outbound("r:0", "a"), outbound("r:1", "b"))
    ending = asyncio.create_task(bench.deliverer.stop())
    await bench.clock.advance(0)
    gate.set()
    await ending
    assert bench.adapter.texts == ["a"]
    assert await bench.states() == {"r:0": "sent", "r:1": "waiting"}


async def test_stop_waits_for_a_limited_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.SEND_SECONDS", 0.01)

    async def hanging(_item: Outbound) -> Receipt:
        await asyncio.Event().wait()
        raise AssertionError("never")

    monkeypatch.setattr(bench.adapter, "send", hanging)
    await bench.send(outbound("r:0", "a"))
    await bench.deliverer.stop()
    assert bench.deliverer.idle


async def test_after_stop_no_send_starts(bench: Bench) -> None:
    await bench.deliverer.stop()
    assert await bench.send(outbound("r:0", "a")) == []
    assert await bench.states() == {"r:0": "waiting"}


async def test_more_sends_than_a_start_resumes_are_logged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.AT_START", 1)
    await bench.outbox.add((outbound("r:0", "a"), outbound("s:0", "b")))
    with capture_logs() as logs:
        await bench.deliverer.start()
    assert [line["event"] for line in logs] == ["outbox_partly_loaded"]
