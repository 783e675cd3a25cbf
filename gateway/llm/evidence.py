"""Decides what a refusal is evidence of: a limit of the server, or only something in one request.

A limit is kept for everybody. One person's broken picture, a call that the model wrote badly, and
words of a person that an error repeats must therefore teach nothing.
"""

import re
from typing import Final

from gateway.llm.chat_completions.limits import Part
from gateway.ports import ModelRequest, TextBlock, ToolOutcome

MAX_COMPARED: Final = 20_000
"""Characters of a request that are compared, of the latest texts both ends."""
MAX_WORDS: Final = 2_000
"""Characters of an error that are compared."""
RUN: Final = 24
"""Characters of the request in a row that an error must have."""
STEP: Final = 4
"""Characters between two places that are compared: a quotation has `RUN` and some more."""


def repeats(words: str, request: ModelRequest) -> bool:
    """Return True if an error has words of the people or the tools of a request in it."""
    said = _plain("\n".join(_texts(request))[:MAX_COMPARED])
    compared = _plain(words[:MAX_WORDS])
    last = len(compared) - RUN + 1
    return any(compared[at : at + RUN] in said for at in range(0, last, STEP))


def _texts(request: ModelRequest) -> list[str]:
    """Return what people and tools said, the latest first."""
    texts: list[str] = []
    size = 0
    for message in reversed(request.messages):
        for block in message.content if message.role == "user" else ():
            if isinstance(block, TextBlock):
                texts.append(_ends(block.text))
            elif isinstance(block, ToolOutcome):
                texts.append(_ends(block.content))
        size = sum(map(len, texts))
        if size >= MAX_COMPARED:
            break
    return texts


def _ends(text: str) -> str:
    half = MAX_COMPARED // 2
    return text if len(text) <= MAX_COMPARED else f"{text[:half]}\n{text[-half:]}"


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


_WRITTEN_CALL: Final = re.compile(
    r"(?:pars|decod|extract)\w{0,8}.{0,40}(?:tool|function)[\s_-]?(?:calls?\b|arguments?|use\b)"
    r"|(?:tool|function)[\s_-]?call\w{0,6}.{0,40}"
    r"(?:validation failed|pars\w{2,3} (?:failed|error)|invalid json)"
    r"|malformed.{0,20}(?:function|tool)"
    r"|(?:model|generated)(?: \w{1,12}){0,3} invalid (?:\w{1,12} ){0,2}(?:function|tool)"
    r"|not in request\.tools|failed to parse (?:input|output) at"
    r"|expecting .{1,30}: line \d+ column|failed to generate json|json_validate_failed"
    r"|tool_use_failed|unexpected_tool_call"
)
_OF_MACHINES: Final = re.compile(
    r"unavailable|overload|capacity|time[d ]{0,2}.?out|upstream|connection|connect to|respond"
    r"|memory|\boom\b|cuda|\bgpu\b|\beof\b|gateway|try again|queue|crash|killed|too busy"
)
_UNABLE: Final = re.compile(
    r"support|enabled|--|jinja|template|alternat|param|attribute|concatenate|unmarshal|grammar"
    r"|expected|unknown|unrecogni|extra (?:input|field)|permitted|only"
)
_TAKES_NO_PICTURES: Final = re.compile(
    r"support|mmproj|vision|not.{0,20}multi-?modal|variant|at most 0|text.only|unknown|unrecogni"
    r"|extra (?:input|field)|unexpected"
)
_OF_ONE_PICTURE: Final = re.compile(
    r"format|unsupported (?:image|media|mime|file)|mime|media.?type|image/|larg|small|size|exceed"
    r"|dimension|resolution|pixel|bytes|\d ?mb\b|corrupt|decod|download|fetch|animated|too many"
    r"|at most [1-9]|safety|policy|moderat|truncated|base64"
)


def is_of_written_call(words: str) -> bool:
    """Return True if a server cannot read a tool call that its own model wrote. The model writes
    another one the next time."""
    return bool(_WRITTEN_CALL.search(words))


def is_of_machines(status: int, words: str) -> bool:
    """Return True for a failure of the server that no other request avoids."""
    return status >= 500 and bool(_OF_MACHINES.search(words)) and "support" not in words


def lasts(part: str | Part, status: int, words: str, places: tuple[str, ...]) -> bool:
    """Return True if a refused part is one that this server never takes."""
    if part in ("pictures", "pdf"):
        if any(place.endswith(("type", "image_url", "file")) for place in places):
            return not _OF_ONE_PICTURE.search(words)
        return bool(_TAKES_NO_PICTURES.search(words)) and not _OF_ONE_PICTURE.search(words)
    return status < 500 or bool(_UNABLE.search(words))
