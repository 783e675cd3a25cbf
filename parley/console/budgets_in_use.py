"""Budgets in use: how much of each is spent, by whom, and when it begins again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from gateway.policy.budgets import MICRO, Budgets
from gateway.ports.action import Output
from gateway.stores.usage import first_day
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

Kind = Literal["person", "workspace"]
Period = Literal["day", "month"]
EACH: Final = 10
"""Accounts of each kind of budget that operators see, the most used ones."""
MAX_BUDGETS: Final = 4 * EACH + 2
BUDGETS: Final[Sequence[tuple[Kind, Period]]] = (
    ("person", "day"),
    ("person", "month"),
    ("workspace", "day"),
    ("workspace", "month"),
)


class BudgetUseOut(Output):
    """A budget and what was spent of it, in millionths of a dollar. `whose` is a person or
    workspace; `renews` is the time from which on nothing of it is spent."""

    kind: Kind
    period: Period
    whose: str
    spent: int
    limit: int
    renews: datetime


async def budgets_in_use(viewer: Viewer, services: ConsoleServices) -> AsyncIterator[BudgetUseOut]:
    """Return the viewer's budgets, and for operators the most used ones of other people and of
    workspaces."""
    rules, now = services.gateway.policies.budgets, services.gateway.clock.now()
    renewals = renewals_of(now)
    own = await services.spending.of(
        viewer.tenant, viewer.principal.person, sorted(viewer.persons), 1
    )
    for one in own.allowances:
        period: Period = "day" if one.name.endswith("_day") else "month"
        yield BudgetUseOut(
            kind="person",
            period=period,
            whose=viewer.person,
            spent=one.spent,
            limit=one.limit,
            renews=renewals[period],
        )
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
