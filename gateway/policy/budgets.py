"""Hard spending limits: reserved before a call to the model, settled after it.

Amounts are integers in millionths of a dollar, so that sums are exact.
"""

from collections.abc import Sequence
from datetime import datetime
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

    @property
    def unlimited(self) -> bool:
        """True when there is no limit."""
        limits = (self.user_per_day, self.user_per_month)
        return (*limits, self.workspace_per_day, self.workspace_per_month) == (None,) * 4

    def of_user(self, own: float | None, workspace: float | None) -> float | None:
        """Return a person's limit for a period."""
        return workspace * self.user_share if own is None and workspace is not None else own


class Account(Struct, frozen=True):
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
) -> tuple[Account, ...]:
    """Return the accounts that a call is charged to; `sender` is a `sender_key`. Days and months
    are in UTC."""
    a_day = budgets.of_user(budgets.user_per_day, budgets.workspace_per_day)
    a_month = budgets.of_user(budgets.user_per_month, budgets.workspace_per_month)
    limits = (a_day, a_month, budgets.workspace_per_day, budgets.workspace_per_month)
    if all(limit is None for limit in limits):
        return ()
    workspace = f"{tenant}:{place.platform}:{place.account}:{place.workspace_id}"
    day, month = now.strftime("%Y-%m-%d"), now.strftime("%Y-%m")
    rows = (
        ("user_per_day", f"user:{tenant}:{sender}:{day}", a_day),
        ("user_per_month", f"user:{tenant}:{sender}:{month}", a_month),
        ("workspace_per_day", f"workspace:{workspace}:{day}", budgets.workspace_per_day),
        ("workspace_per_month", f"workspace:{workspace}:{month}", budgets.workspace_per_month),
    )
    return tuple(
        Account(name, key, round(limit * MICRO)) for name, key, limit in rows if limit is not None
    )


def decide_budget(
    accounts: Sequence[Account], spent: Sequence[int], estimate: int
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
