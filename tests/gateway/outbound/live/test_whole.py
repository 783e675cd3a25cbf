"""From the first piece to the delivered answer, on a platform that fails as it likes."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.message import Outbound, Part
from gateway.outbound.live.answer import (
    HELD,
    HELD_AFTER,
    LAST_WAIT,
    SLOW,
    SLOW_AFTER,
    WORKING,
)
from gateway.outbound.retry_decision import REPEAT_NOTE
from gateway.ports import LiveStyle, LiveView, SendPace
from gateway.render import render
from tests.gateway.outbound.live.bench import (
    EDITED,
    PIECES,
    WHOLE,
    Bench,
    Screen,
    closed,
    on_bench,
    write,
)
from tests.support.clock import settle
from tests.support.messages import place
from tests.support.property_cases import cases

TROUBLE = st.sampled_from(["", "", "", "429", "cut before", "cut after", "refused", "slow"])


@settings(max_examples=cases(250), deadline=None)
@given(
    troubles=st.lists(TROUBLE, max_size=12),
    gap=st.sampled_from([0.0, 0.3, 1.0, 5.0]),
    fades=st.booleans(),
    paced=st.booleans(),
)
def test_the_answer_is_shown_exactly_once_under_any_failure(
    troubles: list[str], gap: float, fades: bool, paced: bool
) -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, gap, PIECES)
        await closed(live, bench.clock)
        await bench.deliver(live)
        *others, above, answer = ["", *bench.screen.messages.values()]
        assert answer == WHOLE
        if above == REPEAT_NOTE.english:
            assert {"cut before", "cut after", "slow"} & {*troubles}
        else:
            others.append(above)
            assert not bench.screen.orphans, "a message that may be left is announced"
        assert len(others) - 1 <= bench.screen.orphans, "nothing but the answer is left"
        assert await bench.outbox.waiting(10) == []

    style = LiveStyle(pause=1.0, fades=30.0 if fades else 0.0)
    pace = SendPace(30.0, 1.0, 20.0) if paced else SendPace()
    asyncio.run(on_bench(test, style=style, troubles=troubles, pace=pace))


async def test_a_quick_answer_needs_no_live_request() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.05, PIECES)
        await live.close()
        await bench.deliver(live)
        assert [kind for kind, _ in bench.screen.asked] == ["send"]

    await on_bench(test)


async def test_text_that_was_not_shown_can_be_withdrawn_and_shown_text_cannot() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await live.on_text("A first beginning that breaks off")
        assert live.take_back("")
        await write(live, bench.clock, 0.5, PIECES)
        assert live.visible
        assert not live.take_back("")
        await live.close()
        assert not any("first beginning" in text for text in bench.screen.messages.values())
        await bench.deliver(live)

    await on_bench(test)


@pytest.mark.parametrize("style", [EDITED, LiveStyle(pause=1.0, fades=30.0)])
async def test_a_wait_for_the_model_is_shown_after_some_seconds(style: LiveStyle) -> None:
    async def test(bench: Bench) -> None:
        text = render(HELD.english, "discord")[0].text
        live = bench.answer(place())
        live.begin()
        live.waits("again")
        await bench.clock.advance(HELD_AFTER - 0.1)
        assert bench.screen.asked == []
        await bench.clock.advance(0.2)
        assert text in (*bench.screen.messages.values(), bench.screen.draft)
        live.waits("again")
        await bench.clock.advance(60.0)
        questions = [kind for kind, _ in bench.screen.asked]
        assert questions == ["post"] if not style.fades else set(questions) == {"draft"}
        assert live.take_back(""), "nothing of the answer was shown"
        await write(live, bench.clock, 0.5, PIECES)
        await closed(live, bench.clock)
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [WHOLE]

    await on_bench(test, style=style)


@pytest.mark.parametrize("style", [LiveStyle(pause=1.0), LiveStyle(pause=1.0, fades=30.0)])
async def test_a_slow_first_token_is_announced_and_the_answer_shown_at_once(
    style: LiveStyle,
) -> None:
    async def test(bench: Bench) -> None:
        slow, working = (render(each.english, "discord")[0].text for each in (SLOW, WORKING))
        live = bench.answer(place())
        live.begin()
        live.waits("model")
        await bench.clock.advance(SLOW_AFTER - 0.1)
        assert bench.screen.asked == []
        await bench.clock.advance(0.2)
        assert slow in (*bench.screen.messages.values(), bench.screen.draft)
        live.waits("working")
        await bench.clock.advance(2.0)
        assert working in (*bench.screen.messages.values(), bench.screen.draft)
        assert live.take_back(""), "nothing of the answer was shown"
        await live.on_text("The answer begins with this sentence. ")
        await bench.clock.advance(1.5)
        assert "The answer begins" in str((bench.screen.messages, bench.screen.draft))
        await closed(live, bench.clock)
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [WHOLE]

    await on_bench(test, style=style)


async def test_text_before_the_announcement_is_not_held_back_by_it() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        live.begin()
        live.waits("model")
        await bench.clock.advance(2.0)
        await live.on_text("The answer begins with this sentence. ")
        await bench.clock.advance(0.5)
        assert "The answer begins" in str(bench.screen.messages)
        await bench.clock.advance(SLOW_AFTER)
        assert len(bench.screen.asked) == 1
        await live.close()

    await on_bench(test)


async def test_a_wait_is_not_shown_where_text_can_only_be_appended() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        live.begin()
        live.waits("again")
        await bench.clock.advance(60.0)
        assert bench.screen.asked == []
        await live.close()

    await on_bench(test, style=LiveStyle(pause=1.0, appends=True))


async def test_a_wait_without_an_answer_is_replaced_by_a_sentence() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        live.begin()
        live.waits("again")
        await bench.clock.advance(90.0)
        await closed(live, bench.clock)
        await bench.deliver(live, "I can't reach my language model right now.")
        assert list(bench.screen.messages.values()) == [
            "I can't reach my language model right now."
        ]

    await on_bench(test)


async def test_edits_keep_the_pause_of_the_platform() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.2, PIECES * 5)
        times = [at for _, at in bench.screen.asked]
        assert len(times) > 5
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert min(gaps) >= 1.1 - 1e-6
        await live.close()

    await on_bench(test, style=LiveStyle(pause=1.1))


async def test_in_a_group_the_rate_of_the_room_is_reserved_for_answers() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES * 20)
        in_a_minute = [at for _, at in bench.screen.asked if at <= 60.0]
        assert len(in_a_minute) <= 20 + 4
        await live.close()
        began = bench.clock.monotonic()
        await bench.deliver(live)
        final = bench.screen.asked[-1]
        assert final[0] == "final edit"
        assert final[1] - began <= 1.0, "the answer waits for one interval of the chat at most"

    await on_bench(test, pace=SendPace(30.0, 1.0, 20.0))


async def test_no_live_text_is_shown_between_parts_of_an_earlier_answer() -> None:
    async def test(bench: Bench) -> None:
        earlier = tuple(Outbound(f"r0:{n}", place(), Part(f"p{n}", f"p{n}")) for n in range(4))
        await bench.outbox.add(earlier)
        bench.deliverer.submit(earlier)
        live = bench.answer(place())
        await write(live, bench.clock, 1.0, PIECES)
        await live.close()
        kinds = [kind for kind, _ in bench.screen.asked]
        assert kinds[:4] == ["send"] * 4
        assert "post" in kinds[4:]

    await on_bench(test, pace=SendPace(0.0, 1.0, 0.0))


async def test_a_hanging_edit_delays_the_answer_for_a_limited_time() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.4, PIECES[:4])
        bench.screen.troubles = ["slow"]
        await write(live, bench.clock, 0.4, PIECES[4:])
        began = bench.clock.monotonic()
        await closed(live, bench.clock)
        assert bench.clock.monotonic() - began <= LAST_WAIT + 1.0
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [WHOLE]

    await on_bench(test)


async def test_a_private_refusal_does_not_replace_a_public_message() -> None:
    async def test(bench: Bench) -> None:
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES[:4])
        await live.close()
        whisper = Outbound("r1:0", place(), Part("limit", "limit"), private_to="ada")
        closing, last = live.finished((whisper,))
        assert last == whisper
        assert closing.replaces in bench.screen.messages
        assert closing.part is not None
        assert closing.part.text.endswith("(The answer was interrupted here.)")
        assert closing.key.rpartition(":")[0] != "r1", "one can fail without the other"

    await on_bench(test)


async def test_an_exception_in_an_adapter_disables_only_the_live_text() -> None:
    class Broken(Screen):
        async def show_live(self, view: LiveView) -> str:
            raise RuntimeError("a bug")

    async def test(bench: Bench) -> None:
        bench.screen.__class__ = Broken
        live = bench.answer(place())
        await write(live, bench.clock, 0.5, PIECES)
        await live.close()
        await bench.deliver(live)
        assert list(bench.screen.messages.values()) == [REPEAT_NOTE.english, WHOLE]
        await settle()

    await on_bench(test)
