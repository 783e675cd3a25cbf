"""Observers of the gateway: metrics, traces and the security log."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from gateway.message import Outbound
from gateway.people import DEFAULT_TENANT
from gateway.policy.decision import Decision
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow


class SecurityEvent(Struct, frozen=True):
    """A refused or recorded action: codes and ids only.

    `person` is a `str(PersonId)`, empty if unknown; `channel` is "platform:account:channel" or the
    part of the program that refused; `address` is the network address of an HTTP client; `agent` is
    the id of the agent of the person whose token was used, empty for the person.
    """

    event: str
    """The code of the event, for logs and metrics."""
    reason: str
    """The code of the reason."""
    tenant: str = DEFAULT_TENANT
    """The tenant of the person."""
    person: str = ""
    channel: str = ""
    address: str = ""
    agent: str = ""


SecuritySink: TypeAlias = Callable[[SecurityEvent, int], Coroutine[Any, Any, None]]
"""Stores an event permanently, with the number of times that it happened. Raises
`StoreUnavailable`."""


class Timing(NamedTuple):
    """The duration of a stage ("stage", its name) or of a call ("model", the model's name).

    `began` and `seconds` are of the injected clock's monotonic time; `ended` is a reason code;
    `figures` are the fields of `CallFigures`, for a call; `failure` has the status and the kind of
    a failed one ("529 overloaded"). A tuple, because a dozen are created for
    every message (0.3 µs each, 1.2 as a frozen dataclass).
    """

    kind: str
    name: str
    began: float
    seconds: float
    ended: str = "ok"
    figures: tuple[int, ...] = ()
    failure: str = ""


class FinishedTurn(Struct, frozen=True):
    """A finished turn. Its (last) event was `stored`, and it `began`, at these monotonic
    seconds; `last_key` is the send that ends it, empty if nothing is sent. `refusal` is the
    decision of the stage that refused it."""

    trace: Trace
    """The decisions about the message."""
    timings: Sequence[Timing]
    """The durations of stages and calls."""
    usage: Sequence[UsageRow]
    """The model calls with their cost."""
    stored: float
    began: float
    last_key: str
    refusal: Decision | None = None


class SendAttempt(Struct, frozen=True):
    """One attempt of a send; `failed` is the error's type, empty for success."""

    outbound: Outbound
    """The send."""
    began: float
    """The start of the attempt, in monotonic seconds."""
    seconds: float
    """The duration of the attempt."""
    failed: str = ""


class Observer(Protocol):
    """Receives events of the gateway. Must neither wait nor raise."""

    def arrived(self, platform: str, kind: str) -> None:
        """An event was received, before any decision about it."""

    def stored(self, seconds: float) -> None:
        """The inbox stored an event, within `seconds`."""

    def answered(self, answered: FinishedTurn) -> None:
        """A turn ended; its answer is queued."""

    def attempted(self, attempt: SendAttempt) -> None:
        """A send was attempted."""


class CombinedObserver:
    """Implements `Observer` for any number of others."""

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
