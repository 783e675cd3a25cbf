"""Finds words of a request in an error of a service.

Such an error can say anything, because a person wrote it: nothing is kept from it for others."""

from typing import Final

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
