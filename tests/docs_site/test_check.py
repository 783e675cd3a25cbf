"""The check of a built site finds every kind of problem."""

from pathlib import Path

import pytest

from docs_site.check import problems


def site(folder: Path, body: str) -> Path:
    """A site of two pages, the first one with `body`."""
    (folder / "deep").mkdir()
    (folder / "index.html").write_text(f"<html><body>{body}</body></html>")
    (folder / "deep" / "page.html").write_text('<h1 id="title">T</h1><a name="old"></a>')
    (folder / "style.css").write_text("")
    return folder


@pytest.mark.parametrize(
    "body",
    [
        '<a href="deep/page.html#title">x</a><link rel="stylesheet" href="style.css">',
        '<a href="/deep/page.html#old">x</a><a href="deep/page.html?q=1">x</a>',
        '<a href="https://example.org/a#b">x</a><a href="mailto:a@example.org">x</a>',
        '<h2 id="here">x</h2><a href="#here">x</a><a href="">x</a>',
        '<link rel="canonical" href="https://docs.example.org/"><img src="data:image/png;base64,">',
    ],
)
def test_a_sound_site_has_no_problem(tmp_path: Path, body: str) -> None:
    assert problems(site(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">x</a>', "the link to gone.html leads nowhere"),
        ('<img src="gone.png">', "the link to gone.png leads nowhere"),
        ('<a href="deep">x</a>', "the link to deep leads nowhere"),
        ('<a href="deep/page.html#no">x</a>', "names an anchor that does not exist"),
        ('<a href="#no">x</a>', "names an anchor that does not exist"),
        ('<a href="https:///a">x</a>', "https:///a is no address"),
        ('<script src="https://cdn.example/a.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', "from elsewhere"),
        ('<link rel="preconnect" href="https://fonts.example">', "from elsewhere"),
        ('<iframe src="https://video.example/1"></iframe>', "from elsewhere"),
    ],
)
def test_each_problem_names_its_page(tmp_path: Path, body: str, problem: str) -> None:
    (result,) = problems(site(tmp_path, body))
    assert result.startswith("index.html: ")
    assert problem in result
