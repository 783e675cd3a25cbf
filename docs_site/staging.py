"""Copies the pages of docs/ into a folder that the site generator reads.

A link that leaves docs/ leads to the repository in a browser, or, without an address of it, to a
page of the site with the text of that file.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from docs_site.diagrams import Drawer
from docs_site.lists import with_wide_lists
from docs_site.markdown_links import is_external, with_targets
from docs_site.source_pages import source_page

SOURCES: Final = PurePosixPath("source")
"""The folder of the site for pages made of files outside docs/."""


class DeadLink(Exception):
    """A page links to a file that does not exist."""


@dataclass(slots=True)
class Stage:
    """One copy of the documentation. `sources` is the address under which a browser shows the
    files of the repository, without a slash at its end; empty if there is none."""

    root: Path
    to: Path
    drawer: Drawer
    sources: str = ""
    _pages: dict[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    """Files outside docs/ that become pages: the page of each."""

    def write(self) -> int:
        """Write every page and image; return the number of pages. Raise DeadLink."""
        shutil.rmtree(self.to, ignore_errors=True)
        pages = 0
        for file in _files(self.root / "docs"):
            place = PurePosixPath(file.relative_to(self.root / "docs").as_posix())
            if file.suffix == ".md":
                self._write_page(place, PurePosixPath("docs") / place)
                pages += 1
            else:
                self._file(place).write_bytes(file.read_bytes())
        written: set[PurePosixPath] = set()
        while missing := self._pages.keys() - written:
            for source in sorted(missing):
                self._write_source(source)
            written |= missing
        return pages + len(written)

    def _write_page(self, place: PurePosixPath, source: PurePosixPath) -> None:
        text = (self.root / source).read_text("utf-8")
        moved = with_targets(text, lambda target: self._target(target, place, source))
        drawn = self.drawer.with_images(moved, place, self.to)
        self._file(place).write_text(with_wide_lists(drawn), "utf-8")

    def _write_source(self, source: PurePosixPath) -> None:
        page = self._pages[source]
        if source.suffix == ".md":
            self._write_page(page, source)
        else:
            self._file(page).write_text(source_page(self.root, source), "utf-8")

    def _file(self, place: PurePosixPath) -> Path:
        file = self.to / place
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def _target(self, target: str, place: PurePosixPath, source: PurePosixPath) -> str:
        path, hash_sign, anchor = target.partition("#")
        if is_external(target) or not path:
            return target
        named = PurePosixPath(os.path.normpath(source.parent / path))
        if named.parts[:1] == ("..",) or not (self.root / named).exists():
            raise DeadLink(f"{source}: the link to {target} leads nowhere")
        if named.parts[0] == "docs":
            page = named.relative_to("docs")
        else:
            if (self.root / named / "README.md").exists():
                named /= "README.md"
            if self.sources and named.suffix != ".md":
                return f"{self.sources}/{named}"
            page = self._pages.setdefault(named, _page_of(named))
        return os.path.relpath(page, place.parent) + hash_sign + anchor


def _page_of(source: PurePosixPath) -> PurePosixPath:
    if source.name == "README.md":
        return SOURCES / source.parent / "index.md"
    name = source.name if source.suffix == ".md" else f"{source.name}.md"
    return SOURCES / source.parent / name


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(file for file in folder.rglob("*") if file.is_file())
