"""The fenced code of the documentation."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*/*.md"),
    ]
)
_BLOCK: Final = re.compile(
    r"(?P<mark><!-- not run: (?P<reason>[^\n]+?) -->\n\s*)?"
    r"^(?P<space> *)(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=space)(?P=fence) *$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """Code of a page; `reason` says why it cannot be run, if the page says so."""

    page: Path
    line: int
    language: str
    code: str
    reason: str = ""

    @property
    def place(self) -> str:
        """The page and line, as the name of a test."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """Every block of a page, in order."""
    text = page.read_text("utf-8")
    for result in _BLOCK.finditer(text):
        line = text.count("\n", 0, result.start("fence")) + 1
        code = textwrap.dedent(result["code"])
        yield Block(page, line, result["language"].strip(), code, result["reason"] or "")


BLOCKS: Final = [block for page in PAGES for block in blocks_of(page)]


def runnable(*languages: str) -> list[Block]:
    """The blocks in these languages that are not marked as excerpts."""
    return [block for block in BLOCKS if block.language in languages and not block.reason]
