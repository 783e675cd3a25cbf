"""Markdown to the messages of a platform: parse once, split by rendered size, write."""

from collections.abc import Sequence
from typing import Final

from gateway.markdown import limits, split
from gateway.markdown.boundaries import units
from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import PLAIN, TextRenderer
from gateway.markdown.tree import Block, Document
from gateway.message import Part
from gateway.render import slack, web
from gateway.render.discord import DISCORD
from gateway.render.telegram import TELEGRAM
from gateway.render.whatsapp import WHATSAPP

_TEXT: Final[dict[str, tuple[TextRenderer, int]]] = {
    "discord": (DISCORD, limits.DISCORD_MESSAGE),
    "telegram": (TELEGRAM, limits.TELEGRAM_MESSAGE),
    "whatsapp": (WHATSAPP, limits.WHATSAPP_MESSAGE),
}
_PLAIN: Final = (PLAIN, limits.PLAIN_MESSAGE)


def render(markdown: str, platform: str) -> list[Part]:
    """The messages that show `markdown` on a platform, each within the platform's limit.

    `Part.payload` is Discord Markdown, Telegram HTML, WhatsApp text or plain text, for "slack" a
    dict with `blocks` and the escaped fallback `text`, for "web" safe HTML. An unknown platform
    gets plain text. Empty when there is nothing to see. Never fails.
    """
    blocks = parse(markdown)
    if platform == "slack":
        return slack.parts(blocks)
    if platform == "web":
        return web.parts(blocks)
    renderer, limit = _TEXT.get(platform, _PLAIN)
    return _parts(blocks, renderer, limit)


def render_plain(markdown: str) -> str:
    """The whole text without markup, in one piece."""
    return PLAIN.document(parse(markdown))


def _parts(blocks: Document, renderer: TextRenderer, limit: int) -> list[Part]:
    whole = renderer.document(blocks)
    if max(units(whole), units(PLAIN.document(blocks))) <= limit:
        return _shown([(whole, blocks)])

    def measure(block: Block) -> int:
        return max(units("\n".join(writer.block(block))) for writer in (renderer, PLAIN))

    groups = split.pack(blocks, limit, measure)
    return _shown([(renderer.document(group), group) for group in groups])


def _shown(written: Sequence[tuple[str, Document]]) -> list[Part]:
    parts = (Part(text, PLAIN.document(blocks)) for text, blocks in written)
    return [part for part in parts if part.text.strip() and str(part.payload).strip()]
