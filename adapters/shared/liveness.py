"""The time of the last sign that a connection works, and the verdict that follows from it."""

from collections.abc import Callable

from gateway.ports import Liveness


class LivenessMonitor:
    """Judges a connection by the platform's last answer to a heartbeat, ping or poll.

    `signal` is the noun for messages ("heartbeat"), `now` the clock that answers are noted in.
    """

    def __init__(self, signal: str, now: Callable[[], float]) -> None:
        self._signal = signal
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
            return Liveness(False, "reconnecting", seconds)
        if seconds > overdue_after:
            return Liveness(False, f"no {self._signal} was answered for {seconds:.0f} s", seconds)
        return Liveness(True, "", seconds)
