"""The offline model's answers from documents and from passages of them: it quotes the line with the
most words of what is asked for, and names its page."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gateway.ports import ContentBlock, TextBlock

_ASKS: Final = re.compile(
    r"\bwhat does (?:the|this|my) [\w ]{1,40}? say (?:about|on) (?P<what>[^\n?!]{1,200})",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"The file `(?P<name>[^`\n]{1,100})`")
_PAGE: Final = re.compile(r"--- (?P<label>[^\n]{1,100}) ---")
_PASSAGES: Final = "Passages of files in this chat"
_PASSAGE: Final = re.compile(
    r'<passage file="(?P<name>[^"\n]{1,200}+)"(?: page="(?P<label>[^"\n]{1,100}+)")?'
)
_WORD: Final = re.compile(r"\w{3,40}")
MAX_LINES: Final = 5_000
MAX_QUOTED: Final = 400


def document_answer(question: str, content: Sequence[ContentBlock]) -> str:
    """Return the answer; "" for another question, and without a document."""
    asked = _ASKS.search(question)
    wanted = set(_WORD.findall(asked["what"].lower())) if asked is not None else set()
    best, answer = 0, ""
    for name, label, line in _lines(content):
        found = len(wanted & set(_WORD.findall(line.lower())))
        if found > best:
            where = f"{label[0].upper()}{label[1:]} of `{name}`" if label else f"`{name}`"
            best, answer = found, f"{where} says:\n\n> {line[:MAX_QUOTED]}"
    return answer


def _lines(content: Sequence[ContentBlock]) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the documents, each with the document's name and the page's label."""
    left = MAX_LINES
    for block in content:
        text = block.text if isinstance(block, TextBlock) else ""
        if text.startswith(_PASSAGES):
            yield from _lines_of_passages(text)
            continue
        file = _FILE.match(text)
        if file is None:
            continue
        label = ""
        for line in text.split("\n", left)[1:-1]:
            left = max(0, left - 1)
            mark = _PAGE.fullmatch(line)
            label = mark["label"] if mark is not None else label
            if mark is None and line.strip("` #"):
                yield file["name"], label, line.strip()


def _lines_of_passages(text: str) -> Iterator[tuple[str, str, str]]:
    name = label = ""
    for line in text.split("\n", MAX_LINES):
        begins = _PASSAGE.match(line)
        if begins is not None:
            name, label = html.unescape(begins["name"]), html.unescape(begins["label"] or "")
            label = label.partition(" of ")[0]
        elif name and line.strip("` #") and not line.startswith("<"):
            yield name, label, html.unescape(line.strip())
