"""Token buckets."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from gateway.policy.rate_limits import BucketRule, Taken


class Buckets(Protocol):
    """Token buckets, shared by everything that limits the same person, channel or workspace."""

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        """Take a token from all of them or from none, atomically."""

    async def once(self, key: str, ttl: timedelta) -> bool:
        """Return True for the first caller with this key within `ttl`."""
