"""The pages of the documentation: four kinds, one purpose each, and one path for each reader."""

import posixpath
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from docs_site.markdown_links import targets
from docs_site.reference.pages import pages
from parley.documentation.files import KINDS
from tests.docs_site.test_pages import Loader, in_menu

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = {
    page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in DOCS.rglob("*.md")
}
GENERATED: Final = {place.removeprefix("docs/") for place in pages()}
TABS: Final = dict(
    zip(("Tutorials", "How-to guides", "Reference", "Explanation"), KINDS, strict=True)
)
LONG: Final = GENERATED | {"explanation/threat-model.md"}
"""Pages that one reads in parts: those written from the code, and the table of all attacks."""
MAX_LINES: Final = 260
MAX_FIRST: Final = 70
"""Words of the first paragraph."""
MAX_PATH: Final = 9
"""Steps of a path: more is no path."""
VERBS: Final = {
    *("Back", "Change", "Check", "Choose", "Configure", "Connect", "Control", "Correct", "Decide"),
    *("Delete", "Find", "Give", "Hand", "Handle", "Install", "Keep", "Limit", "Link", "Make"),
    *("Manage", "Monitor", "Open", "Put", "Read", "Receive", "Repair", "Run", "Scale", "See"),
    *("Set", "Share", "Show", "Take", "Test", "Upgrade", "Use", "Write"),
}
"""The words with which a task begins."""

by_name = pytest.mark.parametrize("name", sorted(PAGES))


def title(name: str) -> str:
    return PAGES[name].partition("\n")[0].removeprefix("# ")


def links(name: str, text: str = "") -> list[str]:
    """The pages to which a text of a page leads, by their paths in docs/."""
    text = text or PAGES[name]
    found = (text[start:end].partition("#")[0] for start, end in targets(text))
    here = posixpath.dirname(name)
    return [posixpath.normpath(posixpath.join(here, one)) for one in found if one.endswith(".md")]


def test_every_page_but_the_first_is_in_the_folder_of_its_kind() -> None:
    assert {name for name in PAGES if name.partition("/")[0] not in KINDS} == {"index.md"}
    assert all(f"{kind}/index.md" in PAGES for kind in KINDS)


def test_the_menu_has_each_page_under_the_tab_of_its_kind() -> None:
    settings: dict[str, Any] = yaml.load(
        (ROOT / "docs_site" / "mkdocs.yml").read_text("utf-8"), Loader
    )
    for tab in settings["nav"]:
        ((label, entry),) = tab.items()
        for page in in_menu(entry):
            expected = TABS.get(label, "index.md" if label == "Home" else "")
            assert page.startswith((expected, "source/")), f"{page} is under {label}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_a_kind_names_each_of_its_pages_once(kind: str) -> None:
    own = [name for name in PAGES if name.startswith(f"{kind}/") and name != f"{kind}/index.md"]
    records = {name for name in own if "/decisions/" in name and not name.endswith("index.md")}
    listed = [link for link in links(f"{kind}/index.md") if link != "index.md"]
    assert sorted(listed) == sorted(set(own) - records)


def test_each_path_is_short_and_every_tutorial_is_on_one() -> None:
    sections = re.split(r"^## ", PAGES["index.md"], flags=re.MULTILINE)[1:]
    names = [one.partition("\n")[0] for one in sections]
    assert names == ["Try it", "Set it up", "Run it", "Extend it", "Change it", "Everything else"]
    on_paths = {link for one in sections[:-1] for link in links("index.md", one)}
    for one in sections[:-1]:
        assert 3 <= len(re.findall(r"^\d+\. ", one, re.MULTILINE)) <= MAX_PATH
    tutorials = {name for name in PAGES if name.startswith("tutorials/")}
    assert tutorials - {"tutorials/index.md"} <= on_paths


@by_name
def test_a_page_has_one_purpose(name: str) -> None:
    text = PAGES[name]
    code = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^# ", code, re.MULTILINE)) == 1
    assert name in LONG or len(text.splitlines()) <= MAX_LINES, "cut it into tasks"
    first = code.split("\n\n")[1]
    assert not first.startswith(("#", "|", "```")), "begin with a sentence: for whom, and when"
    assert len(re.sub(r"\]\([^)]*\)", "]", first).split()) <= MAX_FIRST


@by_name
def test_the_title_of_a_guide_begins_with_the_task(name: str) -> None:
    if name.startswith("how-to/") and name != "how-to/index.md":
        assert title(name).split()[0] in VERBS


def test_no_two_pages_have_one_title() -> None:
    titles = Counter((name.partition("/")[0], title(name)) for name in PAGES)
    assert [each for each, number in titles.items() if number > 1] == []
