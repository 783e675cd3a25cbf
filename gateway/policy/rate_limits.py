"""Limits of messages: token buckets per person, channel and workspace, the intake limits of one
sender, and pauses of bots that answer each other.

A message takes a token from all of its buckets or from none. Beside the shared buckets each person
has a reserve that others cannot use up.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct
from pydantic import Field

from gateway.latest import Latest
from gateway.message import MessageAuthor, Place
from gateway.policy.decision import Decision
from gateway.settings import Section

STAGE = "limits"
INLINE_PER_MINUTE = 60
"""Inline queries of one person; Telegram sends one for each pause in typing."""
INLINE_TOGETHER = 600
INLINE_RESERVE = 6
Level = Literal["user", "channel", "workspace", "reserve"]


class RateLimits(Section):
    """Limits of questions per minute; 0 removes a limit."""

    user_per_minute: int = Field(default=5, ge=0, le=10_000)
    """Questions of one person."""
    channel_per_minute: int = Field(default=20, ge=0, le=100_000)
    """Questions in one channel."""
    workspace_per_minute: int = Field(default=100, ge=0, le=1_000_000)
    """Questions in one workspace. Telegram and WhatsApp have no workspaces: there only the two
    limits above apply."""
    reserve_per_minute: int = Field(default=1, ge=0, le=100)
    """Questions of one person that are answered although others have used up the limit of the
    channel or the workspace. The total is the limit plus this number for each person who writes."""
    api_per_minute: int = Field(default=120, ge=0, le=100_000)
    """Requests of one person to the HTTP interface (docs/how-to/use-memory-over-http.md) and over
    MCP (docs/reference/mcp.md) together."""
    agent_per_minute: int = Field(default=60, ge=0, le=100_000)
    """Calls of tools by one agent over MCP (docs/reference/mcp.md)."""


class BucketRule(Struct, frozen=True):
    """One bucket: its key, its capacity and the tokens it regains per minute."""

    level: Level
    key: str
    per_minute: int


class Bucket(Struct, frozen=True):
    """The tokens in a bucket at a time (seconds)."""

    tokens: float
    at: float


class Taken(Struct, frozen=True):
    """The result of taking a token from several buckets at once.

    `buckets` is their new state, in the order of the rules; `level` and `retry_after` (seconds)
    name the bucket that stays empty longest if the answer is no.
    """

    allowed: bool
    buckets: tuple[Bucket, ...]
    level: Level | None = None
    retry_after: float = 0.0

    def decision(self) -> Decision:
        """Return the result as a decision with its reason."""
        if self.allowed:
            return Decision(STAGE, True, "within_limits")
        return Decision(
            STAGE,
            False,
            f"{self.level}_limit",
            f"again in {self.retry_after:.0f} s",
            self.retry_after,
        )


def sender_key(person: str, author: MessageAuthor, place: Place) -> str:
    """Return the key under which limits and budgets count a sender.

    `person` stands for all linked identities of one human. A chat, a webhook or a bot writes under
    names that one human can create freely: all of them in one channel are one sender.
    """
    if author.is_chat or author.is_bot:
        return f"names:{place.platform}:{place.account}:{place.channel_id}"
    return person


def rules_for(tenant: str, sender: str, place: Place, limits: RateLimits) -> tuple[BucketRule, ...]:
    """Return the buckets for a message; `sender` is a `sender_key`. Without a workspace no bucket
    is shared beyond the channel."""
    account = f"{tenant}:{place.platform}:{place.account}"
    workspace = f"{account}:{place.workspace_id}"
    channel = f"{account}:{place.channel_id}"
    shared = [BucketRule("channel", f"channel:{channel}", limits.channel_per_minute)]
    if place.workspace_id:
        rule = BucketRule("workspace", f"workspace:{workspace}", limits.workspace_per_minute)
        shared.append(rule)
    shared = [rule for rule in shared if rule.per_minute > 0]
    rules = [user_rule(tenant, sender, limits), *shared]
    if shared:
        whole = workspace if place.workspace_id else channel
        key = f"reserve:{tenant}:{sender}:{whole}"
        rules.append(BucketRule("reserve", key, limits.reserve_per_minute))
    return tuple(rule for rule in rules if rule.per_minute > 0)


def user_rule(tenant: str, sender: str, limits: RateLimits) -> BucketRule:
    """Return the bucket of a sender's own messages."""
    return BucketRule("user", f"user:{tenant}:{sender}", limits.user_per_minute)


def inline_rules(tenant: str, sender: str, place: Place) -> tuple[BucketRule, ...]:
    """Return the buckets for an inline query: one for the sender, one for the account, and a
    reserve for each sender."""
    account = f"{tenant}:{place.platform}:{place.account}"
    return (
        BucketRule("user", f"inline:{tenant}:{sender}", INLINE_PER_MINUTE),
        BucketRule("workspace", f"inline:all:{account}", INLINE_TOGETHER),
        BucketRule("reserve", f"inline:reserve:{tenant}:{sender}", INLINE_RESERVE),
    )


