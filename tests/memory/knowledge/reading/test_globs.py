"""Patterns of paths: components, stars, and a time that does not explode."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge.reading import globs
from memory.knowledge.reading.globs import BadPattern, Glob, PathMatcher
from tests.support.processor_time import REPETITIONS, seconds


def matches(pattern: str, path: str) -> bool:
    (found,) = PathMatcher([Glob(pattern)]).lists_of(path)
    return found


ITEMS = {"*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a.]": "[^a./]", "[a-b]": "[a-b]"}
"""What patterns have, and what regular expressions have for it; any other character is itself."""
NAMES = st.lists(st.sampled_from(["a", "b", ".", *ITEMS]), min_size=1, max_size=6).filter(
    lambda items: "**" not in "".join(items) and items != [".", "."]
)
PARTS = st.lists(st.one_of(NAMES, st.just(["**"])), min_size=2, max_size=5)
LISTED = st.one_of(PARTS, st.lists(NAMES, min_size=1, max_size=1))
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
    assert matches(pattern, path) is expected


@given(PARTS, PATHS)
def test_a_match_is_that_of_the_same_regular_expression(
    parts: list[list[str]], path: list[str]
) -> None:
    expected = re.fullmatch(expression(parts), "/".join(path)) is not None
    pattern = "/".join("".join(items) for items in parts)
    assert matches(pattern, "/".join(path)) is expected


def expression(parts: list[list[str]]) -> str:
    """The regular expression of a pattern, which without "/" is one of names."""
    result, last = "", len(parts) - 1
    for place, items in enumerate(parts):
        if items == ["**"]:
            result += "(?:[^/]+/)*" if place < last else "[^/]+(?:/[^/]+)*"
        else:
            result += "".join(ITEMS.get(item, re.escape(item)) for item in items)
            result += "/" if place < last else ""
    return result if last else f"(?:.*/)?{result}(?:/.*)?"


@given(st.lists(st.lists(LISTED, max_size=4), min_size=1, max_size=4), st.lists(PATHS, max_size=5))
def test_lists_of_patterns_match_as_each_pattern_does(
    lists: list[list[list[list[str]]]], paths: list[list[str]]
) -> None:
    """One matcher reads several paths, so that it meets what it has remembered."""
    made = [[Glob("/".join("".join(one) for one in parts)) for parts in some] for some in lists]
    matcher = PathMatcher(*made)
    for path in map("/".join, paths):
        expected = [any(re.fullmatch(expression(one), path) for one in some) for some in lists]
        assert list(matcher.lists_of(path)) == expected


def test_a_matcher_that_begins_again_matches_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MAX_KNOWN", 1_000)
    monkeypatch.setattr(globs, "MAX_CHARACTERS", 3)
    matcher = PathMatcher([Glob("*.md"), Glob("docs/**/[a-z]*.txt")], [Glob("**/*secret*")])
    for number in range(100):
        path = f"docs/{number}/{chr(97 + number % 26)}{number}.txt"
        assert matcher.lists_of(path) == (True, False)
        assert matcher.lists_of(f"{path}/a-secret-{number}.md") == (True, True)
        assert matcher.lists_of(f"x{path}") == (False, False)


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
    def work() -> None:
        for _ in range(100):
            assert not matches(pattern, path)

    assert seconds(work, 1) < 1  # the product of both lengths would take 15


def test_a_path_with_too_many_components_matches_nothing() -> None:
    assert matches("**/a", "/".join(["a"] * 40))
    assert not matches("**/a", "/".join(["a"] * 41))


def test_the_cost_of_a_path_does_not_grow_with_the_number_of_patterns() -> None:
    def lists(many: int) -> PathMatcher:
        return PathMatcher(
            [Glob(f"**/*a*{n}*b*c{n}/x?/*.q{n}") for n in range(many)],
            [Glob(f"*a*{n}*b[!a-c]*{n}") for n in range(many)],
        )

    matchers = iter([lists(199) for _ in range(REPETITIONS)])

    def work() -> None:
        matcher = next(matchers)
        for n in range(2_000):
            matcher.lists_of(f"src/package_{n % 70}/component_abc_{n}/file_abcabc_{n}.py")

    assert seconds(work, 2) < 2  # one pattern after another took 8
