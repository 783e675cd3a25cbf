"""Renders Markdown as the messages of a platform (parsed here, written by the platform's renderer),
and addresses them as sends."""

import asyncio
import re
from functools import lru_cache
from typing import Final

import structlog

from gateway.markdown.parse import literally, parse
from gateway.markdown.text_renderer import Renderer, plain_parts
from gateway.markdown.tree import Document
from gateway.markdown.unfinished import close_unfinished
from gateway.message import Outbound, OutboundFile, Part, Place, ShownReply, send_key
from gateway.platforms import discover, renderer_of
from gateway.ports import Capabilities

DIRECT: Final = 500
"""Characters that are rendered at once: the worst known text takes 80 us for each of them, and to
go to a thread and back takes less than a millisecond."""

log = structlog.get_logger(__name__)


def render(markdown: str, platform: str) -> list[Part]:
    """Return the messages that show `markdown` on a platform, each within the platform's limit.

    The manifest of the installed platform names the renderer. A platform without one, or that is
    not installed, gets plain text. Raises `ConfigurationError` if the renderer cannot be imported;
    no text is refused.
    """
    try:
        renderer = _installed(platform)
    except LookupError:
        renderer = plain_parts
    return render_with(renderer, markdown)


def render_with(renderer: Renderer, markdown: str) -> list[Part]:
    """Like `render`. A failing renderer is logged, and the text is sent as plain text; so is a
    text that cannot be parsed."""
    blocks = _parsed(markdown)
    try:
        return renderer(blocks)
    except Exception as error:  # noqa: BLE001 - a stranger's renderer may raise anything
        log.error("renderer_failed", renderer=str(renderer), error=type(error).__name__)
        return plain_parts(blocks)


def _parsed(markdown: str) -> Document:
    """Parse a text; one that the parser fails on, by an error of ours, is shown literally."""
    try:
        return parse(markdown)
    except Exception as error:  # noqa: BLE001 - an answer is never lost
        log.error("parser_failed", error=type(error).__name__)
        return literally(markdown)


async def render_off_loop(markdown: str, renderer: Renderer) -> list[Part]:
    """Like `render_with`. A long text does not hold the event loop: rendering is Python code
    without long calls, so that the interpreter changes threads every 5 ms."""
    if len(markdown) <= DIRECT:
        return render_with(renderer, markdown)
    return await asyncio.to_thread(render_with, renderer, markdown)


async def render_unfinished(markdown: str, renderer: Renderer) -> list[Part]:
    """Render an unfinished text, with its open marks closed."""
    if len(markdown) <= DIRECT:
        return render_with(renderer, close_unfinished(markdown))
    return await asyncio.to_thread(lambda: render_with(renderer, close_unfinished(markdown)))


@lru_cache
def _installed(platform: str) -> Renderer:
    """Return the renderer of an installed platform. Raises `LookupError` if it is not installed."""
    return renderer_of(discover().manifests[platform])


_ALONE: Final = re.compile(r"`(/[a-z]{1,32})`")


def with_commands(markdown: str, can: Capabilities) -> str:
    """Return a text of the program as a platform shows its commands: outside code, where one can
    tap them there."""
    return _ALONE.sub(r"\1", markdown) if can.tappable_commands else markdown


def address(
    reply_id: str,
    place: Place,
    parts: list[Part],
    reply: ShownReply,
    *,
    reply_to_id: str = "",
    reply_handle: str = "",
    person: str = "",
) -> tuple[Outbound, ...]:
    """The sends of one reply, in order: the parts, the last one with the buttons, then the files.

    Keys are "<reply>:<index>", the same whenever the same reply is addressed again.
    """
    pieces: list[tuple[Part | None, OutboundFile | None]] = [(part, None) for part in parts]
    pieces += [(None, file) for file in reply.files]
    buttons = reply.buttons
    return tuple(
        Outbound(
            key=send_key(reply_id, index),
            place=place,
            part=part,
            file=file,
            buttons=buttons if index == len(parts) - 1 else (),
            buttons_until=reply.buttons_until if index == len(parts) - 1 else None,
            reply_to_id=reply_to_id if index == 0 else "",
            private_to=reply.private_to,
            reply_handle=reply_handle,
            person=person,
        )
        for index, (part, file) in enumerate(pieces)
    )
