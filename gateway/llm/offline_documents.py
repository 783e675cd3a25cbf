"""The offline model's answers from documents and from passages of them, which it searches for: it
quotes the line with the most words of what is asked for, and names its page."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gateway.ports import ContentBlock, ModelRequest, TextBlock, ToolCall

SEARCH: Final = "search_document"
DOCUMENT_PREFIX: Final = "offline_document_"
"""The prefix of its call ids, which identifies results of this tool."""
NOT_FOUND: Final = "I do not find it in the documents."

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
    return _quoted(asked["what"], _lines(content)) if asked is not None else ""


def document_call(question: str, request: ModelRequest) -> ToolCall | None:
    """Return the call for "what does the lease say about keys?", if there is such a tool."""
    asked = _ASKS.search(question)
    offered = any(tool.name == SEARCH for tool in request.tools)
    if asked is None or not offered or request.tool_choice == "none":
        return None
    number = sum(message.role == "assistant" for message in request.messages)
    query = json.dumps({"query": asked["what"].strip()}, ensure_ascii=False)
    return ToolCall(f"{DOCUMENT_PREFIX}{number}", SEARCH, query)


def document_report(call: ToolCall, content: str) -> str:
    """Return the answer to the question of a call, from its result."""
    try:
        query, answer = json.loads(call.arguments)["query"], json.loads(content)
    except (ValueError, KeyError, TypeError):
        return content
    found = answer.get("results") if isinstance(answer, Mapping) else None
    passages = [one for one in found or [] if isinstance(one, Mapping)]
    return _quoted(str(query), _lines_of_results(passages)) or NOT_FOUND


def _lines_of_results(passages: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, str, str]]:
    for one in passages:
        label = str(one.get("page", "")).partition(" of ")[0]
        for line in str(one.get("text", "")).splitlines()[:MAX_LINES]:
            if line.strip("` #"):
                yield str(one.get("file", "")), label, line.strip()


def _quoted(asked: str, lines: Iterable[tuple[str, str, str]]) -> str:
    """Quote the line with the most words; of two alike the longer one, which is no heading."""
    wanted = set(_WORD.findall(asked.lower()))
    best, answer = (0, 0), ""
    for name, label, line in lines:
        found = (len(wanted & set(_WORD.findall(line.lower()))), len(line))
        if found[0] and found > best:
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
