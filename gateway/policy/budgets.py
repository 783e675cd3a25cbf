"""Hard spending limits: reserved before a call to the model, settled after it.

Amounts are integers in millionths of a dollar, so that sums are exact.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct
from pydantic import Field

from gateway.message import Place
from gateway.policy.decision import Decision
from gateway.settings import Dollars, Section

STAGE = "budget"
MICRO = 1_000_000
ALERT_SHARES = (0.5, 0.75, 0.9)
"""Shares of a budget that are logged when spending passes them."""


class Budgets(Section):
    """Limits in dollars; None is unlimited. Where a workspace has a limit and a person has none, a
    person may use `user_share` of the workspace's limit."""

    user_per_day: Dollars | None = None
    """Maximum cost of one person in a day."""
    user_per_month: Dollars | None = None
    """Maximum cost of one person in a month."""
    workspace_per_day: Dollars | None = None
    """Maximum cost of one workspace in a day: a server, a team, or all chats without a workspace of
    one account."""
    workspace_per_month: Dollars | None = None
    """Maximum cost of one workspace in a month."""
    user_share: float = Field(default=0.25, gt=0, le=1)
    """Share of a workspace's budget that one person may use when no limit of a person is set for
    the same period."""

    def in_force(self) -> dict[str, float | None]:
        """Return the limits by name, those of a person with their share of the workspace's."""
        day, month = self.workspace_per_day, self.workspace_per_month
        return {
            "user_per_day": self._of_user(self.user_per_day, day),
            "user_per_month": self._of_user(self.user_per_month, month),
            "workspace_per_day": day,
            "workspace_per_month": month,
        }

    @property
    def unlimited(self) -> bool:
        """True when there is no limit."""
        return all(limit is None for limit in self.in_force().values())

    def _of_user(self, own: float | None, workspace: float | None) -> float | None:
        return workspace * self.user_share if own is None and workspace is not None else own


class BudgetAccount(Struct, frozen=True):
    """One running sum and its limit, in millionths of a dollar. `key` includes the period."""

    name: str
    key: str
    limit: int


class BudgetAlert(NamedTuple):
    """A share of an account that a reservation passes, of those in `ALERT_SHARES`."""

    account: str
    share: float


class BudgetDecision(Struct, frozen=True):
    """Says if the estimate fits. `alerts` are the shares of an account that this reservation
    passes."""

    decision: Decision
    alerts: tuple[BudgetAlert, ...] = ()


def accounts_for(
    tenant: str, sender: str, place: Place, budgets: Budgets, now: datetime
) -> tuple[BudgetAccount, ...]:
    """Return the accounts that a call is charged to; `sender` is a `sender_key`. Days and months
    are in UTC."""
    if budgets.unlimited:
        return ()
    user = f"user:{tenant}:{sender}"
    workspace = f"workspace:{tenant}:{place.platform}:{place.account}:{place.workspace_id}"
    day, month = now.strftime("%Y-%m-%d"), now.strftime("%Y-%m")
    keys = {
        "user_per_day": f"{user}:{day}",
        "user_per_month": f"{user}:{month}",
        "workspace_per_day": f"{workspace}:{day}",
        "workspace_per_month": f"{workspace}:{month}",
    }
    return tuple(
        BudgetAccount(name, keys[name], round(limit * MICRO))
        for name, limit in budgets.in_force().items()
        if limit is not None
    )


def begins_again(reason: str, now: datetime) -> datetime:
    """Return the beginning of the next day or month in UTC, when a budget that refused for this
    reason begins again."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if reason.endswith("day"):
        return day + timedelta(days=1)
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def decide_budget(
    accounts: Sequence[BudgetAccount], spent: Sequence[int], estimate: int
) -> BudgetDecision:
    """Decide if `estimate` fits into what every account has left.

    `spent` holds, in the order of the accounts, the settled amount plus the reservations of running
    turns.
    """
    alerts: list[BudgetAlert] = []
    for account, used in zip(accounts, spent, strict=True):
        if used + estimate > account.limit:
            return BudgetDecision(Decision(STAGE, False, account.name))
        alerts.extend(
            BudgetAlert(account.name, share)
            for share in ALERT_SHARES
            if used < share * account.limit <= used + estimate
        )
    return BudgetDecision(
        Decision(STAGE, True, "within_budget" if accounts else "no_budget"), tuple(alerts)
    )
