"""Reads from the stores: what waits, today's cost, recent problems."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from gateway.inbound.crash_loop_guard import MAX_LISTED
from gateway.policy.budgets import MICRO, Budgets
from gateway.ports.outbox import DeadLetter
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageLedger
from gateway.turn.pipeline import FAILED, GAVE_UP
from parley.cli.memory_access import tenants_of_accounts
from parley.cli.status.report import BudgetStatus, RecentProblem, StoredState
from parley.config import Settings
from parley.wiring.accounts import account_name
from parley.wiring.extensions import load_extensions
from parley.wiring.policies import policies_of
from parley.wiring.storage import Storage

LOOKED_AT: Final = 1_000
"""The latest traces, among which failed messages are looked for."""
SHOWN: Final = 5
WITHIN: Final = timedelta(days=1)
FAILURES: Final = frozenset({FAILED, GAVE_UP, "unavailable", "broken", "too_long"})
"""Reason codes of messages that got no answer, or a part of one."""


async def stored_state(settings: Settings, storage: Storage, now: datetime) -> StoredState:
    """The state in opened stores. Raises `StoreUnavailable`."""
    stores = storage.stores
    traces = await stores.traces.recent(LOOKED_AT)
    letters = await storage.hot.outbox.dead_letters(SHOWN)
    problems = sorted(
        [*failed_messages(traces, now - WITHIN), *map(_undelivered, letters)],
        key=lambda one: one.at,
        reverse=True,
    )
    latest = {account_name((one.platform, one.account)): one.at for one in reversed(traces)}
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    tenants = tenants_of_accounts(settings, load_extensions(settings))
    totals = [total for one in tenants for total in await stores.usage.totals(one, midnight, None)]
    return StoredState(
        await storage.hot.backlog.look(),
        len(await storage.quarantine.listed(MAX_LISTED)),
        sum(total.micros for total in totals),
        tuple(await _budgets(stores.usage, policies_of(settings).budgets, now)),
        tuple(problems[:SHOWN]),
        tuple(latest.items()),
    )


def failed_messages(traces: Sequence[Trace], since: datetime) -> Iterator[RecentProblem]:
    """The messages since then that failed, with the stage and its reason."""
    for trace in traces:
        wrong = next((d for d in reversed(trace.decisions) if d.reason in FAILURES), None)
        if wrong is not None and trace.at >= since:
            name = account_name((trace.platform, trace.account))
            text = f"{wrong.stage} {wrong.reason}: `parley logs {trace.message_id}`"
            yield RecentProblem(trace.at, f"{trace.kind} on {name}", text)


def _undelivered(letter: DeadLetter) -> RecentProblem:
    place = letter.entry.outbound.place
    where = f"answer on {account_name((place.platform, place.account))}"
    return RecentProblem(letter.at, where, f"not delivered: {letter.reason}")


async def _budgets(usage: UsageLedger, budgets: Budgets, now: datetime) -> Sequence[BudgetStatus]:
    """Of each configured budget the account that spent most of it."""
    day, month = now.strftime("%Y-%m-%d"), now.strftime("%Y-%m")
    limits = (
        ("user_per_day", day, budgets.of_user(budgets.user_per_day, budgets.workspace_per_day)),
        (
            "user_per_month",
            month,
            budgets.of_user(budgets.user_per_month, budgets.workspace_per_month),
        ),
        ("workspace_per_day", day, budgets.workspace_per_day),
        ("workspace_per_month", month, budgets.workspace_per_month),
    )
    found = []
    for name, period, limit in limits:
        if limit is None:
            continue
        for account, spent in await usage.largest(name.partition("_")[0], period, 1):
            found.append(BudgetStatus(name, account, spent, round(limit * MICRO)))
    return found
