"""Compares a page of the site with the same page as a forge shows it."""

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

_COUNTED: Final = frozenset({"h1", "h2", "h3", "h4", "li", "ol", "ul", "pre", "table", "tr"})


class _Elements(HTMLParser):
    """Counts elements; with `within`, only those in an element of this name."""

    def __init__(self, within: str = "") -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self._within = within
        self._inside = not within

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """Count the element."""
        self._inside = self._inside or tag == self._within
        if self._inside and tag in _COUNTED:
            self.counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        """Notice the end of the article."""
        if tag == self._within:
            self._inside = False


def differences(pages: Path, site: Path) -> Iterator[str]:
    """One sentence for each page that the site shows with other headings, lists, tables or code
    than a forge. `pages` are the pages that the generator read."""
    forge = MarkdownIt("commonmark").enable("table")
    for page in sorted(pages.rglob("*.md")):
        text = page.read_text("utf-8")
        if text.startswith("---\n"):
            continue  # the text of a file, with front matter for the generator
        place = page.relative_to(pages)
        expected = _count(forge.render(text))
        shown = _count((site / place.with_suffix(".html")).read_text("utf-8"), "article")
        for tag in sorted(_COUNTED):
            if expected[tag] != shown[tag]:
                yield f"{place}: {shown[tag]} <{tag}> in the site, {expected[tag]} on a forge"


def _count(html: str, within: str = "") -> Counter[str]:
    elements = _Elements(within)
    elements.feed(html)
    elements.close()
    return elements.counts
