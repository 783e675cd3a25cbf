"""Renders an answer for a terminal: plain text, with headings underlined and bold text in
asterisks."""

from typing import Final

from gateway.markdown.text_renderer import Mark, TextRenderer, text_parts
from gateway.markdown.tree import Document, Heading, Run
from gateway.message import Part

MAX_MESSAGE: Final = 4_000
"""UTF-16 units of one message; a longer answer becomes several."""


class _TerminalText(TextRenderer):
    """Overrides of `TextRenderer`, which writes plain text."""

    bullet = "* "

    def heading(self, heading: Heading) -> list[str]:
        """The lines of a heading, and a line below them."""
        lines = self.inline(heading.runs)
        return [*lines, "=" * max(map(len, lines))]

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Bold beside what plain text marks."""
        return (*super().marks(run), *((("bold", ""),) if run.bold else ()))

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """Return the texts before and after a marked text."""
        return ("*", "*") if mark[0] == "bold" else super().pair(mark, inner, before, after)


_TEXT: Final = _TerminalText()


def render(blocks: Document) -> list[Part]:
    """The messages of an answer."""
    return text_parts(blocks, _TEXT, MAX_MESSAGE)
