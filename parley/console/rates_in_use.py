"""Limits of questions per minute, and how much of each is used now."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

from gateway.conversation import ConversationKey
from gateway.message import Place
from gateway.people import Audience
from gateway.policy.rate_limits import (
    BucketRule,
    RateLimits,
    rules_for,
    tokens_used,
    user_rule,
)
from gateway.ports.action import Output
from gateway.ports.conversation_views import Wanted
from parley.console.budgets_in_use import of_tenant
from parley.console.reading import reader_of
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

Level = Literal["person", "channel", "workspace"]
LEVELS: Final[Sequence[tuple[Level, Literal["user", "channel", "workspace"]]]] = (
    ("person", "user"),
    ("channel", "channel"),
    ("workspace", "workspace"),
)
EACH: Final = 10
"""Limits of each level that operators see, the most used ones."""
READ: Final = 1_000
"""Used limits of a level that are compared."""
CONVERSATIONS: Final = 5
"""Conversations of the viewer, the latest ones, whose limits they see."""
LATELY: Final = timedelta(days=1)
WINDOW: Final = 60.0
"""Seconds after which a limit is unused again."""
MAX_RATES: Final = 3 * EACH + 2 * CONVERSATIONS + 1


class RateOut(Output):
    """A limit of questions per minute of one person, channel or workspace; 0 is no limit."""

    of: Literal["person", "channel", "workspace", "person, beside the shared limits"]
    per_minute: int


class RateUseOut(Output):
    """A limit and the questions that count towards it now, from 0 to `per_minute`. `whose` is a
    person, or "platform:account" with a channel or workspace."""

    of: Level
    whose: str
    used: int
    per_minute: int


def rates_of(services: ConsoleServices) -> tuple[RateOut, ...]:
    """Return the limits."""
    limits = services.gateway.policies.limits
    return (
        RateOut(of="person", per_minute=limits.user_per_minute),
        RateOut(of="channel", per_minute=limits.channel_per_minute),
        RateOut(of="workspace", per_minute=limits.workspace_per_minute),
        RateOut(of="person, beside the shared limits", per_minute=limits.reserve_per_minute),
    )


async def rates_in_use(viewer: Viewer, services: ConsoleServices) -> tuple[RateUseOut, ...]:
    """Return the limits of the viewer and of their latest conversations, and for operators the most
    used ones of everybody. Raises `StoreUnavailable`."""
    own = await _own_rules(viewer, services)
    held = await services.gateway.stores.buckets.held([rule.key for rule in own])
    now = services.gateway.clock.now().timestamp()
    found = [
        _shown(viewer, rule, tokens_used(rule, bucket, now))
        for rule, bucket in zip(own, held, strict=True)
    ]
    if viewer.is_operator:
        found += await _most_used(viewer, services, {rule.key for rule in own}, now)
    return tuple(found)


async def _own_rules(viewer: Viewer, services: ConsoleServices) -> list[BucketRule]:
    limits, tenant = services.gateway.policies.limits, viewer.tenant
    human = await services.gateway.identities.human(tenant, viewer.principal.person)
    wanted = Wanted(person=viewer.person, since=services.gateway.clock.now() - LATELY)
    views = services.storage.conversation_views
    page = await views.page(reader_of(viewer), wanted, CONVERSATIONS)
    rules = [user_rule(tenant, human, limits)]
    for one in page.rows:
        key = ConversationKey.of(one.conversation)
        place = Place(key.platform, key.account, key.channel, Audience.DIRECT, key.workspace)
        rules += rules_for(tenant, human, place, limits)
    levels = {level for _, level in LEVELS}
    return list({one.key: one for one in rules if one.level in levels and one.per_minute}.values())


async def _most_used(
    viewer: Viewer, services: ConsoleServices, own: set[str], now: float
) -> list[RateUseOut]:
    found = []
    for _, level in LEVELS:
        per_minute = per_minute_of(services.gateway.policies.limits, level)
        if not per_minute:
            continue
        prefix = f"{level}:{viewer.tenant}:"
        used = await services.gateway.stores.buckets.used(prefix, now - WINDOW, READ)
        counted = [
            (tokens_used(rule, bucket, now), rule)
            for key, bucket in used.items()
            if key not in own and of_tenant(key.removeprefix(prefix), services)
            for rule in (BucketRule(level, key, per_minute),)
        ]
        counted.sort(key=lambda one: (-one[0], one[1].key))
        found += [_shown(viewer, rule, number) for number, rule in counted[:EACH] if number]
    return found


def per_minute_of(limits: RateLimits, level: Literal["user", "channel", "workspace"]) -> int:
    """Return the limit of a level; 0 is no limit."""
    every = {
        "user": limits.user_per_minute,
        "channel": limits.channel_per_minute,
        "workspace": limits.workspace_per_minute,
    }
    return every[level]


def _shown(viewer: Viewer, rule: BucketRule, used: int) -> RateUseOut:
    name = rule.key.removeprefix(f"{rule.level}:{viewer.tenant}:")
    (of,) = (of for of, level in LEVELS if level == rule.level)
    return RateUseOut(of=of, whose=name, used=used, per_minute=rule.per_minute)
