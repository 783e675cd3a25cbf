"""Checks a built site: no dead link or anchor, and nothing that a browser loads from elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_LOADED: Final = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
"""The attribute with the address of each element that a browser loads by itself."""
_NOT_LOADED: Final = {"canonical", "next", "prev", "alternate"}
_MOST: Final = 200
"""Characters of an address that a message shows."""


@dataclass(slots=True)
class Page(HTMLParser):
    """The links, loads and anchors of one page."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element links to, loads, or is called."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        address = values.get(_LOADED.get(tag, ""))
        if address and not _NOT_LOADED & set(values.get("rel", "").split()):
            self.loads.append(address)


def problems(site: Path) -> list[str]:
    """One sentence for each dead link, malformed address or load from elsewhere; sorted."""
    pages = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    messages = {
        f"{file.relative_to(site)}: {problem}"
        for file, page in pages.items()
        for problem in _problems(site, file, page, pages)
    }
    return sorted(messages)


def _read(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text("utf-8"))
    page.close()
    return page


def _problems(site: Path, file: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    for address in page.loads:
        if urlsplit(address).netloc:
            yield f"loads {address[:_MOST]} from elsewhere"
    for address in (*page.links, *page.loads):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            if parts.scheme in {"http", "https"} and not parts.hostname:
                yield f"{address[:_MOST]} is no address"
            continue
        target = _target(site, file, unquote(parts.path))
        if not target.is_file():
            yield f"the link to {address[:_MOST]} leads nowhere"
        elif parts.fragment and target in pages and _lacks(pages[target], unquote(parts.fragment)):
            yield f"the link to {address[:_MOST]} names an anchor that does not exist"


def _lacks(page: Page, anchor: str) -> bool:
    return anchor not in page.anchors


def _target(site: Path, file: Path, path: str) -> Path:
    if not path:
        return file
    start = site if path.startswith("/") else file.parent
    target = (start / path.lstrip("/")).resolve()
    return target / "index.html" if target.is_dir() else target
