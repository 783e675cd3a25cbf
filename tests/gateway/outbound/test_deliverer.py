"""Sends leave the outbox in order, and refusals of a platform are handled."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from gateway.errors import Ambiguous, FormatRejected, Permanent, Transient, WindowClosed
from gateway.message import Button, Outbound, OutboundFile, Part, Receipt
from gateway.outbound.deliverer import REPEATS, DeliveryRules
from gateway.outbound.retry import LOST_NOTE, REPEAT_NOTE
from gateway.ports import Capabilities
from tests.gateway.outbound.conftest import Bench
from tests.support.messages import direct, outbound


async def test_parts_arrive_in_order(bench: Bench) -> None:
    texts = [f"part {n}" for n in range(5)]
    items = [outbound(f"r:{n}", text) for n, text in enumerate(texts)]
    assert await bench.send(*items) == texts
    assert set((await bench.states()).values()) == {"sent"}
    assert bench.deliverer.idle


async def test_a_refusal_for_now_is_repeated_exactly_when_allowed(bench: Bench) -> None:
    bench.adapter.failures.append(Transient("429", 1800.0))
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=1799) == []
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["a", "b"]


async def test_without_a_time_the_pauses_grow(bench: Bench) -> None:
    bench.adapter.failures.extend(Transient("500") for _ in range(4))
    await bench.send(outbound("r:0", "a"))
    assert bench.adapter.texts == ["a"]
    assert [s for s in bench.clock.slept if s > 0] == [0.5, 1.0, 2.0, 4.0]


async def test_one_chat_never_delays_another(bench: Bench) -> None:
    bench.adapter.failures.append(Transient("429", 60.0))
    slow, quick = outbound("a:0", "slow", direct("ada")), outbound("b:0", "quick", direct("ben"))
    assert await bench.send(slow, quick, seconds=1) == ["quick"]


async def test_a_limit_of_the_whole_account_is_not_tried_out_chat_by_chat(bench: Bench) -> None:
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


async def test_a_limit_never_costs_the_format(bench: Bench) -> None:
    bench.adapter.failures.extend([Transient("429", 1.0), Transient("500"), Transient("502")])
    item = outbound("r:0")
    await bench.send(type(item)(item.key, item.place, Part("<b>bold</b>", "bold")))
    assert bench.adapter.sent[0].part == Part("<b>bold</b>", "bold")


async def test_plain_text_that_is_rejected_too_is_given_up(bench: Bench) -> None:
    bench.adapter.failures.append(FormatRejected("no"))
    assert await bench.send(outbound("r:0", "plain")) == [LOST_NOTE.text]
    assert await bench.states() == {"r:0": "dead"}


async def test_a_part_that_cannot_be_sent_takes_the_rest_of_its_answer_along(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(Permanent("chat not found"))
    items = [outbound("r:0"), outbound("r:1"), outbound("s:0", "another answer")]
    assert await bench.send(*items) == [LOST_NOTE.text, "another answer"]
    assert await bench.states() == {"r:0": "dead", "r:1": "dead", "s:0": "sent"}


async def test_a_send_that_may_have_happened_is_repeated_with_a_note(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == [REPEAT_NOTE.text, "a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
async def test_where_the_platform_knows_the_key_no_note_is_needed(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == ["a"]


@pytest.mark.parametrize("bench", [{"rules": DeliveryRules(repeat_ambiguous=False)}], indirect=True)
async def test_or_it_is_not_repeated_by_setting(bench: Bench) -> None:
    bench.adapter.failures.append(Ambiguous("no answer"))
    assert await bench.send(outbound("r:0", "a")) == []
    assert await bench.states() == {"r:0": "dead"}


@pytest.mark.parametrize(
    "bench", [{"rules": DeliveryRules(lifetime=timedelta(minutes=1))}], indirect=True
)
async def test_an_answer_that_is_too_old_is_given_up(bench: Bench) -> None:
    bench.adapter.failures.extend(Transient("500", 30.0) for _ in range(5))
    await bench.send(outbound("r:0"), seconds=600)
    assert await bench.states() == {"r:0": "dead"}


async def test_a_bug_in_an_adapter_does_not_stop_the_chat(bench: Bench) -> None:
    bench.adapter.failures.append(ValueError("oops"))  # type: ignore[arg-type]
    assert await bench.send(outbound("r:0"), outbound("s:0", "next")) == [LOST_NOTE.text, "next"]


async def test_sends_wait_until_the_account_is_connected(bench: Bench) -> None:
    bench.line.connected.clear()
    assert await bench.send(outbound("r:0", "a")) == []
    bench.line.connected.set()
    await bench.clock.advance(0)
    assert bench.adapter.texts == ["a"]


async def test_a_new_run_goes_on_with_what_the_old_one_left(bench: Bench) -> None:
    await bench.outbox.add((outbound("r:0", "a"), outbound("r:1", "b")))
    await bench.deliverer.start()
    await bench.clock.advance(1)
    assert bench.adapter.texts == ["a", "b"]


async def test_an_account_that_is_gone_is_said_so(bench: Bench) -> None:
    gone = outbound("r:0", at=direct(platform="gone"))
    await bench.send(gone)
    assert await bench.states() == {"r:0": "dead"}


async def test_what_may_have_happened_often_is_not_repeated_for_ever(bench: Bench) -> None:
    bench.adapter.failures.extend([Ambiguous("1"), *[None, Ambiguous("2")] * REPEATS])
    said = await bench.send(outbound("r:0", "a"), seconds=7200)
    assert said == [REPEAT_NOTE.text] * REPEATS
    assert await bench.states() == {"r:0": "dead"}


async def test_a_repetition_waits_for_the_note_that_announces_it(bench: Bench) -> None:
    bench.adapter.failures.extend([Ambiguous("?"), Transient("429", 30.0), Ambiguous("?")])
    assert await bench.send(outbound("r:0", "a"), seconds=29.0) == []
    await bench.clock.advance(20.0)
    assert bench.adapter.texts == [REPEAT_NOTE.text, "a"]


async def test_but_not_for_ever(bench: Bench) -> None:
    bench.adapter.failures.extend(Ambiguous("?") for _ in range(2 + REPEATS))
    assert await bench.send(outbound("r:0", "a"), seconds=7200) == ["a"]


@pytest.mark.parametrize(
    "bench", [{"capabilities": Capabilities(idempotent_sends=True)}], indirect=True
)
async def test_safe_repetitions_wait_longer_each_time_and_end(bench: Bench) -> None:
    bench.adapter.failures.extend(Ambiguous("cut") for _ in range(100))
    await bench.send(outbound("r:0", "a"), seconds=7200)
    assert len(bench.adapter.failures) == 100 - 1 - REPEATS
    assert [s for s in bench.clock.slept if s > 0] == [0.5 * 2**n for n in range(REPEATS)]
    assert await bench.states() == {"r:0": "dead"}
    assert bench.adapter.texts == []


@pytest.mark.parametrize(
    "bench", [{"rules": DeliveryRules(lifetime=timedelta(hours=1))}], indirect=True
)
async def test_an_answer_that_waited_too_long_for_its_account_is_not_sent_at_all(
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
async def test_a_platform_that_names_an_endless_pause_does_not_block_the_chat(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(Transient("429", float("inf")))
    assert await bench.send(outbound("r:0", "a"), seconds=3601) == []
    assert await bench.send(outbound("s:0", "b"), seconds=1) == ["b"]
    assert await bench.states() == {"r:0": "dead", "s:0": "sent"}


async def test_buttons_that_are_rejected_are_left_away_after_the_markup(bench: Bench) -> None:
    bench.adapter.failures.extend([FormatRejected("no"), FormatRejected("buttons")])
    item = replace(outbound("r:0"), part=Part("<b>bold</b>", "bold"), buttons=(Button("Y", "y"),))
    assert await bench.send(item) == ["bold"]
    assert bench.adapter.sent[0].buttons == ()


async def test_a_file_that_is_rejected_is_said_to_be_missing(bench: Bench) -> None:
    bench.adapter.failures.extend([None, FormatRejected("too large")])
    file = replace(outbound("r:1"), part=None, file=OutboundFile("a.bin", "x/y", b"1"))
    assert await bench.send(outbound("r:0", "see the file"), file) == [
        "see the file",
        LOST_NOTE.text,
    ]
    assert await bench.states() == {"r:0": "sent", "r:1": "dead"}


@pytest.mark.parametrize("reason", [WindowClosed("24 h"), Ambiguous("?")])
@pytest.mark.parametrize("bench", [{"rules": DeliveryRules(repeat_ambiguous=False)}], indirect=True)
async def test_nothing_is_said_where_it_could_not_arrive_or_might_be_untrue(
    bench: Bench, reason: Permanent | Ambiguous
) -> None:
    bench.adapter.failures.append(reason)
    assert await bench.send(outbound("r:0", "a")) == []


async def test_notes_that_cannot_be_sent_are_not_insisted_on(bench: Bench) -> None:
    bench.adapter.failures.extend([Permanent("blocked"), Permanent("blocked")])
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b")) == ["b"]
    bench.adapter.failures.extend([Ambiguous("?"), Permanent("no notes here")])
    assert await bench.send(outbound("t:0", "c")) == ["b", "c"]


class Locked:
    """An outbox on a disk that is full for its first `refusals` writes."""

    def __init__(self, bench: Bench, patch: pytest.MonkeyPatch, refusals: int) -> None:
        self.refusals = refusals
        for name in ("begin", "sent", "tried", "dead"):
            patch.setattr(bench.outbox, name, self._guarded(getattr(bench.outbox, name)))

    def _guarded(self, write: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def guarded(*arguments: object, **options: object) -> None:
            if self.refusals > 0:
                self.refusals -= 1
                raise StoreUnavailable("disk full")
            await write(*arguments, **options)

        return guarded


async def test_while_the_outbox_is_unavailable_a_chat_waits_and_then_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Locked(bench, monkeypatch, 5)
    bench.adapter.failures.append(Transient("500"))
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b")) == ["a", "b"]
    assert await bench.states() == {"r:0": "sent", "r:1": "sent"}


async def test_what_was_sent_is_written_down_seconds_after_a_long_outage(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Locked(bench, monkeypatch, 20)
    sent = await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=90)
    assert sent == ["a", "b"]


async def test_an_outbox_that_stays_away_ends_the_chat_and_keeps_its_answers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.WRITE_PAUSE", 600.0)
    Locked(bench, monkeypatch, 10**9)
    assert await bench.send(outbound("r:0", "a"), outbound("r:1", "b"), seconds=10**6) == []
    assert bench.deliverer.idle
    assert await bench.states() == {"r:0": "waiting", "r:1": "waiting"}


async def test_an_adapter_that_answers_nonsense_stops_nobody(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = bench.adapter.send

    async def nonsense(item: Outbound) -> Receipt:
        await send(item)
        return None if item.key == "r:0" else Receipt("p1")  # type: ignore[return-value]

    monkeypatch.setattr(bench.adapter, "send", nonsense)
    assert await bench.send(outbound("r:0", "a"), outbound("s:0", "b")) == ["a", "b"]
    assert (await bench.states())["s:0"] == "sent"


async def test_the_end_waits_for_a_send_on_its_way_and_begins_no_other(
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


async def test_the_end_does_not_wait_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.SEND_SECONDS", 0.01)

    async def hanging(_item: Outbound) -> Receipt:
        await asyncio.Event().wait()
        raise AssertionError("never")

    monkeypatch.setattr(bench.adapter, "send", hanging)
    await bench.send(outbound("r:0", "a"))
    await bench.deliverer.stop()
    assert bench.deliverer.idle


async def test_after_the_end_nothing_is_begun(bench: Bench) -> None:
    await bench.deliverer.stop()
    assert await bench.send(outbound("r:0", "a")) == []
    assert await bench.states() == {"r:0": "waiting"}


async def test_more_than_a_start_takes_up_is_said_aloud(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbound.deliverer.AT_START", 1)
    await bench.outbox.add((outbound("r:0", "a"), outbound("s:0", "b")))
    with capture_logs() as logs:
        await bench.deliverer.start()
    assert [line["event"] for line in logs] == ["outbox_partly_loaded"]
