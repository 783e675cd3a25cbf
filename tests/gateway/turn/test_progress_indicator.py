"""Signs of life while a turn runs; none of them may fail it."""

import gc

import pytest
from structlog.testing import capture_logs

from gateway.errors import DeliveryError, Permanent, Transient
from gateway.message import Place
from gateway.turn.generate import AFTER, AGAIN_AFTER, FIRST_AFTER, MAX_SIGNS
from gateway.turn.services import Policies
from gateway.turn.turn_context import TurnContext
from tests.support.adapter import RecordingAdapter
from tests.support.gateway import gateway
from tests.support.messages import received


class Lively(RecordingAdapter):
    """Can type, and mark as read."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__()
        self.failure = failure
        self.signs: list[str] = []

    async def typing(self, place: Place, message_id: str) -> None:
        self.signs.append(f"typing {message_id}")
        if self.failure is not None:
            raise self.failure

    async def mark_read(self, place: Place, message_id: str) -> None:
        self.signs.append(f"read {message_id}")


async def test_a_quick_answer_shows_no_typing_indicator() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(60)
        assert [sign for sign in adapter.signs if sign.startswith("typing")] == []
        assert g.texts == ["answer"]


async def test_the_typing_indicator_is_shown_until_the_answer() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(FIRST_AFTER)
        assert adapter.signs == ["read m1", "typing m1"]
        await g.clock.advance(AGAIN_AFTER)
        assert adapter.signs.count("typing m1") == 2
        g.model.open.set()
        await g.rest()
        await g.clock.advance(10 * AGAIN_AFTER)
        assert adapter.signs.count("typing m1") == 2


async def test_an_ended_turn_is_freed_without_a_garbage_collection() -> None:
    gc.freeze()  # what other tests left is not looked through
    async with gateway(adapter=Lively()) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(FIRST_AFTER)
        gc.collect()
        gc.disable()
        try:
            before = _turns()
            g.model.open.set()
            await g.rest()
            assert before - _turns() == 1
        finally:
            gc.enable()


def _turns() -> int:
    return sum(isinstance(one, TurnContext) for one in gc.get_objects())


async def test_no_typing_indicator_is_sent_during_a_rate_limit() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.open.clear()
        place = received("hello").message.place
        line = g.services.deliverer.sender_for(place)
        assert line is not None
        line.pacer.penalise(place, FIRST_AFTER + AGAIN_AFTER + 1)
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(FIRST_AFTER + AGAIN_AFTER)
        assert "typing m1" not in adapter.signs
        await g.clock.advance(AGAIN_AFTER)
        assert "typing m1" in adapter.signs


async def test_the_typing_indicator_ends_after_a_limit() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(FIRST_AFTER + (MAX_SIGNS + 5) * AGAIN_AFTER)
        assert adapter.signs.count("typing m1") == MAX_SIGNS


@pytest.mark.parametrize("failure", [Transient("429"), KeyError("a bug")])
async def test_a_failing_indicator_does_not_affect_the_answer(failure: Exception) -> None:
    adapter = Lively(failure)
    async with gateway(adapter=adapter) as g:
        g.model.open.clear()
        with capture_logs() as logs:
            await g.take(received("hello", message_id="m1"))
            await g.clock.advance(FIRST_AFTER)
        g.model.open.set()
        await g.rest()
        assert adapter.signs.count("typing m1") == 1
        assert g.texts == ["answer"]
        errors = [line for line in logs if line["log_level"] == "error"]
        assert bool(errors) is not isinstance(failure, DeliveryError)


class Reacting(RecordingAdapter):
    """Can react."""

    def __init__(self, failure: DeliveryError | None = None) -> None:
        super().__init__()
        self.failure = failure
        self.signs: list[str] = []

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        self.signs.append(f"{emoji} {message_id}")
        if self.failure is not None:
            raise self.failure

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        self.signs.append(f"no {emoji} {message_id}")


EYES = Policies(acknowledge="👀")


async def test_a_reaction_is_shown_while_the_model_works() -> None:
    adapter = Reacting()
    async with gateway(adapter=adapter, policies=EYES) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(AFTER - 0.1)
        assert adapter.signs == []
        await g.clock.advance(60)
        assert adapter.signs == ["👀 m1"]
        g.model.open.set()
        await g.rest()
        assert adapter.signs == ["👀 m1", "no 👀 m1"]
        assert g.texts == ["answer"]
        assert await g.services.indicators.drain(0.1)


@pytest.mark.parametrize("policies", [EYES, Policies()])
async def test_a_quick_answer_or_an_empty_setting_shows_no_reaction(policies: Policies) -> None:
    adapter = Reacting()
    async with gateway(adapter=adapter, policies=policies) as g:
        g.model.open.set()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(60)
        assert adapter.signs == []


async def test_a_refused_reaction_does_not_affect_the_answer() -> None:
    adapter = Reacting(Permanent("an emoji that is unknown there"))
    async with gateway(adapter=adapter, policies=EYES) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(AFTER)
        g.model.open.set()
        await g.rest()
        assert adapter.signs == ["👀 m1"]
        assert g.texts == ["answer"]
