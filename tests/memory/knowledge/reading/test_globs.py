"""Patterns of paths: components, stars, and a time that does not explode."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge.reading.globs import BadPattern, Glob

NAMES = st.text("ab.*", min_size=1, max_size=6).filter(
    lambda name: "**" not in name and name != ".."
)
PARTS = st.lists(st.one_of(NAMES, st.just("**")), min_size=2, max_size=5)
PATHS = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/a/b/c.md", True),
        ("docs/**/*.md", "src/docs/a.md", False),
        ("docs/adrs/**", "docs/adrs/0001.md", True),
        ("docs/adrs/**", "docs/adrs", False),
        ("**/node_modules/**", "node_modules/a/b.js", True),
        ("**/node_modules/**", "web/node_modules/b.js", True),
        ("**/node_modules/**", "web/my_node_modules/b.js", False),
        ("**/*secret*", "a/my-secrets.md", True),
        ("**/*secret*", "a/secret/b.md", False),
        ("*.md", "README.md", True),
        ("*.md", "deep/down/README.md", True),
        ("*.md", "README.mdx", False),
        ("drafts", "notes/drafts/a.md", True),
        ("/README.md", "README.md", True),
        ("/README.md", "a/README.md", False),
        ("a?c.[ch]", "abc.h", True),
        ("a?c.[ch]", "abc.x", False),
        ("[!a]*", "b.md", True),
        ("[a-c]x", "bx", True),
        ("[a-c]x", "-x", False),
        ("**", "a/b", True),
        ("a/**/b/**/c", "a/x/b/y/z/c", True),
        ("a/**/b/**/c", "a/x/y/z/c", False),
    ],
)
def test_a_pattern_names_paths(pattern: str, path: str, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected


@given(PARTS, PATHS)
def test_a_match_is_that_of_the_same_regular_expression(parts: list[str], path: list[str]) -> None:
    def component(part: str) -> str:
        return "".join("[^/]*" if char == "*" else re.escape(char) for char in part)

    expression, last = "", len(parts) - 1
    for place, part in enumerate(parts):
        if part == "**":
            expression += "(?:[^/]+/)*" if place < last else "[^/]+(?:/[^/]+)*"
        else:
            expression += component(part) + ("/" if place < last else "")
    expected = re.fullmatch(expression, "/".join(path)) is not None
    assert Glob("/".join(parts)).matches("/".join(path)) is expected


@pytest.mark.parametrize(
    "pattern", ["", "a//b", "../a", "a/../b", "a**b", "a\\b", "a\nb", "x" * 201, "/"]
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        Glob(pattern)


def test_many_stars_take_no_longer() -> None:
    began = time.process_time()
    assert not Glob("*a" * 90 + "b").matches("a" * 1_000)
    assert not Glob("/".join(["**", "a"] * 19 + ["b"])).matches("/".join(["a"] * 40))
    assert not Glob("**/" * 18 + "x").matches("/".join(["a"] * 41))
    assert time.process_time() - began < 1
