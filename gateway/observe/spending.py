"""Spending of a person or of everybody, and the rest of their budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.budgets import Budgets, accounts_for
from gateway.ports import Clock
from gateway.ports.identities import IdentityResolver
from gateway.ports.usage import UsageLedger, UsageTotal

MAX_DAYS = 400
"""Days for which usage is stored."""
OF_A_PERSON = "user_"
"""The scopes of a person's budgets; those of a workspace belong to no person."""


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A budget of a person: `spent` and `limit` in millionths of a dollar; `spent` includes
    reservations of running answers."""

    name: str
    spent: int
    limit: int


@dataclass(frozen=True, slots=True)
class SpendingSummary:
    """`totals` by model, the dearest first."""

    totals: tuple[UsageTotal, ...]
    allowances: tuple[BudgetUse, ...] = ()

    @property
    def micros(self) -> int:
        """All models together, in millionths of a dollar."""
        return sum(total.micros for total in self.totals)


@dataclass(frozen=True, slots=True)
class SpendingReader:
    """Every method raises `StoreUnavailable`."""

    ledger: UsageLedger
    humans: IdentityResolver
    budgets: Budgets
    clock: Clock

    async def of_everybody(self, tenant: str, days: int) -> SpendingSummary:
        """Return the spending of a tenant and of the program itself, in the last `days`."""
        since = self.clock.now() - timedelta(days=days)
        return SpendingSummary(tuple(await self.ledger.totals(tenant, since, None)))

    async def of(
        self, tenant: str, person: PersonId, persons: Sequence[str], days: int
    ) -> SpendingSummary:
        """Return the spending of a person; `persons` are all linked identities."""
        now = self.clock.now()
        totals = await self.ledger.totals(tenant, now - timedelta(days=days), persons)
        sender = await self.humans.human(tenant, person)
        place = Place(person.platform, person.account, "", Audience.DIRECT)
        every = accounts_for(tenant, sender, place, self.budgets, now)
        own = [account for account in every if account.name.startswith(OF_A_PERSON)]
        spent = await self.ledger.spent(own) if own else []
        return SpendingSummary(
            tuple(totals),
            tuple(BudgetUse(a.name, s, a.limit) for a, s in zip(own, spent, strict=True)),
        )
