"""Token buckets per person, channel and workspace: all of them give a token, or none does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision

STAGE = "limits"

Level = Literal["user", "channel", "workspace"]


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Messages a minute (the source's defaults); 0 lifts a limit."""

    user_per_minute: int = 5
    channel_per_minute: int = 20
    workspace_per_minute: int = 100


@dataclass(frozen=True, slots=True)
class BucketRule:
    """One bucket: its key, and how many tokens it holds and regains in a minute."""

    level: Level
    key: str
    per_minute: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """How full a bucket was at a moment (seconds)."""

    tokens: float
    at: float


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of asking several buckets at once.

    `buckets` is their new state, in the order of the rules; `level` and `retry_after` (seconds)
    name the bucket that stays empty longest when the answer is no.
    """

    allowed: bool
    buckets: tuple[Bucket, ...]
    level: Level | None = None
    retry_after: float = 0.0

    def decision(self) -> Decision:
        """This outcome as a decision with its reason."""
        if self.allowed:
            return Decision(STAGE, True, "within_limits")
        return Decision(
            STAGE,
            False,
            f"{self.level}_limit",
            f"again in {self.retry_after:.0f} s",
            self.retry_after,
        )


def rules_for(person: PersonId, place: Place, limits: RateLimits) -> tuple[BucketRule, ...]:
    """The buckets a message has to pass. Outside a workspace, the account takes its place."""
    account = f"{place.platform}:{place.account}"
    rules = (
        BucketRule("user", f"user:{person}", limits.user_per_minute),
        BucketRule("channel", f"channel:{account}:{place.channel_id}", limits.channel_per_minute),
        BucketRule(
            "workspace", f"workspace:{account}:{place.workspace_id}", limits.workspace_per_minute
        ),
    )
    return tuple(rule for rule in rules if rule.per_minute > 0)


def take(rules: Sequence[BucketRule], held: Sequence[Bucket | None], now: float) -> Taken:
    """Take one token from every bucket, or from none.

    `held` is the stored state in the order of `rules`, None for a bucket never used: it is full.
    """
    filled = []
    empty: tuple[float, Level] | None = None
    for rule, bucket in zip(rules, held, strict=True):
        tokens = float(rule.per_minute)
        if bucket is not None:
            gained = max(0.0, now - bucket.at) * rule.per_minute / 60
            tokens = min(tokens, bucket.tokens + gained)
        if tokens < 1:
            wait = (1 - tokens) * 60 / rule.per_minute
            if empty is None or wait > empty[0]:
                empty = (wait, rule.level)
        filled.append(tokens)
    if empty is not None:
        return Taken(False, tuple(Bucket(t, now) for t in filled), empty[1], empty[0])
    return Taken(True, tuple(Bucket(t - 1, now) for t in filled))
