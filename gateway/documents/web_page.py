"""HTML as Markdown: what a reader of the page sees, without programs and hidden elements."""

import re
from html.parser import HTMLParser
from typing import Final

from gateway.documents.model import DocumentLimits, ReadDocument
from gateway.documents.pages import MAX_COLUMNS, Pages, table
from gateway.documents.plain import decoded
from gateway.documents.sections import sections

_SKIPPED: Final = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe"})
_VOID: Final = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
        *("track", "wbr"),
    }
)
_BLOCKS: Final = frozenset(
    {
        *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol"),
        *("dl", "dt", "dd", "blockquote", "figure", "figcaption", "form", "fieldset", "address"),
        *("table", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "body", "html", "head"),
        *("caption", "hr", "details", "summary"),
    }
)
_CLOSED_BY_NEXT: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
    "th": (frozenset({"td", "th"}), frozenset({"table", "tr"})),
}
"""By element: those that end where it begins, also without an end tag, and those within which that
is looked for."""
_LOOKED_BACK: Final = 64
_HIDDEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])"
)
_SPACE: Final = re.compile(r"\s+")
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_HEAD: Final = 2_048
MAX_DEPTH: Final = 2_000
"""Open elements; deeper ones are taken for their parents."""


class PageText(HTMLParser):
    """Collects the text of one page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._out: list[str] = []
        self._open: list[str] = []
        self._hidden_at = 0
        """The number of open elements at the one that hides what is in it; 0 for none."""
        self._lists: list[int] = []
        """For each open list the number of its last item; -1 without numbers."""
        self._tables: list[tuple[list[list[str]], int]] = []
        """The rows of each open table, and the length of the text before its last cell."""
        self._span = 1
        """The columns that the last begun cell covers."""
        self._in_title = False
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and self._open and self._open[-1] == "p":
            self._leave("p")
        self._close_before(tag)
        if not self._hidden_at:
            self._begin(tag, dict(attrs))
        if tag in _VOID or len(self._open) >= MAX_DEPTH:
            return
        self._open.append(tag)
        if not self._hidden_at and (tag in _SKIPPED or _hides(dict(attrs))):
            self._hidden_at = len(self._open)

    def _close_before(self, tag: str) -> None:
        ended, limits = _CLOSED_BY_NEXT.get(tag, ((), ()))
        for one in reversed(self._open[-_LOOKED_BACK:] if ended else ()):
            if one in limits:
                return
            if one in ended:
                self._leave(one)
                return

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open[-_LOOKED_BACK:]:
            self._leave(tag)

    def _leave(self, tag: str) -> None:
        while self._open:
            last = self._open.pop()
            if self._hidden_at > len(self._open):
                self._hidden_at = 0
            elif not self._hidden_at:
                self._end(last)
            if last == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data[:1_000]
        elif not self._hidden_at:
            self._out.append(data if self._pre else _SPACE.sub(" ", data))

    def _begin(self, tag: str, attributes: dict[str, str | None]) -> None:
        match tag:
            case "title":
                self._in_title = True
            case "br" | "hr":
                self._out.append("\n" if tag == "br" else "\n\n---\n\n")
            case "img":
                if said := (attributes.get("alt") or "").strip():
                    self._out.append(f" [picture: {said[:200]}] ")
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._out.append(f"\n\n{'#' * int(tag[1])} ")
            case "ul" | "ol" | "li":
                self._list(tag)
            case "pre":
                self._pre += 1
                self._out.append("\n\n")
            case "table":
                self._tables.append(([], len(self._out)))
            case "tr" | "td" | "th" if self._tables:
                span = attributes.get("colspan") or ""
                self._span = min(int(span), MAX_COLUMNS) if span.isdecimal() else 1
                self._cell(tag)
            case _ if tag in _BLOCKS:
                self._out.append("\n\n")

    def _list(self, tag: str) -> None:
        if tag != "li":
            self._lists.append(0 if tag == "ol" else -1)
            self._out.append("\n")
            return
        indent = "  " * (min(len(self._lists), 10) - 1)
        mark = "-"
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}."
        self._out.append(f"\n{indent}{mark} ")

    def _cell(self, tag: str) -> None:
        rows, _ = self._tables[-1]
        if tag == "tr" or not rows:
            rows.append([])
        self._tables[-1] = rows, len(self._out)

    def _end(self, tag: str) -> None:
        match tag:
            case "title":
                self._in_title = False
            case "ul" | "ol":
                if self._lists:
                    self._lists.pop()
                self._out.append("\n")
            case "pre":
                self._pre -= 1
                self._out.append("\n\n")
            case "td" | "th" if self._tables:
                rows, at = self._tables[-1]
                text = "".join(self._out[at:])
                del self._out[at:]
                (rows or [[]])[-1].extend((text, *[""] * (self._span - 1)))
                self._span = 1
            case "table" if self._tables:
                rows, _ = self._tables.pop()
                self._out.append(f"\n\n{table(rows)}\n\n")
            case _ if tag in _BLOCKS and tag != "li":
                self._out.append("\n\n")

    def text(self) -> str:
        """Return the text so far as Markdown."""
        while self._open:
            self._leave(self._open[-1])
        lines = "".join(self._out).split("\n")
        return "\n".join(_unpadded(line) for line in lines)


def _unpadded(line: str) -> str:
    """Return a line without a space before its first word, except the indent of a list."""
    bare = line.lstrip(" ")
    return line if bare[:2] == "- " or bare[:1].isdigit() or len(line) - len(bare) > 1 else bare


def _hides(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes:
        return True
    return bool(_HIDDEN.search((attributes.get("style") or "")[:1_000].lower()))


def markdown_of(html: str) -> tuple[str, str]:
    """Return the text of a page as Markdown, and its title."""
    page = PageText()
    page.feed(html)
    page.close()
    return page.text(), page.title.strip()


def html_text(data: bytes) -> str:
    """Return the markup of a page in its encoding. Raises `CannotRead`."""
    declared = _CHARSET.search(data[:_HEAD])
    if declared is not None:
        try:
            return data.decode(declared[1].decode("ascii"))
        except (LookupError, ValueError):
            pass
    return decoded(data)


def read_html(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the page. Raises `CannotRead`."""
    text, title = markdown_of(html_text(data))
    pages = Pages(limits)
    for label, part in sections(text):
        pages.add(label, part)
    return pages.document("html", title=title)
