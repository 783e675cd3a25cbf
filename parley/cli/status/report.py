"""The state of the program as values, and what of it needs attention. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.ports.inbox import Backlog

READY: Final = "ready"
SLOW: Final = timedelta(minutes=5)
"""An event that waits longer needs attention."""
NEARLY_USED: Final = 0.9
"""The share of a workspace's budget from which it needs attention."""


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """One account: `state` is a state of the supervisor, or "not running"; `last_event` is that of
    the running program, otherwise the time of the last traced message."""

    name: str
    state: str
    since: datetime | None = None
    last_event: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """The account of a budget that spent most of it, in millionths of a dollar."""

    budget: str
    account: str
    spent: int
    limit: int


@dataclass(frozen=True, slots=True)
class RecentProblem:
    """A failed message or a dead letter; no text of a person."""

    at: datetime
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class LiveState:
    """The report of the running program; `parts` are stores and listeners, by their state."""

    ready: bool
    accounts: tuple[AccountStatus, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class StoredState:
    """Counts from the stores. `last_messages` are times by account; `micros` is today's cost."""

    backlog: Backlog
    quarantined: int
    micros: int
    budgets: tuple[BudgetStatus, ...]
    problems: tuple[RecentProblem, ...]
    last_messages: tuple[tuple[str, datetime], ...] = ()


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Everything. `live` is None if no program answers, which `running` explains. `stored` is None
    if the stores cannot be read, for the reason `unreadable`. `accounts` are those configured."""

    at: datetime
    running: str
    live: LiveState | None
    stored: StoredState | None
    unreadable: str = ""
    accounts: tuple[str, ...] = ()
    asked: bool = True
    """False if the program cannot be asked, because `server.port` is 0."""

    @property
    def platforms(self) -> tuple[AccountStatus, ...]:
        """The accounts: as the program reports them, otherwise with their last message."""
        if self.live is not None:
            return self.live.accounts
        latest = dict(self.stored.last_messages) if self.stored else {}
        state = "not running" if self.asked else "unknown"
        return tuple(AccountStatus(name, state, None, latest.get(name)) for name in self.accounts)


def attention(report: StatusReport) -> list[str]:
    """Return the problems that need an operator, each with the next step; empty if all is well."""
    return [*_of_program(report), *_of_stores(report)]


def _of_program(report: StatusReport) -> Iterator[str]:
    live = report.live
    if live is None:
        if report.asked:
            yield report.running
        return
    for account in live.accounts:
        if account.state != READY:
            reason = f": {account.problem}" if account.problem else ""
            yield f"{account.name} is {account.state}{reason}. `parley doctor` checks it."
    explained = dict(live.problems)
    accounts = {account.name for account in live.accounts}
    for part, state in live.parts:
        if state != READY:
            yield f"{part} is {state}. {explained.pop(part, '')}".rstrip()
    for part, problem in explained.items():
        if part not in accounts and part != "quarantine":
            yield f"{part}: {problem}"


def _of_stores(report: StatusReport) -> Iterator[str]:
    stored = report.stored
    if stored is None:
        if report.live is None:
            yield f"The stores cannot be read: {report.unreadable}"
        return
    backlog = stored.backlog
    if backlog.oldest_event and report.at - backlog.oldest_event > SLOW:
        yield f"{counted(backlog.events, 'message')} without an answer for more than 5 minutes."
    if backlog.oldest_send and report.at - backlog.oldest_send > SLOW:
        yield f"{counted(backlog.sends, 'send')} waiting for more than 5 minutes."
    if backlog.dead:
        given_up = counted(backlog.dead, "answer")
        yield f"{given_up} could not be delivered: see `parley outbox list`."
    if stored.quarantined:
        yield f"{counted(stored.quarantined, 'entry')} in quarantine: see `parley quarantine list`."
    for one in stored.budgets:
        if one.budget.startswith("workspace") and one.spent >= NEARLY_USED * one.limit:
            yield f"{one.account} used {one.spent * 100 // one.limit} % of budgets.{one.budget}."


def counted(number: int, name: str) -> str:
    """ "3 messages"."""
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{number:,} {name if number == 1 else plural}"
