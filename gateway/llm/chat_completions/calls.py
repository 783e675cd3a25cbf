"""The tool calls of a stream, in the variants of servers; ids of calls that every service takes."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.immutable import replace
from gateway.llm.chat_completions.arguments import (
    MAX_ARGUMENTS,
    as_arguments,
    is_complete,
    split_arguments,
)
from gateway.llm.chat_completions.written_calls import offered_name
from gateway.llm.json_text import paired
from gateway.ports import ContentBlock, ModelMessage, ToolCall, ToolOutcome, ToolSpec

MAX_CALLS: Final = 64
MAX_PIECES: Final = 200_000
"""Pieces of all calls of one answer; the rest is dropped."""
MAX_NAME: Final = 64
MAX_ID: Final = 40
"""Characters of a call's id that every service takes."""
_ID: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID}}}")
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_OWN: Final = frozenset(("id", "type", "index", "function", "name", "arguments"))
_OF_FUNCTION: Final = frozenset(("name", "arguments"))


@dataclass(slots=True)
class Piecewise:
    """A call whose pieces arrive one after the other. `extra` are the fields that only its service
    understands, such as the signature of a thought."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def add(self, arguments: object) -> None:
        """Add arguments: a text is a piece of them, an object is all of them."""
        if isinstance(arguments, Mapping | list):
            self.pieces = [as_arguments(arguments)]
        elif isinstance(arguments, str) and arguments:
            self.size += len(arguments)
            if self.size <= 2 * MAX_ARGUMENTS:  # a server may repeat all of them at the end
                self.pieces.append(arguments)

    @property
    def is_complete(self) -> bool:
        """True if the arguments so far are a whole object."""
        return (
            bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and is_complete(self.text)
        )

    @property
    def text(self) -> str:
        """The arguments so far; a last piece that repeats all of them counts alone."""
        whole = paired("".join(self.pieces))
        last = self.pieces[-1] if self.pieces else ""
        if len(self.pieces) > 1 and last.startswith(self.pieces[0]) and is_complete(last):
            return last
        return whole


class CallAssembler:
    """The tool calls of one answer. `tools` are the offered ones by name, `taken` the ids that the
    conversation uses already."""

    def __init__(self, tools: Mapping[str, ToolSpec], taken: Collection[str]) -> None:
        self._tools = tools
        self.taken = taken
        self._calls: list[Piecewise] = []
        self._by_index: dict[object, Piecewise] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def last_is_complete(self) -> bool:
        """True if the arguments of the last call are whole: a limit of length did not cut it."""
        return bool(self._calls) and (not self._calls[-1].pieces or self._calls[-1].is_complete)

    def add(self, piece: Mapping[str, Any]) -> None:
        """Add a piece of a call. Raises `TypeError` for one that is no object."""
        if not isinstance(piece, dict):
            raise TypeError("a tool call is not an object")
        self._count += 1
        function = piece.get("function")
        if not isinstance(function, dict):
            function = piece
        name, arguments = _text(function.get("name")), function.get("arguments")
        call = self._call_of(piece.get("index"), _text(piece.get("id")), name, arguments)
        if call is None or self._count > MAX_PIECES:
            return
        call.id = call.id or _text(piece.get("id"))
        call.name = self._joined(call, name)
        call.add(arguments)
        call.extra.update((k, v) for k, v in piece.items() if k not in _OWN and v is not None)
        if function is not piece and (more := function.keys() - _OF_FUNCTION):
            call.extra["function"] = {key: function[key] for key in more}

    def _call_of(
        self, index: object, call_id: str, name: str, arguments: object
    ) -> Piecewise | None:
        """Return the call that a piece belongs to; None if there are too many."""
        key = index if isinstance(index, int | str) else None
        current = self._by_index.get(key)
        if current is None and key is None and self._calls:
            current = self._calls[-1]
        if current is not None and not self._begins(current, call_id, name, arguments):
            return current
        if key is None and call_id:
            known = next((call for call in self._calls if call.id == call_id), None)
            if known is not None and not self._begins(known, call_id, name, arguments):
                return known
        if len(self._calls) >= MAX_CALLS:
            return None
        begun = Piecewise()
        self._calls.append(begun)
        self._by_index[key] = begun
        return begun

    def _begins(self, current: Piecewise, call_id: str, name: str, arguments: object) -> bool:
        """Return True if a piece begins another call, though its index is that of `current`."""
        if call_id and current.id and call_id != current.id:
            return current.is_complete if current.pieces else bool(name)
        if not name or not current.name:
            return False
        if name != current.name and not self._continues(current, name):
            return bool(current.pieces) or current.name in self._tools
        return bool(arguments) and current.is_complete and not _same(current, arguments)

    def _continues(self, current: Piecewise, name: str) -> bool:
        """Return True if a name is the rest of the call's name, or a longer beginning of it."""
        if current.pieces:
            return False
        joined = current.name + name
        if joined in self._tools:
            return True
        return current.name not in self._tools and any(
            each.startswith((joined, name)) for each in self._tools
        )

    def _joined(self, call: Piecewise, name: str) -> str:
        if not name or name == call.name:
            return call.name
        if not call.name or name.startswith(call.name):
            return name
        return call.name + name

    def finished(self) -> Iterator[tuple[ToolCall, Mapping[str, Any]]]:
        """Yield each call with what only its service understands: its original id as `id`, if it
        was replaced, and its extra fields as `extra`."""
        used = set(self.taken)
        number = 0
        for call in self._calls:
            if not (call.name or call.pieces):
                continue
            for arguments in split_arguments(call.text):
                if number >= MAX_CALLS:
                    return
                call_id = new_id(call.id, used, number)
                used.add(call_id)
                number += 1
                own: dict[str, Any] = {"extra": call.extra} if call.extra else {}
                if call.id and call_id != call.id:
                    own["id"] = call.id
                yield ToolCall(call_id, self._name(call.name), arguments), own

    def _name(self, name: str) -> str:
        if known := offered_name(name, self._tools):
            return known
        return fitting_name(name)


