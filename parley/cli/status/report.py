"""The state of the program as values, from the stores and from the local listener of the running
program, and the problems that need an operator."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import UsageError
from gateway.inbound.crash_loop_guard import MAX_LISTED
from gateway.policy.budgets import MICRO, Budgets
from gateway.ports.losses import SHOWN_FOR
from gateway.ports.queues import Backlog, DeadLetter
from gateway.ports.traces import FAILED, Trace
from gateway.stores.usage import UsageLedger
from parley.cli.memory_access import tenants_of_accounts
from parley.cli.running_program import address_of, body_of, request_to
from parley.config import Settings
from parley.runtime.disk_space import DiskSpace
from parley.runtime.installation import (
    STORE_STEP,
    STORES,
    Installation,
    InstallationPart,
    installation_of,
    unserved,
)
from parley.runtime.model_problems import problems_of
from parley.wiring.accounts import account_name, account_names, identity_conflicts
from parley.wiring.extensions import load_extensions
from parley.wiring.live_configuration import stored_configuration
from parley.wiring.policies import policies_of
from parley.wiring.storage import Storage

READY: Final = "ready"
SLOW: Final = timedelta(minutes=5)
"""An event that waits longer needs attention."""
CHECK: Final = "`parley doctor` checks the model, the platforms and the stores."
NEARLY_USED: Final = 0.9
"""The share of a workspace's budget from which it needs attention."""
LOOKED_AT: Final = 1_000
"""The latest traces, among which failed messages are looked for."""
SHOWN: Final = 5
WITHIN: Final = timedelta(days=1)
FAILURES: Final = frozenset(FAILED)
"""Reason codes of messages that got no answer, or a part of one."""

STATE: Final = "parley_connection_state"
SINCE: Final = "parley_connected_timestamp_seconds"
LAST: Final = "parley_last_event_timestamp_seconds"
STRANGE: Final = (
    "The program on {address} does not report its state: another program uses server.port, or "
    "server.token differs from the token of the running program."
)


class AccountStatus(Struct, frozen=True):
    """One account: `state` is a state of the supervisor, or "not running"; `last_event` is that of
    the running program, otherwise the time of the last traced message."""

    name: str
    state: str
    since: datetime | None = None
    last_event: datetime | None = None
    problem: str = ""


class BudgetStatus(Struct, frozen=True):
    """The account of a budget that spent most of it, in millionths of a dollar."""

    budget: str
    account: str
    spent: int
    limit: int


class RecentProblem(Struct, frozen=True):
    """A failed message or a dead letter; no text of a person."""

    at: datetime
    where: str
    text: str


