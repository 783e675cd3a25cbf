"""Formatting without which a text means something else, as Markdown: struck-out words and code."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from adapters.shared.json_readers import text
from adapters.telegram.entities import CLOSE, OPEN, Change, Entity, Units, lines_of, units_of

STRUCK: Final = "strikethrough"
_BACKTICKS: Final = re.compile("`+")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")


def struck_out(source: Units, entities: Iterable[Entity]) -> list[Entity]:
    """The struck-out ranges, in order. Bold words within one split it; the parts are joined."""
    joined: list[Entity] = []
    for entity in entities:
        if entity.kind != STRUCK:
            continue
        last = joined[-1] if joined else None
        if last is None or entity.start > last.end:
            joined.append(entity)
        elif entity.end > last.end:
            words = source.cut(last.start, entity.end)
            joined[-1] = Entity(STRUCK, last.start, entity.end, words, last.raw)
    return joined


def marks(
    source: Units,
    entities: Iterable[Entity],
    struck: Iterable[Entity],
    is_quoted: Callable[[Entity], bool],
) -> list[Change]:
    """The insertions that keep struck-out words and code."""
    found = [mark for entity in struck for mark in _strikes(entity)]
    for entity in entities:
        if entity.kind == "code":
            found += _inline_code(entity)
        elif entity.kind == "pre" and not is_quoted(entity):  # there, each line begins with ">"
            found += _code_block(source, entity)
    return found


def _around(entity: Entity, before: str, after: str) -> tuple[Change, Change]:
    return (
        Change(entity.start, entity.start, before, OPEN),
        Change(entity.end, entity.end, after, CLOSE),
    )


def _strikes(entity: Entity) -> Iterable[Change]:
    """A mark around the words of each line."""
    for at, line in lines_of(entity):
        core = line.strip()
        if core:
            start = at + units_of(line[: len(line) - len(line.lstrip())])
            yield Change(start, start, "~~", OPEN)
            end = start + units_of(core)
            yield Change(end, end, "~~", CLOSE)


def _inline_code(entity: Entity) -> tuple[Change, ...]:
    if not entity.words.strip():
        return ()
    fence = _fence(entity.words, 1)
    pad = " " if "`" in (entity.words[0], entity.words[-1]) else ""
    return _around(entity, fence + pad, pad + fence)


def _code_block(source: Units, entity: Entity) -> tuple[Change, Change]:
    fence, language = _fence(entity.words, 3), text(entity.raw, "language", 40)
    language = language if _LANGUAGE.fullmatch(language) else ""
    before = source.cut(max(0, entity.start - 1), entity.start)
    after = source.cut(entity.end, entity.end + 1)
    lead = "" if before in ("", "\n") else "\n"
    close = fence if entity.words.endswith("\n") else f"\n{fence}"
    return _around(
        entity, f"{lead}{fence}{language}\n", close + ("" if after in ("", "\n") else "\n")
    )


def _fence(words: str, least: int) -> str:
    """Backticks that the words do not contain."""
    longest = max((len(run) for run in _BACKTICKS.findall(words)), default=0)
    return "`" * max(least, longest + 1)
