"""The facts of the running turn: its correlation id, which logs, traces and the outbox have too,
the person for whom models are called, and the durations of its stages and calls."""

import hashlib
from asyncio import CancelledError
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, Final

from gateway.errors import ModelError
from gateway.policy.model_failures import described
from gateway.ports import Clock
from gateway.ports.observer import Timing

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


MAX_TIMINGS = 100
"""Timings that are kept per turn."""
_timings: ContextVar[list[Timing] | None] = ContextVar("timings", default=None)


class collect_timings:  # noqa: N801 - used like a function: with collect_timings(timings)
    """A context in which the results of `timed` are added to `timings`."""

    __slots__ = ("_timings", "_token")

    def __init__(self, timings: list[Timing]) -> None:
        self._timings = timings

    def __enter__(self) -> None:
        self._token: Token[list[Timing] | None] = _timings.set(self._timings)

    def __exit__(self, *_: object) -> None:
        _timings.reset(self._token)


def note(timing: Timing) -> None:
    """Add a timing to the running turn, if there is one."""
    timings = _timings.get()
    if timings is not None and len(timings) < MAX_TIMINGS:
        timings.append(timing)


@contextmanager
def timed(kind: str, name: str, clock: Clock) -> Iterator[list[int]]:
    """Measure a block of code, also if it fails. The block may add figures to the list."""
    began, ended, failure = clock.monotonic(), "ok", ""
    figures: list[int] = []
    try:
        yield figures
    except (CancelledError, GeneratorExit):
        ended = "stopped"
        raise
    except Exception as error:
        ended = type(error).__name__
        failure = described(error) if isinstance(error, ModelError) else ""
        raise
    finally:
        seconds = clock.monotonic() - began
        note(Timing(kind, name, began, seconds, ended, tuple(figures), failure))
