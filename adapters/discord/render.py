"""Discord's Markdown, so that it shows what was meant and nothing else.

Mentions in a text must not notify anybody. That is the sender's part (`allowed_mentions` with an
empty `parse`): it stops the notification and leaves every character as it is. Here the escapes
make `<@…>`, `<#…>` and the like show as the text they are.
"""

import re
from typing import Final

from gateway.markdown.text_renderer import BREAK, Mark, TextRenderer, text_parts, without_fences
from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    ItemList,
    Run,
    shown_address,
)
from gateway.message import Part

MAX_MESSAGE: Final = 2_000
"""`content` of Create Message: discord.com/developers/docs/resources/message. Discord counts code
points (discord-api-docs #1315); we count units, which is never less."""

_SPECIAL: Final = re.compile(r"([\\*_~`|\[<]|:(?=//))")
_LINE_START: Final = re.compile(r"(#{1,3} |-# |>>> |> |[-+] )")
_NUMBERED: Final = re.compile(r"^(\d{1,9})([.)] )")
_BACKTICKS: Final = re.compile(r"`+")
_LINKABLE: Final = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)
_ENCODED: Final = {"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E"}
_DEEPEST_HEADING: Final = 3

SPOILER: Final = "||"
BOLD: Final = "**"
ITALIC: Final = "_"
UNDERLINE: Final = "__"
STRIKE: Final = "~~"

_ENDS: Final = {
    SPOILER: re.compile(r"\|\|"),
    BOLD: re.compile(r"\*\*"),
    ITALIC: re.compile(r"[_*]"),
    UNDERLINE: re.compile(r"__"),
    STRIKE: re.compile(r"~~"),
}
"""The signs that end a mark, even where they stand in code."""


class _DiscordText(TextRenderer):
    """Writes Discord's Markdown."""

    bullet = "- "
    code_gap = BREAK

    def block(self, block: Block, indent: str = "") -> list[str]:
        """Discord counts by itself: numbers with gaps are written as text."""
        if isinstance(block, ItemList) and block.has_gaps and self is _TEXT:
            return _WITH_GAPS.block(block, indent)
        return super().block(block, indent)

    def heading(self, heading: Heading) -> list[str]:
        """Discord knows three levels, of one line each."""
        marker = "#" * min(heading.level, _DEEPEST_HEADING)
        return [f"{marker} {line}" for line in self.inline(heading.runs)]

    def code_block(self, code: CodeBlock) -> list[str]:
        """A fence. Three backticks inside would end it, and Discord has no longer fences; inline
        code of several lines, between one or two backticks, takes them unchanged."""
        ticks = _ticks(code.text) if "```" in code.text else ""
        if ticks:
            return _between(ticks, code.text).split("\n")
        return [f"```{code.language}", *without_fences(code.text).split("\n"), "```"]

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Link outermost; code and addresses, which cannot be escaped, in no mark of their own."""
        link = (("link", run.link),) if run.link and not run.is_bare_link else ()
        signs = (
            (SPOILER, run.spoiler),
            (BOLD, run.bold),
            (ITALIC, run.italic),
            (UNDERLINE, run.underline),
            (STRIKE, run.strike),
        )
        styles = (sign for sign, is_set in signs if is_set)
        if run.code or run.is_bare_link:
            styles = (sign for sign in styles if not _ENDS[sign].search(run.text))
        return (*link, *((sign, "") for sign in styles))

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """See `Marker`."""
        kind, address = mark
        if kind == "link":
            return _link(address, inner)
        if kind != ITALIC:
            return (kind, kind)
        return (f"{BREAK}*", "*") if after.isalnum() else ("_", "_")

    def text(self, text: str, *, line_start: bool) -> str:
        """Return literal text, with all of Discord's Markdown escaped."""
        escaped = _SPECIAL.sub(r"\\\1", text)
        if not line_start:
            return escaped
        stripped = escaped.lstrip()
        indent = escaped[: len(escaped) - len(stripped)]
        if _LINE_START.match(stripped):
            return f"{indent}\\{stripped}"
        return indent + _NUMBERED.sub(r"\1\\\2", stripped, count=1)

    def code(self, text: str) -> str:
        """Inline code between one or two backticks: three would begin a block."""
        ticks = _ticks(text)
        if not ticks:
            text, ticks = _BACKTICKS.sub(lambda run: " ".join(run[0]), text), "``"
        return _between(ticks, text)

    def address(self, address: str, *, alone: bool) -> str:
        """Bare, or in angle brackets where what follows would be read as part of it."""
        return address if alone else f"<{address}>"


def _ticks(code: str) -> str:
    """Return the backticks that inline code can stand between, empty if it holds one and two."""
    lengths = {len(run) for run in _BACKTICKS.findall(code)}
    return next((ticks for ticks in ("`", "``") if len(ticks) not in lengths), "")


def _between(ticks: str, code: str) -> str:
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _link(address: str, inner: str) -> tuple[str, str]:
    """A masked link; Discord takes http only, and none whose text looks like an address."""
    if _LINKABLE.fullmatch(address) and not any(sign in inner for sign in ("://", "[", "]")):
        encoded = "".join(_ENCODED.get(char, char) for char in address)
        return ("[", f"]({encoded})")
    return ("", f" ({shown_address(address)})")


class _WithGaps(_DiscordText):
    dot = "\\. "


_TEXT: Final = _DiscordText()
_WITH_GAPS: Final = _WithGaps()


def render(blocks: Document) -> list[Part]:
    """Discord Markdown, at most 2,000 characters a message."""
    return text_parts(blocks, _TEXT, MAX_MESSAGE)
