"""The examples in the documents about the demo and the test kit run."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from parley.demo.story import AGENTS, DOCUMENTS, KNOWLEDGE, STORY, USER_PER_MINUTE

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(r"(?<! -->\n)^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def examples() -> list[tuple[str, Callable[[], Awaitable[None]]]]:
    """Every `test_…` function of the test kit's page, as it stands there."""
    results = []
    page = DOCS / "how-to" / "test-against-simulators.md"
    for source in BLOCK.findall(page.read_text("utf-8")):
        names: dict[str, Callable[[], Awaitable[None]]] = {}
        exec(compile(source, page, "exec"), names)
        results += [(name, run) for name, run in names.items() if name.startswith("test_")]
    return results


@pytest.mark.parametrize(("name", "run"), examples())
async def test_the_examples_of_the_test_kit_run(
    name: str, run: Callable[[], Awaitable[None]]
) -> None:
    await run()


def test_the_test_kit_has_examples() -> None:
    assert [name for name, _ in examples()] == ["test_echo", "test_button"]


def test_the_demo_page_describes_the_story() -> None:
    text = (DOCS / "tutorials" / "demo.md").read_text("utf-8")
    rows = re.findall(r"^\| (?:Telegram|Discord|Slack|WhatsApp), ", text, re.MULTILINE)
    assert len(rows) == len(STORY) + len(DOCUMENTS) + len(AGENTS) + len(KNOWLEDGE)
    assert USER_PER_MINUTE == 6
    assert "six messages a minute" in text


def test_pictures_are_small() -> None:
    assert all(picture.stat().st_size < 300_000 for picture in (DOCS / "images").glob("*.png"))
