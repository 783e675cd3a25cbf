"""Compares a page in the site with the page on a forge."""

from pathlib import Path

import pytest

from docs_site.structure import differences

PAGE = "# Title\n\n- a\n  - b\n\n| x |\n|---|\n| 1 |\n"
LIST = "<ul><li>a<ul><li>b</li></ul></li></ul>"
TABLE = "<table><tr><th>x</th></tr><tr><td>1</td></tr></table>"


def compared(folder: Path, page: str, article: str) -> list[str]:
    """Compare a page with the HTML of its article; the menu around it does not count."""
    pages, site = folder / "pages", folder / "site"
    pages.mkdir()
    site.mkdir()
    (pages / "page.md").write_text(page)
    menu = "<ul><li>menu</li></ul>"
    (site / "page.html").write_text(f"{menu}<article>{article}</article>{menu}")
    return list(differences(pages, site))


def test_the_same_elements_are_no_difference(tmp_path: Path) -> None:
    assert compared(tmp_path, PAGE, f"<h1>Title</h1>{LIST}{TABLE}") == []


@pytest.mark.parametrize(
    ("article", "difference"),
    [
        (f"<h1>T</h1><ul><li>a - b</li></ul>{TABLE}", "1 <li> in the site, 2 on a forge"),
        (f"<h1>T</h1>{LIST}<p>| x |</p>", "0 <table> in the site, 1 on a forge"),
        (f"<p># T</p>{LIST}{TABLE}", "0 <h1> in the site, 1 on a forge"),
    ],
)
def test_a_lost_element_names_the_page(tmp_path: Path, article: str, difference: str) -> None:
    assert f"page.md: {difference}" in compared(tmp_path, PAGE, article)


def test_pages_with_the_text_of_a_file_are_not_compared(tmp_path: Path) -> None:
    assert compared(tmp_path, f"---\nsearch:\n  exclude: true\n---\n{PAGE}", "") == []
