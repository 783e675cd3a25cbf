"""What leaves the outbox, in which order, and what happens when a platform refuses it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from gateway.delivery.deliverer import REPEAT_NOTE, Deliverer, DeliveryRules, Line
from gateway.delivery.pacing import Pacer
from gateway.errors import Ambiguous, FormatRejected, Permanent, Transient
from gateway.message import Part
from gateway.ports import Capabilities, SendPace
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.outbox import SqliteOutbox
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.messages import direct, outbound


@dataclass
class Bench:
    deliverer: Deliverer
    adapter: RecordingAdapter
    outbox: SqliteOutbox
    clock: FakeClock
    database: Database
    line: Line

    async def send(self, *items, seconds: float = 100.0) -> list[str]:  # type: ignore[no-untyped-def]
        await self.outbox.add(items)
        self.deliverer.submit(items)
        await self.clock.advance(seconds)
        return self.adapter.texts

    async def states(self) -> dict[str, str]:
        rows = await self.database.run(
            lambda db: db.execute("SELECT key, state FROM outbox ORDER BY seq").fetchall()
        )
        return dict(rows)


@pytest.fixture
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    options = getattr(request, "param", {})
    clock, database = FakeClock(), Database(":memory:")
    await database.start()
    outbox = SqliteOutbox(database, clock)
    adapter = RecordingAdapter(options.get("capabilities"))
    line = Line(adapter, Pacer(SendPace(), clock))
    line.connected.set()
    rules = options.get("rules", DeliveryRules())
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, rules, lambda *_: None)
    yield Bench(deliverer, adapter, outbox, clock, database, line)
    await deliverer.stop()
    await database.stop()


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
    assert await bench.send(outbound("r:0", "plain")) == []
    assert await bench.states() == {"r:0": "dead"}


async def test_a_part_that_cannot_be_sent_takes_the_rest_of_its_answer_along(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(Permanent("chat not found"))
    items = [outbound("r:0"), outbound("r:1"), outbound("s:0", "another answer")]
    assert await bench.send(*items) == ["another answer"]
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
    assert await bench.send(outbound("r:0"), outbound("s:0", "next")) == ["next"]


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
