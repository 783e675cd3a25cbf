"""Signs of life, and the answer while it is written: neither may fail a turn, or leak into one."""

import pytest
from structlog.testing import capture_logs

from gateway.errors import DeliveryError, Transient
from gateway.message import Place
from gateway.people import Audience
from gateway.presence import AGAIN_AFTER, FIRST_AFTER, MAX_SIGNS
from tests.support.adapter import RecordingAdapter
from tests.support.gateway import gateway
from tests.support.messages import direct, place, received


class Lively(RecordingAdapter):
    """Can type, mark as read, and show an answer that grows."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__()
        self.failure = failure
        self.signs: list[str] = []
        self.live: list[str] = []

    async def typing(self, place: Place, message_id: str) -> None:
        self.signs.append(f"typing {message_id}")
        if self.failure is not None:
            raise self.failure

    async def mark_read(self, place: Place, message_id: str) -> None:
        self.signs.append(f"read {message_id}")

    async def show_live(self, place: Place, message_id: str, text: str) -> None:
        self.live.append(text)


async def test_a_quick_answer_needs_no_typing() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(60)
        assert [sign for sign in adapter.signs if sign.startswith("typing")] == []
        assert g.texts == ["answer"]


async def test_while_it_thinks_it_types_and_not_a_moment_longer() -> None:
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


async def test_typing_ends_some_time_even_if_the_turn_does_not() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.open.clear()
        await g.take(received("hello", message_id="m1"))
        await g.clock.advance(FIRST_AFTER + (MAX_SIGNS + 5) * AGAIN_AFTER)
        assert adapter.signs.count("typing m1") == MAX_SIGNS


@pytest.mark.parametrize("failure", [Transient("429"), KeyError("a bug")])
async def test_a_sign_that_fails_costs_nobody_the_answer(failure: Exception) -> None:
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


async def test_the_answer_grows_and_is_taken_away_before_the_final_one() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        await g.take(received("hello", at=direct()))
        assert adapter.live == ["answer", ""]
        assert g.texts == ["answer"]


async def test_in_a_public_room_nothing_is_shown_that_may_belong_to_a_secret() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.reply = lambda request: 'All clear. password: "hunter22" and more'
        await g.take(received("tell me", at=place(), mentions_bot=True))
        assert not any("hunter22" in shown for shown in adapter.live)
        await g.take(
            received(
                "tell me",
                message_id="m2",
                at=place("C2", Audience.PRIVATE_ROOM),
                mentions_bot=True,
            )
        )
        assert any("hunter22" in shown for shown in adapter.live)


async def test_a_turn_that_ends_at_once_takes_its_live_text_away() -> None:
    adapter = Lively()
    async with gateway(adapter=adapter) as g:
        g.model.reply = lambda request: (_ for _ in ()).throw(RuntimeError("broken model"))
        await g.take(received("hello"))
        assert adapter.live in ([], [g.texts[0], ""])
