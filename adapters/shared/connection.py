"""The base of the adapter classes: properties, connecting, pauses between attempts, liveness."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, Generic, TypeVar

from adapters.shared.settings import CredentialSettings
from gateway.errors import StartError
from gateway.ports import AdapterContext, AdapterManifest, Capabilities, EventSink, Liveness
from gateway.text import Sentence, Span, text, verbatim

CONNECTION_DEADLINE: Final = 120.0
"""Seconds without a connection after which an adapter ends with a `StartError`; the program then
starts the account again."""


class Backoff:
    """Pauses that double with each failed attempt, from `first` to `longest` seconds."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def pause(self, requested: float | None = None) -> float:
        """Seconds before the next attempt, at least the `requested` ones of the platform."""
        pause, self._next = self._next, min(self._next * 2, self._longest)
        return max(pause, requested or 0.0)

    def reset(self) -> None:
        """Begin with `first` again, after an attempt that succeeded."""
        self._next = self._first


NOT_CONNECTED: Final = text("not connected")
_RECONNECTING: Final = text("reconnecting")


class LivenessMonitor:
    """Judges a connection by the platform's last answer to a heartbeat, ping or poll.

    `overdue` is the sentence for an answer that does not come, with the hole `time`; `now` is the
    clock that answers are noted in.
    """

    def __init__(self, overdue: Sentence, now: Callable[[], float]) -> None:
        self._overdue = overdue
        self._now = now
        self._answered_at = now()

    def answered(self, at: float | None = None) -> None:
        """The platform answered, now or `at` that time."""
        self._answered_at = self._now() if at is None else at

    def seconds_since(self) -> float:
        """Seconds since the last answer."""
        return max(0.0, self._now() - self._answered_at)

    def check(self, overdue_after: float, connected: bool = True) -> Liveness:
        """The verdict: an answer is overdue after so many seconds."""
        seconds = self.seconds_since()
        if not connected:
            return Liveness(False, _RECONNECTING, seconds)
        if seconds > overdue_after:
            return Liveness(False, self._overdue.of(time=Span(seconds)), seconds)
        return Liveness(True, "", seconds)


S = TypeVar("S", bound=CredentialSettings)


class AccountAdapter(ABC, Generic[S]):
    """One account of the platform that `manifest` describes."""

    manifest: ClassVar[AdapterManifest]

    def __init__(self, settings: S, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._ended = asyncio.Event()
        self._ended.set()
        self._failure: BaseException | None = None

    @property
    def platform(self) -> str:
        """The platform's name, in lower case."""
        return self.manifest.platform

    @property
    def account(self) -> str:
        """The name of this account in the configuration."""
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the manifest."""
        return self.manifest.capabilities

    @property
    def webhook_path(self) -> str:
        """The path on the public listener: the account "main" has the short one."""
        path = f"/webhook/{self.platform}"
        return path if self.account == "main" else f"{path}/{self.account}"

    async def connect(self, sink: EventSink) -> None:
        """Connect, and hand events to `sink` from then on. Raises `StartError`."""
        await self.disconnect()
        if absent := self._settings.absent():
            names = ", ".join(f"platforms.{self.platform}.{name}" for name in absent)
            raise StartError(
                text("Missing settings: {names}.", names=verbatim(names)),
                text(
                    "Set them (`parley docs {page}`), or run `parley init`.",
                    page=verbatim(f"how-to/connect-{self.platform}"),
                ),
                permanent=True,
            )
        self._failure = None
        self._ended.clear()
        try:
            await self._open(sink)
        except BaseException:
            await self.disconnect()
            raise

    async def wait_closed(self) -> None:
        """Return after `disconnect`. Raises `StartError` when the connection is lost for good."""
        await self._ended.wait()
        if self._failure is not None:
            raise self._failure

    async def disconnect(self) -> None:
        """Stop receiving and close everything. Safe to call twice, and before `connect`."""
        self._end(None)
        await self._close()

    def _end(self, failure: BaseException | None) -> None:
        """Let `wait_closed` return, or raise `failure`. Only the first call counts."""
        if not self._ended.is_set():
            self._failure = failure
            self._ended.set()

    def _end_with(self, task: asyncio.Task[None]) -> None:
        """End the connection when this task ends."""
        task.add_done_callback(
            lambda task: self._end(None if task.cancelled() else task.exception())
        )

    @abstractmethod
    async def _open(self, sink: EventSink) -> None:
        """Connect. Raises `StartError`; `disconnect` follows any failure."""

    @abstractmethod
    async def _close(self) -> None:
        """Close everything. Called several times, also before `_open`."""
