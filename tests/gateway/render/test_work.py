"""No text makes rendering slow: work is counted against an ordinary text of the same length."""

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import pytest

from gateway.markdown import tree
from gateway.markdown.parse import parse
from gateway.markdown.tree import Document, Table
from gateway.message import Part
from gateway.platforms import discover, renderer_of
from gateway.render import render
from tests.gateway.render.readers import holds, visible
from tests.gateway.render.test_properties import LIMITS, PLATFORMS, check
from tests.support.by_day import one_of
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

BEGINNINGS = {
    "table": "a|b\n-|-\n",
    "wide table": "|".join("a" * 100) + "\n" + "|".join(["-"] * 100) + "\n",
    "long cell": "|a|b|\n|-|-|\n|" + "x" * 20_000 + "|y|\n",
    "code": "```py\n",
    "long link": "[x](http://e.org/" + "y" * 5_000 + ") ",
    "formula in cells": "|a|b|\n|-|-|\n|",
    "code in cells": "|a|b|\n|-|-|\n|",
    "names of servers": "[x](http://e.org) [",
}
SEEDS = {
    "brackets": "[",
    "pictures": "![",
    "links": "[a](",
    "stars": "*a ",
    "stars in a row": "*",
    "backticks": "` `` ``` ",
    "quotes": "> ",
    "bullets": "- ",
    "pipes": "|",
    "table": "x|y\n",
    "wide table": "x\n",
    "many wide tables": "a|a|a|a|a|a|a|a\n-|-|-|-|-|-|-|-\nx\nx\nx\nx\n\n",
    "long rows": "|1|2|3|4|5|6|7|8|9\n",
    "long cell": "|1|2|\n",
    "one word": "x",
    "long link": "word ",
    "backslashes": "\\",
    "ampersands": "&",
    "angles": "<a ",
    "lines": "ab\n",
    "code": "x = 1\n",
    "emoji": "👩\u200d👩\u200d👧",
    "definitions": "[a]: b\n",
    "formulas": "$x_1^2$ ",
    "prices": "$a ",
    "dollars": "$",
    "opened formulas": r"\(",
    "formula blocks": "\\[\n",
    "dollar blocks": "$$\n",
    "environments": "\\begin{align}\n",
    "fractions": r"\frac{ {}",
    "formula in cells": r"\(|",
    "code in cells": "`|`` ",
    "misleading links": "[a.b](http://c.d/e) ",
    "names of servers": "a.",
}
ORDINARY = "# Title\n\nSome **bold** text, a [link](http://e.org) and `code`.\n\n- one\n- two\n\n"
NESTED = "\n".join("  " * depth + "- a" for depth in range(300))
DEEP = {
    "list": NESTED,
    "quotes": "> " * 500 + "a",
    "bullets": "- " * 500 + "a",
    "brackets": "[" * 5_000,
}
TIMES_AS_MUCH = 25
COUNTED_ON = ("discord", "slack", "telegram")
LARGE_BY_DAY = ["discord", "slack"]
"""The two renderers that do most."""
COUNTED = 2_500
"""Characters of a text whose work is counted, which makes it ten times slower."""
COUNTED_TIMES = 15
"""The allowed factor: quadratic growth is less visible in a short text, so less is allowed."""


def huge(name: str, size: int) -> str:
    """A text made to be slow."""
    return BEGINNINGS.get(name, "") + (SEEDS[name] * size)[:size]


