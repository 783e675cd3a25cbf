"""Reasoning that a service sends beside the text of an answer, under any name.

Within a turn it goes back unchanged to the service and model that made it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.ports import OpaqueBlock

MAX_KEPT: Final = 400_000
"""Characters of one answer's reasoning that are kept; more is not sent back."""
MAX_PARTS: Final = 2_000
_NAME: Final = re.compile(
    r"reason|think|thought|signature|encrypted|opaque|extra_content|provider_specific", re.ASCII
)
"""Names of fields with reasoning, or with what proves it: `reasoning`, `reasoning_content`,
`reasoning_details`, `reasoning_text`, `reasoning_opaque`, `thinking`, `thinking_blocks`, `thought`,
`thought_signature`, `extra_content` and `provider_specific_fields`."""
_NOT_WORDS: Final = re.compile(r"signature|encrypted|opaque|extra_content|provider_specific|token")
_JOINED: Final = frozenset(("text", "summary", "thinking", "content", "reasoning"))


class Reasoning:
    """The reasoning of one answer."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._size = 0
        self.reasoned = False
        """Some of it is words, which count against the limit of length."""

    def add(self, message: Mapping[str, Any]) -> bool:
        """Take the reasoning of a message or a piece of one; True if there was any."""
        found = False
        for name, value in message.items():
            if value in (None, "", [], {}) or not _NAME.search(name):
                continue
            found = True
            self.reasoned = self.reasoned or not _NOT_WORDS.search(name)
            self._size += len(value) if isinstance(value, str) else len(str(value))
            if self._size <= MAX_KEPT and name not in ("role", "content"):
                self._merge(name, value)
        return found

    def _merge(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            self._fields.setdefault(name, "")
            self._texts.setdefault(name, []).append(value)
        elif isinstance(value, list):
            before = self._fields.setdefault(name, [])
            if isinstance(before, list):
                for part in value:
                    merge_part(before, part)
        elif isinstance(value, Mapping) and isinstance(before := self._fields.get(name), dict):
            before.update(value)
        else:
            self._fields[name] = dict(value) if isinstance(value, Mapping) else value

    def fields(self) -> dict[str, Any]:
        """Return the fields as a whole message has them; empty if there is too much."""
        if self._size > MAX_KEPT:
            return {}
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        return {**self._fields, **texts}


def merge_part(parts: list[Any], part: Any) -> None:
    """Add a part, or a piece of the last part: one of the same type and index, without an id of its
    own."""
    last = parts[-1] if parts else None
    if not (isinstance(part, Mapping) and isinstance(last, dict) and _continues(last, part)):
        if len(parts) < MAX_PARTS:
            parts.append(dict(part) if isinstance(part, Mapping) else part)
        return
    for name, value in part.items():
        before = last.get(name)
        if name in _JOINED and isinstance(value, str) and isinstance(before, str):
            last[name] = before + value
        elif name in _JOINED and isinstance(value, list) and isinstance(before, list):
            for inner in value[:MAX_PARTS]:
                merge_part(before, inner)
        elif value is not None:
            last[name] = value


def _continues(last: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    if last.get("type") != part.get("type") or last.get("index") != part.get("index"):
        return False
    other_id = part.get("id") and last.get("id") and part["id"] != last["id"]
    sealed = bool(last.get("signature") or last.get("data"))
    return not (other_id or sealed)


def opaque(maker: str, fields: Mapping[str, Any]) -> OpaqueBlock | None:
    """Return what goes back to the maker; None for nothing."""
    kept = {name: value for name, value in fields.items() if value}
    return OpaqueBlock(maker, json.dumps(kept)) if kept else None


def of_maker(block: OpaqueBlock, maker: str) -> Mapping[str, Any]:
    """Return what this maker gave; empty if it was another one."""
    if block.maker != maker:
        return {}
    try:
        value = json.loads(block.data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
