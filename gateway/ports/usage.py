"""Limits: token buckets, and the usage ledger with tokens, cost and budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gateway.policy.rate_limits import BucketRule, Taken
from gateway.ports import Usage


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The cost of one turn. `micros` is in millionths of a dollar."""

    tenant: str
    person: str
    workspace: str
    model: str
    usage: Usage
    micros: int
    at: datetime


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The total cost of the calls of one model, in millionths of a dollar."""

    model: str
    calls: int
    usage: Usage
    micros: int


class Buckets(Protocol):
    """Token buckets, shared by everything that limits the same person, channel or workspace."""

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        """Take a token from all of them or from none, atomically."""

    async def claim(self, key: str, ttl: timedelta) -> bool:
        """Return True for the first caller with this key within `ttl`."""