def ordinary(size: int) -> str:
    return (ORDINARY * (size // len(ORDINARY) + 1))[:size]


Result = TypeVar("Result")


def counted(job: Callable[[], Result]) -> tuple[int, Result]:
    """The lines of Python that a job runs through: no load on the machine changes them."""
    steps = 0

    def trace(_frame: FrameType, _event: str, _arg: Any) -> Any:
        nonlocal steps
        steps += 1
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        result = job()
    finally:
        sys.settrace(outer)
    return steps, result


@functools.cache
def parsing_steps(markdown: str) -> tuple[int, Document]:
    """The lines that parsing runs through, and the tree."""
    parse("**a**")
    return counted(lambda: parse(markdown))


def rendering_steps(markdown: str, platform: str) -> tuple[int, list[Part]]:
    """The lines that parsing and rendering run through, and the messages."""
    renderer = renderer_of(discover().manifests[platform])
    renderer(parse("**a**"))
    parsing, blocks = parsing_steps(markdown)
    rendering, parts = counted(lambda: renderer(blocks))
    return parsing + rendering, parts


@functools.cache
def ordinary_steps(size: int, platform: str) -> int:
    return rendering_steps(ordinary(size), platform)[0]


@functools.cache
def to_see(markdown: str) -> int:
    """Visible characters of a text, the same for all platforms."""
    return len(visible(parse(markdown)))


def check_shown(parts: list[Part], markdown: str, platform: str) -> None:
    """Every part fits, and there is as much to see as there was."""
    assert sum(len(part.text) for part in parts) > to_see(markdown) * 0.5
    for part in parts:
        if platform in LIMITS:
            assert len(str(part.payload)) <= LIMITS[platform]


@pytest.mark.parametrize("name", SEEDS)
def test_no_text_needs_much_more_work_than_an_ordinary_one(name: str) -> None:
    platform = one_of(COUNTED_ON, name)  # at night on all of them, in full length
    markdown = huge(name, COUNTED)
    steps, parts = rendering_steps(markdown, platform)
    assert steps <= ordinary_steps(len(markdown), platform) * COUNTED_TIMES
    check_shown(parts, markdown, platform)


@pytest.mark.nightly
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", SEEDS)
def test_texts_of_full_length_need_no_more_work(name: str, platform: str) -> None:
    markdown = huge(name, tree.MAX_SOURCE - 30_000)
    usual = ordinary(len(markdown))
    limit = TIMES_AS_MUCH * seconds(lambda: render(usual, platform))
    assert seconds(lambda: render(markdown, platform), limit) <= limit
    check_shown(render(markdown, platform), markdown, platform)


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.usefixtures("parsed_once")
@for_each("platform", PLATFORMS)
def test_deep_nesting_is_limited(name: str, platform: str) -> None:
    check(DEEP[name], platform)


@pytest.mark.parametrize(
    "platforms",
    [LARGE_BY_DAY, pytest.param(PLATFORMS, marks=pytest.mark.nightly)],
    ids=["some", "all"],
)
@pytest.mark.usefixtures("parsed_once")
def test_two_hundred_thousand_ordinary_characters_are_rendered(platforms: list[str]) -> None:
    markdown = ordinary(tree.MAX_SOURCE)
    for platform in platforms:
        check_shown(render(markdown, platform), markdown, platform)


def test_short_rows_are_filled_up_to_a_limit_and_then_become_text() -> None:
    markdown = huge("wide table", 2_000)
    table, rest = parse(markdown)
    assert isinstance(table, Table)
    assert sum(not cell for row in table.rows for cell in row) <= tree.MAX_FILLED_CELLS
    assert len(table.rows) == tree.MAX_FILLED_CELLS // 99
    assert visible((table, rest)).count("x") == 1_000


def test_the_limit_applies_to_all_tables_of_a_text_together() -> None:
    blocks = parse(huge("many wide tables", 20_000))
    rows = [row for block in blocks if isinstance(block, Table) for row in block.rows]
    assert sum(not cell for row in rows for cell in row) <= tree.MAX_FILLED_CELLS


@pytest.mark.parametrize("platform", PLATFORMS)
def test_cells_beyond_the_header_are_merged_into_the_last_cell(platform: str) -> None:
    parts = check("|a|b|\n|-|-|\n|1|2|3|`x|y`|\n|4|5| | |\n|6|", platform)
    shown = "".join(part.text for part in parts)
    assert holds(shown, "a b 1 2|3|")
    assert holds(shown, "x|y 4 5 6")
    assert "5|" not in shown.replace(" ", "")
