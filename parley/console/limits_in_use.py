"""Budgets and limits of questions per minute: how much of each is used, by whom, and when a budget
begins again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from gateway.conversation import ConversationKey
from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.budgets import MICRO, Budgets
from gateway.policy.rate_limits import (
    BucketRule,
    RateLimits,
    rules_for,
    tokens_used,
    user_rule,
)
from gateway.ports.action import Output
from gateway.ports.conversation_views import Wanted
from gateway.stores.usage import first_day
from parley.console.reading import reader_of
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

Kind = Literal["person", "workspace"]
Period = Literal["day", "month"]
EACH: Final = 10
"""The most used budgets of each kind, and limits of each level, that operators see."""
MAX_BUDGETS: Final = 4 * EACH + 2
BUDGETS: Final[Sequence[tuple[Kind, Period]]] = (
    ("person", "day"),
    ("person", "month"),
    ("workspace", "day"),
    ("workspace", "month"),
)
Level = Literal["person", "channel", "workspace"]
LEVELS: Final[Sequence[tuple[Level, Literal["user", "channel", "workspace"]]]] = (
    ("person", "user"),
    ("channel", "channel"),
    ("workspace", "workspace"),
)
READ: Final = 1_000
"""Used limits of a level that are compared."""
CONVERSATIONS: Final = 5
"""Conversations of the viewer, the latest ones, whose limits they see."""
LATELY: Final = timedelta(days=1)
WINDOW: Final = 60.0
"""Seconds after which a limit is unused again."""
MAX_RATES: Final = 3 * EACH + 2 * CONVERSATIONS + 1


class BudgetUseOut(Output):
    """A budget and what was spent of it, in millionths of a dollar. `whose` is a person or
    workspace; `renews` is the time from which on nothing of it is spent."""

    kind: Kind
    """The level of the budget."""
    period: Period
    """The time for which the budget counts."""
    whose: str
    spent: int
    limit: int
    """The whole budget."""
    renews: datetime
    name: str = ""
    """The name of the person; empty if unknown, and for a workspace."""


async def budgets_in_use(viewer: Viewer, services: ConsoleServices) -> AsyncIterator[BudgetUseOut]:
    """Return the viewer's budgets, and for operators the most used ones of other people and of
    workspaces."""
    rules, now = services.gateway.policies.budgets, services.gateway.clock.now()
    renewals, who = renewals_of(now), viewer.principal.person
    for one in await own_budgets(viewer.tenant, services, who, sorted(viewer.persons)):
        yield one
    for kind, period in BUDGETS if viewer.is_operator else ():
        limit = limit_of(rules, kind, period)
        if limit is None:
            continue
        for whose, spent in await _largest(viewer, services, kind, period, now):
            if whose not in viewer.persons:
                yield BudgetUseOut(
                    kind=kind,
                    period=period,
                    whose=whose,
                    spent=spent,
                    limit=round(limit * MICRO),
                    renews=renewals[period],
                )


async def own_budgets(
    tenant: str, services: ConsoleServices, person: PersonId, persons: Sequence[str]
) -> list[BudgetUseOut]:
    """Return the budgets of a person; `persons` are all linked identities."""
    renewals = renewals_of(services.gateway.clock.now())
    own = await services.spending.of(tenant, person, persons, 1)
    periods: list[Period] = [
        "day" if one.name.endswith("_day") else "month" for one in own.allowances
    ]
    return [
        BudgetUseOut(
            kind="person",
            period=period,
            whose=str(person),
            spent=one.spent,
            limit=one.limit,
            renews=renewals[period],
        )
        for one, period in zip(own.allowances, periods, strict=True)
    ]


async def _largest(
    viewer: Viewer, services: ConsoleServices, kind: Kind, period: Period, now: datetime
) -> list[tuple[str, int]]:
    """Return the accounts of the viewer's tenant that spent most."""
    name = "user" if kind == "person" else kind
    date_of = now.strftime("%Y-%m-%d" if period == "day" else "%Y-%m")
    ledger = services.gateway.stores.usage
    found = await ledger.largest(f"{name}:{viewer.tenant}", date_of, EACH)
    return [one for one in found if of_tenant(one[0], services)]


def of_tenant(name: str, services: ConsoleServices) -> bool:
    """Return True if a name, the part of a key after a tenant, is of this tenant: the name of a
    tenant may be the beginning of another one's."""
    if not services.gateway.extensions.has_tenants:
        return True
    platforms = {"names", *(one.platform for one in services.settings.accounts())}
    return name.partition(":")[0] in platforms


def limit_of(rules: Budgets, kind: Kind, period: Period) -> float | None:
    """Return a budget in dollars, None for none."""
    name = "user" if kind == "person" else kind
    return rules.in_force()[f"{name}_per_{period}"]


def renewals_of(now: datetime) -> Mapping[Period, datetime]:
    """Return the times at which the budgets of a day and of a month begin again."""
    today = first_day(now, 1)
    next_month = (today.replace(day=28) + timedelta(days=4)).replace(day=1)
    return {"day": today + timedelta(days=1), "month": next_month}


class RateOut(Output):
    """A limit of questions per minute of one person, channel or workspace; 0 is no limit."""

    of: Literal["person", "channel", "workspace", "person, beside the shared limits"]
    per_minute: int


class RateUseOut(Output):
    """A limit and the questions that count towards it now, from 0 to `per_minute`. `whose` is a
    person, or "platform:account" with a channel or workspace."""

    of: Level
    """The level of the limit."""
    whose: str
    used: int
    """The questions that count now."""
    per_minute: int
    name: str = ""
    """The name of the person; empty if unknown, and for a channel or workspace."""


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
