"""The documentation as a whole: generated pages are current, and the menu lists every page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs_site.reference.pages import pages

ROOT = Path(__file__).parents[2]
GENERATED = pages()


class Loader(yaml.SafeLoader):
    """Reads the settings of the site without the functions that they name."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


@pytest.mark.parametrize("place", sorted(GENERATED))
def test_a_page_that_the_program_writes_is_current(place: str) -> None:
    committed = ROOT / place
    assert committed.exists(), f"{place} is missing: run `make reference`"
    current = committed.read_text("utf-8") == GENERATED[place]
    assert current, f"{place} differs from the program: run `make reference` and commit the page"


def in_menu(entry: Any) -> Iterator[str]:
    """Every page below an entry of the menu."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from in_menu(below)


def test_the_menu_lists_every_page_once() -> None:
    settings = yaml.load((ROOT / "docs_site" / "mkdocs.yml").read_text("utf-8"), Loader)
    listed = [page for page in in_menu(settings["nav"]) if not page.startswith("source/")]
    exist = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted(exist)
