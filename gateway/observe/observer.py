"""The seam between the message's way and whoever watches it: figures and traces."""

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
"""Pieces of work that are remembered of one exchange."""


class Timing(NamedTuple):
    """A piece of work: a stage ("stage", its name), or a call ("model", the model's name).

    `began` and `seconds` are of the injected clock's monotonic time; `ended` is a reason code. A
    tuple, because a dozen are made for every message (0.3 µs each, 1.2 as a frozen dataclass).
    """

    kind: str
    name: str
    began: float
    seconds: float
    ended: str = "ok"


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """An exchange that is over. Its (last) event was `stored` at, its turn `began` at these
    monotonic seconds; `last_key` is the send that ends it, empty when nothing is sent."""

    trace: Trace
    timings: Sequence[Timing]
    usage: Sequence[UsageRow]
    stored: float
    began: float
    last_key: str


@dataclass(frozen=True, slots=True)
class SendAttempt:
    """One try of a send; `failed` names the error's type, empty when the platform took it."""

    outbound: Outbound
    began: float
    seconds: float
    failed: str = ""


class Observer(Protocol):
    """Is told what happens. Must neither wait nor raise."""

    def arrived(self, platform: str, kind: str) -> None:
        """An event came in, whatever becomes of it."""
        ...

    def stored(self, seconds: float) -> None:
        """The inbox took an event; it took so long."""
        ...

    def answered(self, answered: FinishedTurn) -> None:
        """An exchange ended; its answer is on its way."""
        ...

    def attempted(self, attempt: SendAttempt) -> None:
        """A send was tried."""
        ...


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
    """Within it, what `timed` measures is kept in `timings`."""

    __slots__ = ("_timings", "_token")

    def __init__(self, timings: list[Timing]) -> None:
        self._timings = timings

    def __enter__(self) -> None:
        self._token: Token[list[Timing] | None] = _timings.set(self._timings)

    def __exit__(self, *_: object) -> None:
        _timings.reset(self._token)


def note(timing: Timing) -> None:
    """Keep a timing for the exchange that runs, if one does."""
    timings = _timings.get()
    if timings is not None and len(timings) < MAX_TIMINGS:
        timings.append(timing)


@contextmanager
def timed(kind: str, name: str, clock: Clock) -> Iterator[None]:
    """Measure what happens within it, also when it fails."""
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
    """Implements `Observer` by telling others."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def arrived(self, platform: str, kind: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.arrived(platform, kind)

    def stored(self, seconds: float) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.stored(seconds)

    def answered(self, answered: FinishedTurn) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.answered(answered)

    def attempted(self, attempt: SendAttempt) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.attempted(attempt)