def take(rules: Sequence[BucketRule], held: Sequence[Bucket | None], now: float) -> Taken:
    """Take one token from every bucket, or from none.

    `held` is the stored state in the order of `rules`; None is an unused, full bucket. A sender
    with a token in the reserve passes an empty shared bucket. Each message also takes a token from
    the reserve, so in T minutes a shared bucket of C lets at most C * (T + 1) messages pass, plus R
    * (T + 1) for each sender with a reserve of R.
    """
    filled = [_filled(rule, bucket, now) for rule, bucket in zip(rules, held, strict=True)]
    reserve = None
    for rule, tokens in zip(rules, filled, strict=True):
        if rule.level == "reserve":
            reserve = _wait(rule, tokens)
    empty: tuple[float, Level] | None = None
    for rule, tokens in zip(rules, filled, strict=True):
        if tokens >= 1 or rule.level == "reserve":
            continue
        wait = _wait(rule, tokens)
        if rule.level != "user" and reserve is not None:
            wait = min(wait, reserve)
        if wait > 0 and (empty is None or wait > empty[0]):
            empty = (wait, rule.level)
    if empty is not None:
        return Taken(False, tuple(Bucket(t, now) for t in filled), empty[1], empty[0])
    return Taken(True, tuple(Bucket(t - 1 if t >= 1 else t, now) for t in filled))


def tokens_used(rule: BucketRule, bucket: Bucket | None, now: float) -> int:
    """Return how many whole tokens the bucket lacks at `now` (seconds)."""
    return rule.per_minute - int(_filled(rule, bucket, now))


def _filled(rule: BucketRule, bucket: Bucket | None, now: float) -> float:
    tokens = float(rule.per_minute)
    if bucket is None:
        return tokens
    gained = max(0.0, now - bucket.at) * rule.per_minute / 60
    return min(tokens, bucket.tokens + gained)


def _wait(rule: BucketRule, tokens: float) -> float:
    """Return the seconds until the bucket has a token."""
    return 0.0 if tokens >= 1 else (1 - tokens) * 60 / rule.per_minute


MAX_SENDERS: Final = 10_000
LEAST: Final = 20
"""The smallest burst of stored events of one sender; as many as one turn collects."""
LEAST_PER_MINUTE: Final = 10
TIMES: Final = 2
"""Stored events per minute, as a multiple of the answered messages per minute."""
EDITS: Final = 10
"""Edits and button presses, as a multiple of new messages: a lost edit would leave the old text."""
LOGGED_PER_MINUTE: Final = 4
"""Refusals of one sender that are logged per minute."""


class IntakeLimits:
    """Token buckets for the events of each sender."""

    def __init__(self) -> None:
        self._held: Latest[tuple[str, str], Bucket] = Latest(MAX_SENDERS)

    def stored(self, sender: str, now: float, per_minute: int, *, edit: bool = False) -> bool:
        """Return True if one more event of this sender may be stored at `now` (monotonic
        seconds). `per_minute` is the rate of answers to one person; 0 means no limit."""
        if not per_minute:
            return True
        rate = max(LEAST_PER_MINUTE, TIMES * per_minute)
        burst, times = max(LEAST, 2 * rate), EDITS if edit else 1
        return self._take("edit" if edit else "new", sender, now, burst * times, rate * times)

    def inline_allowed(self, sender: str, now: float, per_minute: int) -> bool:
        """Return True if one more inline query of this sender is processed."""
        return self._take("inline", sender, now, per_minute, per_minute)

    def may_log(self, sender: str, now: float) -> bool:
        """Return True if one more refusal of this sender is logged."""
        return self._take("logged", sender, now, LOGGED_PER_MINUTE, LOGGED_PER_MINUTE)

    def _take(self, kind: str, sender: str, now: float, most: int, per_minute: int) -> bool:
        key = (kind, sender)
        held = self._held.get(key)
        # A bucket is full again after a minute; scaling the time allows larger bursts.
        rule, scale = BucketRule("user", sender, most), per_minute / most
        taken = take((rule,), (held,), now * scale)
        self._held[key] = taken.buckets[0]
        return taken.allowed


LOOP_GUARD: Final = "loop_guard"
MAX_ROOMS = 10_000


class BotLoopLimits(Struct, frozen=True):
    """The number of bot messages in one room within `window` seconds that starts a pause."""

    messages: int = 10
    window: float = 60.0
    pause: float = 300.0


DEFAULT_LIMITS: Final = BotLoopLimits()


@dataclass(slots=True)
class _Pace:
    seen: deque[float] = field(default_factory=deque)
    paused_until: float = 0.0


class BotLoopGuard:
    """Counts bot messages per room, for the latest `MAX_ROOMS` rooms. A thread counts as its
    channel, because a bot can open a thread with every message.

    People are not counted: rate limits apply to them. A room that was forgotten starts again, which
    costs at most `BotLoopLimits.messages` answers.
    """

    def __init__(self, limits: BotLoopLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._paces: Latest[str, _Pace] = Latest(MAX_ROOMS)

    def check(self, room: str, *, by_bot: bool, now: float) -> Decision:
        """Count a message and decide if it is processed. `now` is in monotonic seconds."""
        if not by_bot:
            return Decision(LOOP_GUARD, True, "person")
        pace = self._paces[room] = self._paces.get(room) or _Pace()
        if now < pace.paused_until:
            return Decision(LOOP_GUARD, False, "bot_loop_paused")
        while pace.seen and pace.seen[0] <= now - self._limits.window:
            pace.seen.popleft()
        pace.seen.append(now)
        if len(pace.seen) > self._limits.messages:
            pace.paused_until = now + self._limits.pause
            pace.seen.clear()
            return Decision(LOOP_GUARD, False, "bot_loop")
        return Decision(LOOP_GUARD, True, "bot")
