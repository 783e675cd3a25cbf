"""No text that people can write makes the steps that read it slow."""

import asyncio
import functools
import gc
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import Renderer, plain_parts
from gateway.message import Part
from gateway.platforms import discover, renderer_of
from gateway.render import DIRECT, render_off_loop
from tests.patterns.hostile import PUMPS, STEPS, long
from tests.support.processor_time import seconds

TIMES_AS_MANY = 6
"""Calls that four times the text may take, in times: what grows with the square takes sixteen."""
FEW = 3_000
"""Calls below which the ratio says nothing."""
MOST_SECONDS = 0.1


def calls(step: Any, text: str) -> int:
    """Calls of functions that a step makes, those of C included."""
    count = 0

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        del frame, arg
        count += event in ("call", "c_call")

    outer = sys.getprofile()
    sys.setprofile(counted)
    try:
        step(text)
    finally:
        sys.setprofile(outer)
    return count


@pytest.mark.parametrize("name", STEPS)
def test_work_grows_linearly_with_the_text(name: str) -> None:
    size, step = STEPS[name]
    step(long("a ", size))
    for pump in PUMPS:
        many = calls(step, long(pump, size // 4))
        if many > FEW:
            few = calls(step, long(pump, size // 16))
            assert many <= max(few * TIMES_AS_MANY, FEW), pump


@pytest.mark.nightly
@pytest.mark.parametrize("name", STEPS)
def test_the_longest_text_takes_at_most_100_ms(name: str) -> None:
    size, step = STEPS[name]
    step(long("a ", size))
    for pump in PUMPS:
        text = long(pump, size)
        assert seconds(functools.partial(step, text), MOST_SECONDS) <= MOST_SECONDS, pump


async def test_a_long_text_is_rendered_outside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    def render(renderer: Renderer, markdown: str) -> list[Part]:
        threads.append(threading.get_ident())
        return renderer(parse(markdown))

    monkeypatch.setattr("gateway.render.render_with", render)
    await render_off_loop("a" * DIRECT, plain_parts)
    await render_off_loop("a" * (DIRECT + 1), plain_parts)
    assert [thread == threading.get_ident() for thread in threads] == [True, False]


@pytest.mark.nightly
@pytest.mark.parametrize("pump", ["_;", "[a](", "**a ", "> ", "||", "`a", "a|b\n-|-\n"])
@pytest.mark.parametrize("platform", ["discord", "slack", "telegram", "whatsapp", "web"])
@pytest.mark.usefixtures("frozen_heap")
async def test_rendering_never_blocks_the_event_loop(pump: str, platform: str) -> None:
    assert min([await held(long(pump, 16_000), platform) for _ in range(3)]) <= MOST_SECONDS


@pytest.fixture
def frozen_heap() -> Iterator[None]:
    """The heap as `parley run` has it: what was imported is not collected again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


async def held(markdown: str, platform: str) -> float:
    """The longest time in seconds for which the loop did not turn."""
    rendering = asyncio.create_task(
        render_off_loop(markdown, renderer_of(discover().manifests[platform]))
    )
    longest, before = 0.0, time.monotonic()
    while not rendering.done():
        await asyncio.sleep(0.001)
        now = time.monotonic()
        longest, before = max(longest, now - before), now
    await rendering
    return longest
