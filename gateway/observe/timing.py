"""Timing of stages and model calls."""

from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from gateway.errors import ModelError
from gateway.policy.model_failures import described
from gateway.ports import Clock
from gateway.ports.observer import Timing

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
