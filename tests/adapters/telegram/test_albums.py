"""Pictures that people sent together arrive as one message, also when they come in pieces."""

from typing import Any

from adapters.telegram.messages import TelegramExtras
from adapters.telegram.parse import parse
from adapters.telegram.receive import album_of, merged
from gateway.authorship import Material
from gateway.message import CommandInvoked, InboundEvent, MessageReceived
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from simulators.base import SimFile
from tests.adapters.telegram.harness import connected
from tests.adapters.telegram.updates import GROUP, ME, entity, message, update
from tests.support.adapter_context import EventRecorder, unavailable
from tests.support.clock import FakeClock
from tests.support.waiting import eventually


def part(number: int, caption: str = "", **more: Any) -> dict[str, Any]:
    photo = [{"file_id": f"p{number}", "width": 9, "height": 9}]
    body = message(photo=photo, media_group_id="g", message_id=number, **more)
    return {"update_id": number, "message": body | ({"caption": caption} if caption else {})}


def events_of(*updates: dict[str, Any]) -> list[InboundEvent]:
    return merged([event for one in updates for event in parse(one, ME)])


def files(event: InboundEvent) -> list[str]:
    assert isinstance(event, MessageReceived)
    return [one.ref for one in event.message.attachments]


def test_the_parts_become_one_message_under_the_first_id() -> None:
    (whole,) = events_of(part(1), part(2, "look #trip"), part(3))
    assert isinstance(whole, MessageReceived)
    assert (whole.event_id, whole.message.id, whole.message.content) == ("1", "1", "look #trip")
    assert files(whole) == ["p1", "p2", "p3"]


def test_several_captions_are_told_with_their_files() -> None:
    (whole,) = events_of(part(1, "before"), part(2), part(3, "after"))
    assert isinstance(whole, MessageReceived)
    assert whole.message.content == "before\nafter"
    told = "Album of 3 files\nfile 1: before\nfile 3: after"
    assert whole.message.material == (Material("card", told),)
    (one,) = events_of(part(1, "before"), part(2))
    assert isinstance(one, MessageReceived)
    assert one.message.material == ()


def test_a_command_as_caption_has_all_pictures() -> None:
    marks = [entity("/ask what?", "/ask", "bot_command")]
    (whole,) = events_of(part(1), part(2, "/ask what?", caption_entities=marks))
    assert isinstance(whole, CommandInvoked)
    assert (whole.event_id, whole.arguments) == ("1", "what?")
    assert whole.message is not None
    assert len(whole.message.attachments) == 2
    extras = unpacked(TelegramExtras, whole.message.extras)
    assert extras.is_command


def test_a_single_part_is_unchanged() -> None:
    alone = parse(part(1, "x"), ME)
    assert merged(alone) == alone
    assert merged([]) == []


def test_an_album_belongs_to_its_chat() -> None:
    assert album_of(part(1)) == "11/g"
    assert album_of(part(1, chat=GROUP)) == "-100200/g"
    assert album_of(update(text="x")) == ""
    assert album_of({"message": {"media_group_id": 7}}) == ""


async def test_late_parts_are_waited_for_while_other_chats_continue() -> None:
    async with connected("polling") as bench:
        ann = bench.sim.person("Ann")
        bench.sim.direct(ann)
        queue = bench.sim.queue
        queue.add("message", 11, part(1, "first")["message"])
        await eventually(lambda: queue.delivered >= 2)
        queue.add("message", 11, part(2)["message"])
        bob = bench.sim.person("Bob")
        await bench.sim.say(bob, bench.sim.direct(bob), "meanwhile")
        events = await bench.sink.wait(2)
        assert isinstance(events[0], MessageReceived)
        assert events[0].message.content == "meanwhile"
        assert files(events[1]) == ["p1", "p2"]
        await eventually(lambda: not queue.waiting)


async def test_an_album_is_not_confirmed_before_it_is_stored() -> None:
    async with connected("polling") as bench:
        bench.sim.queue.add("message", 11, part(1)["message"])
        await eventually(lambda: bench.sim.queue.delivered >= 1)
        assert bench.sink.events == []
        await bench.adapter.disconnect()
        assert len(bench.sim.queue.waiting) == 1


async def test_an_album_of_the_webhook_survives_a_failing_store() -> None:
    clock = FakeClock()
    async with connected("webhook", EventRecorder(unavailable(2)), clock=clock) as bench:
        ann = bench.sim.person("Ann")
        pictures = tuple(SimFile(f"{n}.png", "image/png", b"\x89PNG") for n in range(3))
        await bench.sim.say(ann, bench.sim.direct(ann), "mine", files=pictures)
        await eventually(lambda: bench.sim.webhook.posted == 3 and not bench.sim.queue.waiting)
        assert bench.sink.events == []
        await clock.advance(60)
        (event,) = await bench.sink.wait()
        assert len(files(event)) == 3
        assert isinstance(event, MessageReceived)
        assert event.message.place.audience is Audience.DIRECT


async def test_a_repeated_part_makes_no_second_message() -> None:
    clock = FakeClock()
    async with connected("webhook", clock=clock) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        pictures = tuple(SimFile(f"{n}.png", "image/png", b"\x89PNG") for n in range(2))
        bench.sim.duplicate_next()
        await bench.sim.say(ann, room, "mine", files=pictures)
        second = bench.sim.queue.waiting[1]
        await eventually(lambda: not bench.sim.queue.waiting)
        await clock.advance(5)
        await bench.sink.wait()
        posted = bench.sim.webhook.posted
        bench.sim.webhook.deliver(second)
        await eventually(lambda: bench.sim.webhook.posted > posted)
        await bench.sim.say(ann, room, "next")
        events = await bench.sink.wait(2)
        assert [len(files(event)) for event in events] == [2, 0]