def new_id(given: str, used: Collection[str], number: int) -> str:
    """Return an id that every service takes and that is not used yet: the given one if it is."""
    if _ID.fullmatch(given) and given not in used:
        return given
    seed = f"{len(used)} {number} {given}".encode("utf-8", "replace")
    for salt in range(1_000):
        digest = hashlib.blake2b(seed, digest_size=8, salt=salt.to_bytes(8, "big")).hexdigest()
        if (made := f"call_{digest}") not in used:
            return made
    raise ValueError("no free id")


def fitting_id(given: str) -> str:
    """Return an id that every service takes, always the same for the same id."""
    if _ID.fullmatch(given):
        return given
    return f"call_{hashlib.blake2b(given.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def fitting_name(name: str) -> str:
    """Return a name of a tool that every service takes."""
    return _NOT_IN_NAME.sub("_", name)[:MAX_NAME] or "unknown"


def _same(call: Piecewise, arguments: object) -> bool:
    """Return True if a piece repeats the arguments of the call."""
    if isinstance(arguments, Mapping | list):
        return as_arguments(arguments) == call.text
    text = _text(arguments)
    return text == call.text or not text.lstrip().startswith("{")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class CallIds:
    """The ids of one conversation, message by message. The same id always becomes the same one."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._used: set[str] = set()

    def fitted(self, message: ModelMessage) -> ModelMessage:
        """Return the next message with fitting ids."""
        content = tuple(map(self._block, message.content))
        same = all(new is old for new, old in zip(content, message.content, strict=True))
        return message if same else replace(message, content=content)

    def _block(self, block: ContentBlock) -> ContentBlock:
        if isinstance(block, ToolCall):
            sent = new_id(fitting_id(block.id), self._used, len(self._used))
            self._sent[block.id] = sent
            self._used.add(sent)
            return block if sent == block.id else replace(block, id=sent)
        if isinstance(block, ToolOutcome):
            sent = self._sent.get(block.call_id) or fitting_id(block.call_id)
            return block if sent == block.call_id else replace(block, call_id=sent)
        return block
