"""Renders an answer for the web page."""

from typing import Final

from gateway.markdown import split
from gateway.markdown.html_renderer import document
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import Document
from gateway.message import Part

MAX_MESSAGE: Final = 200_000
"""Characters of HTML of one message on the web page, well below what it takes. Ours."""


def render(blocks: Document) -> list[Part]:
    """One part but for a huge text: the page scrolls."""
    groups = split.pack(blocks, MAX_MESSAGE, lambda block: len(document((block,))))
    written = (Part(document(group), PLAIN.document(group)) for group in groups)
    return [part for part in written if part.text.strip()]
