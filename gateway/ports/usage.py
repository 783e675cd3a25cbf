"""Limits: token buckets, and the usage ledger with tokens, cost and budgets."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from msgspec import Struct

from gateway.policy.rate_limits import Bucket, BucketRule, Taken
from gateway.ports import Usage

LATENCIES: Final = (
    *(250, 500, 1_000, 1_500, 2_000, 3_000, 4_500),
    *(7_000, 10_000, 15_000, 30_000, 60_000),
)
"""The bounds, in milliseconds, between which answers are counted by their duration."""
UsageKey = Literal["hour", "day", "person", "workspace", "channel", "model"]


class UsageRow(Struct, frozen=True):
    """The cost of one turn."""

    tenant: str
    """The tenant of the person."""
    person: str
    """The `str(PersonId)` who asked."""
    workspace: str
    """The workspace of the place, as budgets name it."""
    model: str
    """The name under which the call is priced."""
    usage: Usage
    """The tokens."""
    micros: int
    """The cost in millionths of a dollar."""
    at: datetime
    """The time of the call, in UTC."""


class UsageTotal(Struct, frozen=True):
    """The total cost of the calls of one model, in millionths of a dollar."""

    model: str
    calls: int
    usage: Usage
    """The tokens of all calls."""
    micros: int
    """The cost in millionths of a dollar."""


class UsageFilter(Struct, frozen=True):
    """The usage to sum: of a tenant and the program's own calls, in whole UTC days from `since` on
    and before `until`. `persons` are the only people, None for everybody; an empty text does not
    filter. `channel` None does not filter either: the empty one stands for direct conversations.
    Without any filter, the sums by day and by model begin at any quarter of an hour."""

    tenant: str
    since: datetime
    until: datetime
    persons: tuple[str, ...] | None = None
    person: str = ""
    """The only person, a `str(PersonId)`."""
    workspace: str = ""
    """The only workspace."""
    channel: str | None = None
    model: str = ""


class UsageSum(Struct, frozen=True):
    """The sums of one value of a key. `name` is the value: the microseconds since 1970 of an hour
    or a day, a `str(PersonId)`, "platform:account:workspace", a model, or for a channel its
    workspace and its id, separated by a line break. Empty: none is known, or the person was erased.

    `messages` were handled, `errors` of them failed, `calls` cost `micros` millionths of a dollar.
    `took` has the number of answers between the bounds of `LATENCIES`.
    """

    name: str
    calls: int
    usage: Usage
    """The tokens of all calls."""
    micros: int
    messages: int
    errors: int
    took: tuple[int, ...]


class Buckets(Protocol):
    """Token buckets, shared by everything that limits the same person, channel or workspace."""

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        """Take a token from all of them or from none, atomically."""

    async def held(self, keys: Sequence[str]) -> list[Bucket | None]:
        """Return the buckets with these keys; None for one that is full."""

    async def used(self, prefix: str, since: float, limit: int) -> dict[str, Bucket]:
        """Return at most `limit` buckets of people, channels or workspaces that were used after
        `since` (seconds), by key. The keys begin with `prefix`, which begins with the level and a
        colon."""

    async def claim(self, key: str, ttl: timedelta) -> bool:
        """Return True for the first caller with this key within `ttl`."""
