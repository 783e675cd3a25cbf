"""Parses the texts of a handoff: bounded, with safe Unicode, sanitised, without secrets, and with
the markers of authority neutralised, because another agent or person reads them."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.errors import UsageError
from memory.agents.model import HandoffContext
from memory.text.clean_json import Cleaner, cleaned_object
from safety.unicode import cut

MAX_TASK: Final = 2_000
"""Characters of a task's description, the length of a tool's argument."""
MAX_REASON: Final = 500
MAX_MEMORIES: Final = 50
MAX_FILES: Final = 100
MAX_REFERENCE: Final = 500
"""Characters of a file's path or a memory's id."""
_FIELDS: Final = frozenset(
    ("task_description", "current_state", "relevant_memories", "relevant_files")
)


def read_context(raw: object) -> HandoffContext:
    """Return the context of a handoff. Raises `BadInput` that names the wrong field.

    `raw` is a `HandoffContext` or a mapping with its fields, of which only `task_description` is
    needed.
    """
    fields = _fields(raw)
    cleaner = Cleaner()
    return HandoffContext(
        task_description=_task(fields.get("task_description"), cleaner),
        current_state=cleaned_object(fields.get("current_state") or {}, "current_state", cleaner),
        relevant_memories=_references(fields, "relevant_memories", MAX_MEMORIES, cleaner),
        relevant_files=_references(fields, "relevant_files", MAX_FILES, cleaner),
        findings=tuple(cleaner.findings),
    )


def read_result(raw: object) -> dict[str, object]:
    """Return the result of a handoff: a bounded JSON object. Raises `BadInput`."""
    return cleaned_object(raw, "result", Cleaner())


def read_reason(raw: object) -> str:
    """Return the reason of a rejection in one line, cut to `MAX_REASON` characters. Raises
    `BadInput`."""
    if not isinstance(raw, str):
        raise UsageError("reason: must be a text")
    return cut(Cleaner().line(raw[: MAX_REASON * 4]), MAX_REASON)


def _fields(raw: object) -> Mapping[str, object]:
    if isinstance(raw, HandoffContext):
        return {name: getattr(raw, name) for name in _FIELDS}
    if not isinstance(raw, dict):
        raise UsageError("context: must be an object with task_description")
    unknown = sorted(str(name)[:40] for name in raw if name not in _FIELDS)
    if unknown:
        known = ", ".join(sorted(_FIELDS))
        raise UsageError(f"context: has no field {unknown[0]!r}; its fields are {known}")
    return raw


def _task(raw: object, cleaner: Cleaner) -> str:
    place = "context.task_description"
    if not isinstance(raw, str):
        raise UsageError(f"{place}: must be a text")
    if len(raw) > MAX_TASK:
        raise UsageError(f"{place}: has {len(raw):,} characters, at most {MAX_TASK:,}; shorten it")
    task = cleaner.text(raw).strip()
    if not task:
        raise UsageError(f"{place}: is empty")
    return task


def _references(
    fields: Mapping[str, object], name: str, most: int, cleaner: Cleaner
) -> tuple[str, ...]:
    """Return a list of ids or paths, each in one line."""
    raw, place = fields.get(name) or (), f"context.{name}"
    if not isinstance(raw, list | tuple) or not all(isinstance(one, str) for one in raw):
        raise UsageError(f"{place}: must be a list of texts")
    if len(raw) > most:
        raise UsageError(f"{place}: has {len(raw)} entries, at most {most}")
    texts: Sequence[str] = tuple(raw)
    if any(len(one) > MAX_REFERENCE for one in texts):
        raise UsageError(f"{place}: an entry has more than {MAX_REFERENCE} characters")
    return tuple(dict.fromkeys(line for one in texts if (line := cleaner.line(one))))


def says_same(one: HandoffContext, other: HandoffContext) -> bool:
    """Return True for the same task with the same state, memories and files. Spaces, case, widths
    of letters, shapes of quotation marks, marks of a list and the marks around a sentence make no
    other task; a sign, an operator and the dot of a file's name do."""
    return (
        _compared(one.task_description) == _compared(other.task_description)
        and _ordered(one.current_state) == _ordered(other.current_state)
        and {*one.relevant_memories} == {*other.relevant_memories}
        and {*one.relevant_files} == {*other.relevant_files}
    )


_ITEM: Final = re.compile(r"^[ \t]*[-*+•–][ \t]+", re.MULTILINE)
_AROUND: Final = re.compile(r"^[¡¿]+|(?<=\w)[.。।۔]+$|(?<=[^\s\d!])\s?!+$")
_QUOTES: Final = str.maketrans(
    {**dict.fromkeys("‘’ʼ‚‛′", "'"), **dict.fromkeys("“”„‟«»″", '"'), "\u0307": None}
)


def _compared(task: str) -> str:
    """Return a task as it is compared."""
    plain = _ITEM.sub("", unicodedata.normalize("NFKC", task)).translate(_QUOTES)
    return _AROUND.sub("", " ".join(plain.casefold().translate(_QUOTES).split()))


def _ordered(state: Mapping[str, object]) -> str:
    return json.dumps(state, sort_keys=True)