class LiveState(Struct, frozen=True):
    """The report of the running program; `parts` are stores and listeners, by their state. `models`
    fail, each with its figures; `notes` need nobody."""

    ready: bool
    accounts: tuple[AccountStatus, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    models: tuple[Mapping[str, object], ...] = ()
    notes: tuple[str, ...] = ()


class StoredState(Struct, frozen=True):
    """Counts from the stores. `last_messages` are times by account; `micros` is today's cost.
    `installation` is the state of all processes, None where one process does everything; `losses`
    are sentences about data that was lost in the last day."""

    backlog: Backlog
    quarantined: int
    micros: int
    budgets: tuple[BudgetStatus, ...]
    problems: tuple[RecentProblem, ...]
    last_messages: tuple[tuple[str, datetime], ...] = ()
    installation: Installation | None = None
    identity_conflicts: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()


class StatusReport(Struct, frozen=True):
    """Everything. `live` is None if no program answers, which `running` explains. `stored` is None
    if the stores cannot be read, for the reason `unreadable`. `accounts` and `memory` (the places
    of learned memories) are those configured."""

    at: datetime
    running: str
    live: LiveState | None
    stored: StoredState | None
    unreadable: str = ""
    accounts: tuple[str, ...] = ()
    has_port: bool = True
    """False if the state of the program cannot be read, because `server.port` is 0."""
    memory: tuple[str, ...] = ()
    disks: tuple[DiskSpace, ...] = ()
    """The disks that are full or almost full."""
    features: tuple[str, ...] = ()
    """The features that are switched on, as `features_of` names them."""

    @property
    def installation(self) -> Installation | None:
        """The state of all processes, if several share the work and their store answers."""
        return self.stored.installation if self.stored else None

    @property
    def platforms(self) -> tuple[AccountStatus, ...]:
        """The accounts: as the program here reports them, then those of other processes; otherwise
        with their last message."""
        live = self.live.accounts if self.live is not None else ()
        if (everywhere := self.installation) is not None:
            here = {one.name for one in live}
            others = (one for one in everywhere.parts if one.account and one.account not in here)
            return (*live, *(account_elsewhere(one, self.at) for one in others))
        if self.live is not None:
            return live
        latest = dict(self.stored.last_messages) if self.stored else {}
        state = "not running" if self.has_port else "unknown"
        return tuple(AccountStatus(name, state, None, latest.get(name)) for name in self.accounts)


def features_of(settings: Settings) -> tuple[str, ...]:
    """The features that a section of the configuration switches on, by the name of the section."""
    voice = settings.voice
    features = {
        "documents": settings.documents.enabled,
        f"voice ({voice.recogniser})": voice.recogniser != "none",
        "speech": voice.speech.base_url is not None,
        "appointments": settings.appointments.enabled,
        "catchup": settings.catchup.enabled,
    }
    return tuple(name for name, is_on in features.items() if is_on)


def account_elsewhere(part: InstallationPart, now: datetime) -> AccountStatus:
    """The state of an account that another process serves, or none."""
    connected, last = (
        None if seconds is None else now - timedelta(seconds=seconds)
        for seconds in (part.connected, part.last_event)
    )
    return AccountStatus(part.account, part.state, connected, last, str(part.problem))


def attention(report: StatusReport) -> list[str]:
    """Return the problems that need an operator, each with the next step."""
    disks = [str(one.problem) for one in report.disks]
    return [*disks, *_of_program(report), *_of_stores(report)]


def _of_program(report: StatusReport) -> Iterator[str]:
    live, everywhere = report.live, report.installation
    if live is None and report.has_port and (everywhere is None or not everywhere.running):
        yield report.running
    if everywhere is not None:
        here = {account.name for account in live.accounts} if live else set()
        waiting = report.stored.backlog.events if report.stored else 0
        yield from unserved(everywhere, here, waiting)
    if live is None:
        if everywhere is not None:
            yield from map(str, problems_of(everywhere.models, everywhere.findings).values())
        return
    for account in live.accounts:
        if account.state != READY:
            reason = f": {account.problem.removesuffix('.')}" if account.problem else ""
            yield f"{account.name} is {account.state}{reason}. `parley doctor` checks it."
    yield from _of_parts(live, everywhere)


def _of_parts(live: LiveState, everywhere: Installation | None) -> Iterator[str]:
    explained = dict(live.problems)
    accounts = {account.name for account in live.accounts}
    if everywhere is not None:
        accounts |= {part.name for part in everywhere.parts}
    for part, state in live.parts:
        if state != READY:
            problem = explained.pop(part, "").rstrip(".")
            said = (f"{part} is {state}", problem, STORE_STEP.english if part in STORES else "")
            yield " ".join(f"{sentence}." for sentence in said if sentence)
    for part, problem in explained.items():
        if part.startswith("model"):
            yield f"{problem.rstrip('.')}."  # it begins with the model's name
        elif part not in accounts and part != "quarantine" and not part.startswith("disk: "):
            yield f"{part}: {problem}"


def _of_stores(report: StatusReport) -> Iterator[str]:
    stored = report.stored
    if stored is None:
        if report.live is None:
            yield f"The stores cannot be read: {report.unreadable}"
        return
    if report.live is None:  # otherwise the program reports them
        yield from stored.losses
    backlog = stored.backlog
    if backlog.oldest_event and report.at - backlog.oldest_event > SLOW:
        waiting = counted(backlog.events, "message")
        yield f"{waiting} without an answer for more than 5 minutes. {CHECK}"
    if backlog.oldest_send and report.at - backlog.oldest_send > SLOW:
        yield f"{counted(backlog.sends, 'send')} waiting for more than 5 minutes. {CHECK}"
    if backlog.dead:
        given_up = counted(backlog.dead, "answer")
        yield f"{given_up} could not be delivered: see `parley outbox list`."
    if stored.quarantined:
        yield f"{counted(stored.quarantined, 'entry')} in quarantine: see `parley quarantine list`."
    yield from stored.identity_conflicts
    for one in stored.budgets:
        if one.budget.startswith("workspace") and one.spent >= NEARLY_USED * one.limit:
            used = f"{one.spent * 100 // one.limit} % of budgets.{one.budget}"
            yield f"{one.account} used {used}. `parley usage` shows the costs."


def counted(number: int, name: str) -> str:
    """ "3 messages"."""
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{number:,} {name if number == 1 else plural}"


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
    live = await stored_configuration(settings, storage)
    return StoredState(
        await storage.hot.backlog.look(),
        len(await storage.quarantine.listed(MAX_LISTED)),
        sum(total.micros for total in totals),
        tuple(await _budgets(stores.usage, policies_of(live.settings).budgets, now)),
        tuple(problems[:SHOWN]),
        tuple(latest.items()),
        await _installation(settings, storage, now),
        tuple(map(str, await identity_conflicts(settings, storage.hot.states))),
        tuple(one.sentence for one in await storage.hot_losses.since(now - SHOWN_FOR)),
    )


async def _installation(settings: Settings, storage: Storage, now: datetime) -> Installation | None:
    shared = storage.hot.shared
    if shared is None:
        return None
    return installation_of(await shared.processes.look(), account_names(settings), now)


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
    periods = {"day": now.strftime("%Y-%m-%d"), "month": now.strftime("%Y-%m")}
    statuses = []
    for name, limit in budgets.in_force().items():
        if limit is None:
            continue
        kind, _, period = name.partition("_per_")
        for account, spent in await usage.largest(kind, periods[period], 1):
            statuses.append(BudgetStatus(name, account, spent, round(limit * MICRO)))
    return statuses


def live_state(settings: Settings) -> LiveState | None:
    """The state, None if no program answers. Raises `BadInput` for an answer of another program."""
    try:
        ready = body_of(request_to(settings, "/readyz"))
        metrics = body_of(request_to(settings, "/metrics"))
    except OSError:
        return None
    try:
        state = json.loads(ready)
        parts, problems = state["parts"], state.get("problems", {})
        figures = read_metrics(metrics.decode())
    except (ValueError, KeyError, TypeError):
        raise UsageError(STRANGE.format(address=address_of(settings))) from None
    accounts = sorted({account for account, _ in figures[STATE]})
    return LiveState(
        state.get("ready") is True,
        tuple(
            AccountStatus(
                name,
                str(parts.get(name, "unknown")),
                _time(figures[SINCE].get((name, ""))),
                _time(figures[LAST].get((name, ""))),
                str(problems.get(name, "")),
            )
            for name in accounts
        ),
        tuple((name, str(at)) for name, at in parts.items() if name not in accounts),
        tuple((name, str(problem)) for name, problem in problems.items()),
        tuple(dict(model) for model in state.get("models", ())),
        tuple(str(note) for note in state.get("notes", ())),
    )


def read_metrics(page: str) -> Mapping[str, Mapping[tuple[str, str], float]]:
    """The values of the three metrics by account and state. Raises `ValueError` for other text."""
    from prometheus_client.parser import (  # noqa: PLC0415 - only for a program that runs
        text_string_to_metric_families,
    )

    values: dict[str, dict[tuple[str, str], float]] = {STATE: {}, SINCE: {}, LAST: {}}
    for family in text_string_to_metric_families(page):
        if family.name in values:
            for sample in family.samples:
                labels = sample.labels
                values[family.name][labels["account"], labels.get("state", "")] = sample.value
    return values


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
