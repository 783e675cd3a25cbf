"""WhatsApp's marks: faq.whatsapp.com/539178204879377.

There is no escape. Text that would be read as marked, an address as well, is shown as inline code,
which keeps every character; a line that would be read as a quote or an item begins with an
invisible space.
"""

import re
import unicodedata
from typing import Final

from gateway.immutable import replace
from gateway.markdown.text_renderer import (
    BREAK,
    Mark,
    TextRenderer,
    marked_lines,
    text_parts,
    without_fences,
)
from gateway.markdown.tree import CodeBlock, Document, Heading, Inline, Run, shown_address
from gateway.message import Part

MAX_MESSAGE: Final = 4_096
"""`text.body`: developers.facebook.com/docs/whatsapp/cloud-api/reference/messages."""

_LINE_START: Final = re.compile(r"([-*>] |\d{1,9}\. )")
_SIGNS: Final = {"*": "bold", "_": "italic", "~": "strike"}
_OPENS: Final = {sign: re.compile(rf"(?<!\w)[{sign}](?=\S)") for sign in _SIGNS}
_CLOSES: Final = {sign: re.compile(rf"(?<=\S)[{sign}](?!\w)") for sign in _SIGNS}
_WORD: Final = re.compile(rf"[^\s`{BREAK}]+")


class _WhatsAppText(TextRenderer):
    """Writes WhatsApp's marks; `careful` are the signs that its text must not show bare."""

    def __init__(self, careful: frozenset[str] = frozenset()) -> None:
        self._careful = careful

    bullet = "- "
    code_gap = BREAK

    def inline(self, runs: Inline) -> list[str]:
        """The lines of inline text, careful with signs that would be taken for marks."""
        runs = _marks_inside_punctuation(runs)
        careful = frozenset(sign for sign in _SIGNS if _would_mark(sign, runs))
        return marked_lines(runs, _WhatsAppText(careful) if careful else self)

    def heading(self, heading: Heading) -> list[str]:
        """Bold: there are no headings."""
        return self.inline(tuple(replace(run, bold=True) for run in heading.runs))

    def code_block(self, code: CodeBlock) -> list[str]:
        """Monospace; there are no languages."""
        return ["```", *without_fences(code.text).split("\n"), "```"]

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Return marked text. Spoilers cannot be hidden; code has no other mark."""
        link = (("link", run.link),) if run.link and not run.is_bare_link else ()
        if run.code:
            return link
        signs = ((sign, "") for sign in _SIGNS if _is_marked(sign, run))
        return (*link, *signs)

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """Marks work around whole words only, and around text that has no such sign itself."""
        kind, address = mark
        if kind == "link":
            return ("", f" ({self.address(shown_address(address), alone=False)})")
        if kind in inner:
            return ("", "")
        if kind == "~":  # without its mark, a struck-out text would be said
            return (f" {kind}"[not before.isalnum() :], f"{kind} "[: 1 + after.isalnum()])
        return ("", "") if before.isalnum() or after.isalnum() else (kind, kind)

    def text(self, text: str, *, line_start: bool) -> str:
        """Literal text."""
        if "`" in text:
            text = text.replace("`", f"{BREAK}`{BREAK}")
        if self._careful:
            text = _WORD.sub(self._as_code, text)
        if line_start and _LINE_START.match(text.lstrip()):
            return BREAK + text
        return text

    def code(self, text: str) -> str:
        """Inline code; a backtick inside would end it, one at an edge would join the fence."""
        if "`" not in text:
            return f"`{text}`"
        begin = " " if text.startswith("`") else ""
        end = " " if text.endswith("`") else ""
        return f"```{begin}{without_fences(text)}{end}```"

    def address(self, address: str, *, alone: bool) -> str:
        """Bare, so that it can be tapped, unless a sign in it could be taken for a mark."""
        risky = any(_may_mark(sign, address) for sign in self._careful)
        return f"`{address}`" if risky and "`" not in address else address

    def _as_code(self, word: re.Match[str]) -> str:
        return f"`{word[0]}`" if any(sign in word[0] for sign in self._careful) else word[0]


def _is_marked(sign: str, run: Run) -> bool:
    """Return True for a style of the run; italic stands for underlined, which WhatsApp lacks."""
    return bool(getattr(run, _SIGNS[sign])) or (sign == "_" and run.underline)


def _would_mark(sign: str, runs: Inline) -> bool:
    """Return True if a sign in the text could pair with another, or with one of our marks."""
    text = "\0".join(_shown(run) for run in runs)
    if sign not in text:
        return False
    if any(_is_marked(sign, run) for run in runs):
        return _may_mark(sign, text)
    opens = _OPENS[sign].search(text)
    return bool(opens and _CLOSES[sign].search(text, opens.end()))


def _marks_inside_punctuation(runs: Inline) -> Inline:
    """Leave punctuation at the edges of marked text unmarked where a letter touches it, because
    marks work beside punctuation, and not beside letters."""
    texts = [run.text if not _is_styled(run) else "" for run in runs]
    out: list[Run] = []
    for run, before, after in zip(runs, ("", *texts), (*texts[1:], ""), strict=False):
        left, right = before[-1:].isalnum(), after[:1].isalnum()
        marked = (left or right) and _is_styled(run) and not run.code and not run.link
        out += _without_punctuation(run, left, right) if marked else (run,)
    return tuple(out)


def _without_punctuation(run: Run, left: bool, right: bool) -> tuple[Run, ...]:
    """Take punctuation from the edges, from both where one alone would part a pair of brackets."""
    text = run.text
    begin = next((at for at, char in enumerate(text) if not _is_punctuation(char)), 0)
    end = next((at for at in range(len(text), 0, -1) if not _is_punctuation(text[at - 1])), 0)
    for start, stop in ((left * begin, end if right else len(text)), (begin, end)):
        core = text[start:stop]
        if core and _is_balanced(core):
            bare = replace(run, bold=False, italic=False, underline=False, strike=False)
            parts = (replace(bare, text=text[:start]), replace(run, text=core))
            return tuple(p for p in (*parts, replace(bare, text=text[stop:])) if p.text)
    return (run,)


def _is_styled(run: Run) -> bool:
    return any(_is_marked(sign, run) for sign in _SIGNS)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P")


def _is_balanced(text: str) -> bool:
    kinds = [unicodedata.category(char) for char in text]
    opened, closed = (sum(map(kinds.count, pair)) for pair in (("Ps", "Pi"), ("Pe", "Pf")))
    return opened == closed and not text.count('"') % 2


def _may_mark(sign: str, text: str) -> bool:
    return bool(_OPENS[sign].search(text) or _CLOSES[sign].search(text))


def _shown(run: Run) -> str:
    """Return the text of a run outside of code."""
    text = "" if run.code else run.text
    return text if not run.link or run.is_bare_link else f"{text}\0{run.link}"


_TEXT: Final = _WhatsAppText()


def render(blocks: Document) -> list[Part]:
    """WhatsApp's text, at most 4,096 characters a message."""
    return text_parts(blocks, _TEXT, MAX_MESSAGE)
