"""The text of an answer while it is written: what of it may be shown, and how that looks."""

from dataclasses import dataclass
from typing import Final

from gateway.markdown.unfinished import close_unfinished
from gateway.message import Part
from gateway.people import Audience
from gateway.policy.response_filter import StreamFilter
from gateway.ports.renderer import Renderer
from gateway.render import render_unfinished, render_with

MAX_SOURCE: Final = 12_000
"""Characters of Markdown that are ever rendered while they are written; more wait for the end."""
MAX_PIECES: Final = 100_000
"""Pieces that wait to be read; an answer of a model has some thousands."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What can be shown: `length` characters of Markdown, of which `added` are new."""

    part: Part
    length: int
    added: str


class Page:
    """Takes pieces as they come and reads them only when somebody looks.

    In public rooms `passed` holds nothing that the response filter has not let through. One
    message is all that is ever shown: what would need a second one waits for the final answer.
    """

    def __init__(self, audience: Audience, renderer: Renderer) -> None:
        self._filter = StreamFilter(audience)
        self._renderer = renderer
        self._pieces: list[str] = []
        self._passed = ""
        self._full = False
        self._shown = 0
        self._sheet: Sheet | None = None

    def write(self, piece: str) -> None:
        """The model wrote this."""
        if len(self._pieces) < MAX_PIECES and not self._full:
            self._pieces.append(piece)

    def read(self) -> int:
        """Look at what was written; returns how many characters may be shown."""
        if self._pieces and not self._full:
            written, self._pieces = "".join(self._pieces), []
            self._passed += self._filter.feed(written)
            if len(self._passed) > MAX_SOURCE:
                self._passed = self._passed[:MAX_SOURCE]
                self._full = True
        return len(self._passed)

    async def sheet(self) -> Sheet | None:
        """Everything so far as one message; None when it shows nothing new."""
        if len(self._passed) == self._shown and self._sheet is not None:
            return self._sheet
        passed = self._passed
        parts = await render_unfinished(passed, self._renderer)
        if not parts:
            return None
        if len(parts) > 1:
            self._full, self._pieces = True, []
        self._sheet = Sheet(parts[0], len(passed), passed[self._shown :])
        return self._sheet

    def holding(self, sentence: str) -> Sheet:
        """A sentence in the place of text that is not there yet."""
        return Sheet(render_with(self._renderer, sentence)[0], 0, "")

    def showed(self, sheet: Sheet) -> None:
        """This is on the screen now."""
        self._shown = sheet.length
        self._sheet = Sheet(sheet.part, sheet.length, "")

    def closed(self, mark: str) -> list[Part]:
        """What was shown, and a mark that it ends there."""
        shown = close_unfinished(self._passed[: self._shown])
        return render_with(self._renderer, f"{shown}\n\n{mark}" if shown.strip() else mark)
