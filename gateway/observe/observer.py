"""The port between message processing and its observers: metrics and traces."""

from asyncio import CancelledError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from gateway.message import Outbound
from gateway.ports import Clock
from gateway.ports.stores import Trace, UsageRow

MAX_TIMINGS = 100
"""Timings that are kept per exchange."""


class Timing(NamedTuple):
    """The duration of a stage ("stage", its name) or of a call ("model", the model's name).

    `began` and `seconds` are of the injected clock's monotonic time; `ended` is a reason code. A
    tuple, because a dozen are created for every message (0.3 µs each, 1.2 as a frozen dataclass).
    """

    kind: str
    name: str
    began: float
    seconds: float
    ended: str = "ok"


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A finished exchange. Its (last) event was `stored`, and its turn `began`, at these monotonic
    seconds; `last_key` is the send that ends it, empty if nothing is sent."""

    trace: Trace
    timings: Sequence[Timing]
    usage: Sequence[UsageRow]
    stored: float
    began: float
    last_key: str


@dataclass(frozen=True, slots=True)
class SendAttempt:
    """One attempt of a send; `failed` is the error's type, empty for success."""

    outbound: Outbound
    began: float
    seconds: float
    failed: str = ""


class Observer(Protocol):
    """Receives events of the gateway. Must neither wait nor raise."""

    def arrived(self, platform: str, kind: str) -> None:
        """An event was received, whatever becomes of it."""

    def stored(self, seconds: float) -> None:
        """The inbox stored an event, within `seconds`."""

    def answered(self, answered: FinishedTurn) -> None:
        """An exchange ended; its answer is queued."""

    def attempted(self, attempt: SendAttempt) -> None:
        """A send was attempted."""


class NoObserver:
    """Implements `Observer` by looking away."""

    def arrived(self, platform: str, kind: str) -> None:
        """Nothing."""

    def stored(self, seconds: float) -> None:
        """Nothing."""

    def answered(self, answered: FinishedTurn) -> None:
        """Nothing."""

    def attempted(self, attempt: SendAttempt) -> None:
        """Nothing."""


_timings: ContextVar[list[Timing] | None] = ContextVar("timings", default=None)


class collect_timings:  # noqa: N801 - reads as what it is: with collect_timings(timings)
    """A context in which the results of `timed` are added to `timings`."""

    __slots__ = ("_timings", "_token")

    def __init__(self, timings: list[Timing]) -> None:
        self._timings = timings

    def __enter__(self) -> None:
        self._token: Token[list[Timing] | None] = _timings.set(self._timings)

    def __exit__(self, *_: object) -> None:
        _timings.reset(self._token)


def note(timing: Timing) -> None:
    """Add a timing to the running exchange, if there is one."""
    timings = _timings.get()
    if timings is not None and len(timings) < MAX_TIMINGS:
        timings.append(timing)


@contextmanager
def timed(kind: str, name: str, clock: Clock) -> Iterator[None]:
    """Measure a block of code, also if it fails."""
    began, ended = clock.monotonic(), "ok"
    try:
        yield
    except (CancelledError, GeneratorExit):
        ended = "stopped"
        raise
    except Exception as error:
        ended = type(error).__name__
        raise
    finally:
        note(Timing(kind, name, began, clock.monotonic() - began, ended))


class CombinedObserver:
    """Implements `Observer` for several others."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def arrived(self, platform: str, kind: str) -> None:
        for observer in self._observers:
            observer.arrived(platform, kind)

    def stored(self, seconds: float) -> None:
        for observer in self._observers:
            observer.stored(seconds)

    def answered(self, answered: FinishedTurn) -> None:
        for observer in self._observers:
            observer.answered(answered)

    def attempted(self, attempt: SendAttempt) -> None:
        for observer in self._observers:
            observer.attempted(attempt)
