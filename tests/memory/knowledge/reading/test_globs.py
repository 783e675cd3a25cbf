"""Patterns of paths: components, stars, and a time that does not explode."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge.reading.globs import BadPattern, Glob

ITEMS = {"*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a.]": "[^a./]", "[a-b]": "[a-b]"}
"""What patterns have, and what regular expressions have for it; any other character is itself."""
NAMES = st.lists(st.sampled_from(["a", "b", ".", *ITEMS]), min_size=1, max_size=6).filter(
    lambda items: "**" not in "".join(items) and items != [".", "."]
)
PARTS = st.lists(st.one_of(NAMES, st.just(["**"])), min_size=2, max_size=5)
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
def test_a_match_is_that_of_the_same_regular_expression(
    parts: list[list[str]], path: list[str]
) -> None:
    expression, last = "", len(parts) - 1
    for place, items in enumerate(parts):
        if items == ["**"]:
            expression += "(?:[^/]+/)*" if place < last else "[^/]+(?:/[^/]+)*"
        else:
            expression += "".join(ITEMS.get(item, re.escape(item)) for item in items)
            expression += "/" if place < last else ""
    expected = re.fullmatch(expression, "/".join(path)) is not None
    pattern = "/".join("".join(items) for items in parts)
    assert Glob(pattern).matches("/".join(path)) is expected


@pytest.mark.parametrize(
    "pattern", ["", "a//b", "../a", "a/../b", "a**b", "a\\b", "a\nb", "x" * 201, "/", "[a-b]" * 21]
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        Glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 90 + "b", "a" * 1_000),
        ("*?" * 99 + "b", "a" * 1_000),
        ("*[!a-b]" * 20, "a" * 1_000),
        ("/".join(["**", "a"] * 19 + ["b"]), "/".join(["a"] * 40)),
        ("**/*a*a*a*a*a*a*a*a*a/" * 8 + "x", "/".join(["a" * 24] * 40)),
    ],
    ids=["stars", "any", "lists", "folders", "both"],
)
def test_the_cost_of_a_match_does_not_grow_with_the_pattern(pattern: str, path: str) -> None:
    glob = Glob(pattern)
    began = time.process_time()
    for _ in range(100):
        assert not glob.matches(path)
    assert time.process_time() - began < 1  # the product of both lengths would take 15


def test_a_path_with_too_many_components_matches_nothing() -> None:
    assert Glob("**/a").matches("/".join(["a"] * 40))
    assert not Glob("**/a").matches("/".join(["a"] * 41))
