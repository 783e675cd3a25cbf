"""Rendering of long texts off the event loop."""

import asyncio
from typing import Final

from gateway.markdown.unfinished import close_unfinished
from gateway.message import Part
from gateway.render.render import render

DIRECT: Final = 500
"""Characters that are rendered at once: the worst known text takes 80 us for each of them, and to
go to a thread and back takes less than a millisecond."""


async def render_off_loop(markdown: str, dialect: str) -> list[Part]:
    """Like `render`. A long text does not hold the event loop: rendering is Python code without
    long calls, so that the interpreter changes threads every 5 ms."""
    if len(markdown) <= DIRECT:
        return render(markdown, dialect)
    return await asyncio.to_thread(render, markdown, dialect)


async def render_unfinished(markdown: str, dialect: str) -> list[Part]:
    """A text that is still being written, with its open marks closed, rendered in the same way."""
    if len(markdown) <= DIRECT:
        return render(close_unfinished(markdown), dialect)
    return await asyncio.to_thread(lambda: render(close_unfinished(markdown), dialect))
