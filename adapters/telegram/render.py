"""Telegram's HTML: core.telegram.org/bots/api#html-style.

Code stands in no other style and holds none, a quote holds no quote and no code block: what
Telegram says of nesting. Everything that is not a tag of ours is escaped.
"""

import re
from collections.abc import Sequence
from typing import Final

from gateway.immutable import replace
from gateway.markdown.text_renderer import Mark, TextRenderer, text_parts
from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    QuoteBlock,
    Run,
    Table,
    shown_address,
)
from gateway.message import Part

MAX_MESSAGE: Final = 4_096
"""`text` of sendMessage, "after entities parsing": core.telegram.org/bots/api#sendmessage. We hold
the HTML itself below it, which is never shorter than what Telegram counts."""

_LINKABLE: Final = re.compile(r"https?:[^\s<>]+", re.IGNORECASE)
"""Without `tg:`, because `tg://user?id=…` calls the person of that id, and without `mailto:` and
`tel:`, which Telegram reads as the name of a web server; it finds mail addresses and telephone
numbers in the text by itself."""
_LANGUAGE_OPEN: Final = '<pre><code class="language-{}">'


class _TelegramText(TextRenderer):
    """Writes the HTML subset of the Bot API."""

    def heading(self, heading: Heading) -> list[str]:
        """Bold: there are no headings."""
        runs = tuple(_bold(run) for run in heading.runs)
        return self.inline(runs)

    def code_block(self, code: CodeBlock) -> list[str]:
        """A pre block, its language as a class."""
        opening, closing = "<pre>", "</pre>"
        if code.language:
            opening, closing = _LANGUAGE_OPEN.format(escape(code.language)), "</code></pre>"
        return f"{opening}{escape(code.text)}{closing}".split("\n")

    def quote(self, quote: QuoteBlock) -> list[str]:
        """Quotes with code blocks between them where the quote holds some."""
        out: list[str] = []
        inside: list[Block] = []
        for block in quote.blocks:
            if isinstance(block, CodeBlock | Table):
                out += [*_quoted(inside), *self.block(block)]
                inside = []
            else:
                inside.append(block)
        return out + _quoted(inside)

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Tags from the outermost in; a link that is code is a link."""
        marks: list[Mark] = []
        if run.link and not run.is_bare_link:
            marks.append(("a", run.link))
        if run.code:
            return tuple(marks) or (("code", ""),)
        tags = (
            ("tg-spoiler", run.spoiler),
            ("b", run.bold),
            ("i", run.italic),
            ("u", run.underline),
            ("s", run.strike),
        )
        return (*marks, *((tag, "") for tag, is_set in tags if is_set))

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """See `inline.Marker`; an address that Telegram does not open is written out."""
        tag, address = mark
        if tag != "a":
            return (f"<{tag}>", f"</{tag}>")
        if _LINKABLE.fullmatch(address):
            return (f'<a href="{escape(address)}">', "</a>")
        return ("", f" ({escape(shown_address(address))})")

    def text(self, text: str, *, line_start: bool) -> str:
        """Literal text."""
        return escape(text)

    def code(self, text: str) -> str:
        """Inline code; its tag is a mark."""
        return escape(text)

    def address(self, address: str, *, alone: bool) -> str:
        """Bare where Telegram finds the end of an address by itself."""
        shown = escape(address)
        return shown if alone else f'<a href="{shown}">{shown}</a>'


def escape(text: str) -> str:
    """The four characters that mean something in HTML, as entities."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def _bold(run: Run) -> Run:
    return replace(run, bold=True)


def _quoted(blocks: Sequence[Block]) -> list[str]:
    if not blocks:
        return []
    return f"<blockquote>{_INSIDE_QUOTE.document(blocks)}</blockquote>".split("\n")


class _InsideQuote(_TelegramText):
    """Writes the content of a quote; the first character of its lines marks an inner quote."""

    def quote(self, quote: QuoteBlock) -> list[str]:
        """Lines that begin like quoted mail."""
        return [f"&gt; {line}" for line in self.document(quote.blocks).split("\n")]

    def code_block(self, code: CodeBlock) -> list[str]:
        """Each line as inline code."""
        lines = escape(code.text).split("\n")
        return [f"<code>{line}</code>" if line.strip() else line for line in lines]


_INSIDE_QUOTE: Final = _InsideQuote()
_TEXT: Final = _TelegramText()


def render(blocks: Document) -> list[Part]:
    """Telegram HTML, at most 4,096 units a message with its tags."""
    return text_parts(blocks, _TEXT, MAX_MESSAGE)
