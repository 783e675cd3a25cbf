"""A thread or a message that is gone when its answer is sent."""

from gateway.errors import AddressGone
from gateway.immutable import replace
from gateway.message import Place
from gateway.outbound.retry_decision import ELSEWHERE_NOTE, LOST_NOTE
from gateway.people import Audience
from tests.gateway.outbound.conftest import Bench
from tests.support.messages import outbound

TOPIC = Place("test", "main", "group", Audience.PRIVATE_ROOM, thread_id="5")
GROUP = replace(TOPIC, thread_id="")


async def test_an_answer_whose_thread_is_gone_goes_to_the_channel_below_one_note(
    bench: Bench,
) -> None:
    bench.adapter.failures += [AddressGone("gone", thread=True), None, None]
    bench.adapter.failures.append(AddressGone("gone", thread=True))
    parts = [replace(outbound(f"r:{n}", f"part {n}", TOPIC), reply_to_id="7") for n in range(2)]
    assert await bench.send(*parts) == [ELSEWHERE_NOTE.english, "part 0", "part 1"]
    assert [(sent.place, sent.reply_to_id) for sent in bench.adapter.sent[1:]] == [(GROUP, "")] * 2
    assert bench.adapter.sent[0].place == GROUP
    assert set((await bench.states()).values()) == {"sent"}


async def test_an_answer_of_a_thread_with_fewer_readers_is_shown_nowhere_else(
    bench: Bench,
) -> None:
    bench.adapter.failures.append(AddressGone("gone", thread=True))
    closed = replace(TOPIC, closed_thread=True)
    assert await bench.send(outbound("r:0", "secret", closed)) == [LOST_NOTE.english]
    assert bench.adapter.sent[0].place == closed
    assert await bench.states() == {"r:0": "dead"}


async def test_a_channel_that_is_gone_as_well_ends_the_send(bench: Bench) -> None:
    bench.adapter.failures += [
        AddressGone("gone", thread=True),
        AddressGone("no note", thread=True),
        AddressGone("gone", thread=True),
    ]
    assert await bench.send(outbound("r:0", "a", TOPIC)) == [LOST_NOTE.english]
    assert await bench.states() == {"r:0": "dead"}


async def test_an_answer_to_a_message_that_is_gone_is_sent_without_the_reference(
    bench: Bench,
) -> None:
    bench.adapter.failures += [AddressGone("no reply")]
    assert await bench.send(replace(outbound("r:0", "a", TOPIC), reply_to_id="7")) == ["a"]
    assert (bench.adapter.sent[0].place, bench.adapter.sent[0].reply_to_id) == (TOPIC, "")
    bench.adapter.failures += [AddressGone("no reply")] * 2
    await bench.send(replace(outbound("r:1", "b", TOPIC), reply_to_id="7"))
    assert (await bench.states())["r:1"] == "dead"
