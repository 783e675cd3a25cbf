"""Failed reads of threads: pauses that a platform wants, and the failures that the log has."""

from typing import Final

from gateway.latest import Latest

LOG_AGAIN: Final = 3_600.0
"""Seconds after which the same failure is logged again."""
MAX_KEPT: Final = 1_000


class ThreadFailures:
    """Failed reads: until when an account is not asked again, and what is in the log already."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str], float] = {}
        self._logged: Latest[tuple[str, ...], float] = Latest(MAX_KEPT)

    def pauses(self, account: tuple[str, str], now: float) -> bool:
        """Return True while the platform wants no request of this account."""
        return self._until.get(account, 0.0) > now

    def pause(self, account: tuple[str, str], until: float) -> None:
        """Ask nothing before this time."""
        self._until[account] = until

    def is_new(self, failure: tuple[str, ...], now: float) -> bool:
        """Return True if this failure has not been noted within the last hour, and note it."""
        if self._logged.get(failure, -LOG_AGAIN) > now - LOG_AGAIN:
            return False
        self._logged[failure] = now
        return True
