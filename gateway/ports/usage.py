"""The usage ledger: tokens, cost and budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.policy.budgets import Account, BudgetDecision
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


class UsageLedger(Protocol):
    """Tokens and money."""

    async def reserve(
        self, turn: str, accounts: Sequence[Account], estimate: int
    ) -> BudgetDecision:
        """Reserve `estimate` in every account, or in none; atomic. It replaces the turn's earlier
        reservation, which stays if the answer is no."""

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
    ) -> None:
        """Replace the reservation of an ended turn by its cost. If the turn is repeated later, both
        count."""

    async def spent(self, accounts: Sequence[Account]) -> list[int]:
        """Return settled plus reserved amounts, in the order of the accounts."""

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Return sums by model since then, most expensive first: of these people (`str(PersonId)`),
        or with None of the tenant, including the program's own calls."""

    async def largest(self, kind: str, period: str, limit: int) -> list[tuple[str, int]]:
        """Return the names and sums (without reservations) of the accounts of a kind ("user" or
        "workspace") in a period ("2026-11-21" or "2026-11"), the largest first. A name is
        "tenant:" and a person or "platform:account:workspace"."""

    async def person_of(self, turn: str) -> str:
        """Return the person whose turn called a model; empty if none did, or they were erased."""

    async def prune(self, before: datetime) -> int:
        """Delete some rows from before then, and sums that started before then; returns how many, 0
        at the end. `before` is further back than the longest period."""
