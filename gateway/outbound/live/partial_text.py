"""The text of a live answer: which part may be shown, and how it is rendered."""

from typing import Final

from msgspec import Struct

from gateway.markdown.text_renderer import Renderer
from gateway.markdown.unfinished import close_unfinished
from gateway.message import Part
from gateway.people import Audience
from gateway.policy.response_filter import StreamFilter, joins_secret
from gateway.render import render_unfinished, render_with

MAX_SOURCE: Final = 12_000
"""Characters of Markdown that are rendered live; the rest waits for the final answer."""
MAX_PIECES: Final = 100_000
"""Unread pieces; an answer of a model has some thousands."""


class RenderedText(Struct, frozen=True):
    """A rendered state: `length` characters of Markdown, of which `added` are new."""

    part: Part
    length: int
    added: str


class PartialText:
    """Collects the pieces of an answer and reads them on demand.

    In public rooms it holds only text that the response filter released. A live answer is always
    one message: text that would need a second one waits for the final answer.
    """

    def __init__(self, audience: Audience, renderer: Renderer) -> None:
        self._audience = audience
        self._filter = StreamFilter(audience)
        self._renderer = renderer
        self._pieces: list[str] = []
        self._passed = ""
        self._full = False
        self._shown = 0
        self._rendered: RenderedText | None = None

    def write(self, piece: str) -> None:
        """Add a piece of the answer."""
        if len(self._pieces) < MAX_PIECES and not self._full:
            self._pieces.append(piece)

    def read(self) -> int:
        """Read the new pieces; returns how many characters may be shown."""
        if self._pieces and not self._full:
            written, self._pieces = "".join(self._pieces), []
            self._passed += self._filter.feed(written)
            if len(self._passed) > MAX_SOURCE:
                self._passed = self._passed[:MAX_SOURCE]
                self._full = True
        return len(self._passed)

    async def render(self) -> RenderedText | None:
        """Render the text so far as one message; None if it is empty. In public rooms a text waits
        in which rendering makes what may be a secret: it is joined of several parts, for example.
        """
        if len(self._passed) == self._shown and self._rendered is not None:
            return self._rendered
        passed = self._passed
        parts = await render_unfinished(passed, self._renderer)
        if len(parts) > 1:
            self._full, self._pieces = True, []
        if not parts or self._joins_secret(parts[0].text, passed):
            return self._rendered
        self._rendered = RenderedText(parts[0], len(passed), passed[self._shown :])
        return self._rendered

    def _joins_secret(self, seen: str, passed: str) -> bool:
        # Text for a second message does not continue the first one.
        return joins_secret(f"{seen} " if self._full else seen, passed, self._audience)

    def placeholder(self, sentence: str) -> RenderedText:
        """A sentence in the place of text that is not there yet."""
        return RenderedText(render_with(self._renderer, sentence)[0], 0, "")

    def mark_shown(self, rendered: RenderedText) -> None:
        """Record that this state is shown."""
        self._shown = rendered.length
        self._rendered = RenderedText(rendered.part, rendered.length, "")

    def closed(self, mark: str) -> list[Part]:
        """Render the text that was shown, with a mark at its end."""
        shown = close_unfinished(self._passed[: self._shown])
        return render_with(self._renderer, f"{shown}\n\n{mark}" if shown.strip() else mark)
