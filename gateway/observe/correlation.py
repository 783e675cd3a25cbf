"""The correlation id of a message, in logs, traces and the outbox."""

import hashlib
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, Final

MAX_REMEMBERED: Final = 2_000
"""Entries whose id is cached: it is needed half a dozen times per answer."""
_TURN_ID: Final = ContextVar("turn", default="")
_PERSON: Final = ContextVar("person", default="")


@lru_cache(MAX_REMEMBERED)
def correlation_id(inbox_id: str) -> str:
    """Return the id of the turn of an inbox entry: 16 hexadecimal digits.

    It is derived from the entry, so that another process, or this one after a restart, gets the
    same. It reveals nothing of the platform's ids.
    """
    return hashlib.blake2b(inbox_id.encode(), digest_size=8).hexdigest()


class correlated:  # noqa: N801 - used like a function: with correlated(turn_id)
    """A context in which every log line carries the id of the turn, also in tasks started there."""

    __slots__ = ("_token", "_turn_id")

    def __init__(self, turn_id: str) -> None:
        self._turn_id = turn_id

    def __enter__(self) -> None:
        self._token: Token[str] = _TURN_ID.set(self._turn_id)

    def __exit__(self, *_: object) -> None:
        _TURN_ID.reset(self._token)


def add_turn_id(
    _logger: object, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A log processor that adds the id of the turn to a line."""
    turn_id = _TURN_ID.get()
    if turn_id:
        line.setdefault("turn", turn_id)
    return line


@contextmanager
def asking(person: str) -> Iterator[None]:
    """A context in which calls of models are made for this person."""
    token = _PERSON.set(person)
    try:
        yield
    finally:
        _PERSON.reset(token)


def asking_person() -> str:
    """Return the person for whom a model is called; empty for nobody. No log has it."""
    return _PERSON.get()
