"""`parley status`: the state of the program on one screen, or as JSON."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final

import typer
from msgspec.structs import asdict

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from gateway.policy.budgets import MICRO
from gateway.ports.clock import SystemClock
from parley.cli.options import Config
from parley.cli.running_program import address_of
from parley.cli.status.report import (
    AccountStatus,
    LiveState,
    StatusReport,
    StoredState,
    attention,
    counted,
    features_of,
    live_state,
    stored_state,
)
from parley.cli.stores import read_settings, require_database, with_storage
from parley.cli.terminal import plain, second_of, show
from parley.config import Settings
from parley.runtime.disk_space import disks_of, written_folders
from parley.wiring.accounts import account_names

RUNS: Final = "Parley runs on {address}."
NOT_RUNNING: Final = "No Parley answers on {address}: `parley run` starts it."
NO_PORT: Final = "server.port is 0, so the state of a running program cannot be read."
FROM_BOTH: Final = "It reports platforms and parts; all other figures are from the stores."
FROM_STORES: Final = "All figures are from the stores."
READABLE: Final = "ok"
MAX_NEED: Final = 700
"""Characters of a problem; that of a failing model quotes the service."""
WELL: Final = "Nothing needs attention."


def status(
    config: Config = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Print the state; 1 if something needs attention."""
    settings = read_settings(config)
    report = _report(settings)
    needs = attention(report)
    show([_as_values(report, needs)], lines_of(report, needs), as_json=as_json)
    return int(bool(needs))


def _report(settings: Settings) -> StatusReport:
    live, running, has_port = None, NO_PORT, settings.server.port != 0
    if has_port:
        try:
            live = live_state(settings)
            running = (RUNS if live else NOT_RUNNING).format(address=address_of(settings))
        except BadInput as error:
            running = str(error)
    stored, unreadable = _stored(settings)
    accounts = account_names(settings)
    now = SystemClock().now()
    memory = settings.memory.places if settings.memory.enabled else ()
    disks = tuple(one for one in disks_of(written_folders(settings)) if one.is_low)
    where = (now, running, live, stored, unreadable, accounts, has_port, memory, disks)
    return StatusReport(*where, features_of(settings))


def _stored(settings: Settings) -> tuple[StoredState | None, str]:
    """The state in the stores, or the reason why they cannot be read."""
    try:
        require_database(settings, hot=True)
        now = SystemClock().now()
        return with_storage(settings, lambda storage: stored_state(settings, storage, now)), ""
    except (BadInput, StoreUnavailable) as error:
        return None, str(error)


def lines_of(report: StatusReport, needs: list[str]) -> Iterator[str]:
    """The state as people read it."""
    yield f"{report.running} {FROM_BOTH if report.live else FROM_STORES}"
    for account in report.platforms:
        yield _line("platform", f"{account.name}: {_account(account, report.at)}")
    if not report.platforms:
        yield _line("platform", "none is configured")
    if (everywhere := report.installation) is not None:
        yield _line("workers", f"{everywhere.workers} running")
    if report.live is not None:
        yield from _parts(report.live)
        for note in report.live.notes:
            yield _line("model", plain(note, 300))
    yield _line("memory", ", ".join(report.memory) or "off")
    yield _line("features", ", ".join(report.features) or "none")
    if report.stored is not None:
        yield from _stored_lines(report.stored, report.at)
    else:
        yield _line("stores", report.unreadable)
    for number, need in enumerate(needs):
        yield _line("attention" if number == 0 else "", plain(need, MAX_NEED))
    if not needs:
        yield WELL


def _account(account: AccountStatus, now: datetime) -> str:
    since = f" for {_ago(account.since, now)}" if account.since else ""
    last = f", last event {_ago(account.last_event, now)} ago" if account.last_event else ""
    problem = f" ({plain(account.problem)})" if account.problem else ""
    return f"{account.state}{since}{last}{problem}"


def _parts(live: LiveState) -> Iterator[str]:
    yield _line("parts", ", ".join(f"{name} {state}" for name, state in live.parts))


def _stored_lines(stored: StoredState, now: datetime) -> Iterator[str]:
    backlog = stored.backlog
    yield _line("queue", _waiting(backlog.events, "message", backlog.oldest_event, now))
    sends = _waiting(backlog.sends, "send", backlog.oldest_send, now)
    yield _line("outbox", f"{sends}; {backlog.dead:,} not delivered")
    yield _line("cost today", f"${stored.micros / MICRO:,.4f}")
    for one in stored.budgets:
        used = f"${one.spent / MICRO:,.4f} of ${one.limit / MICRO:,.2f}"
        yield _line("", f"{one.budget}: {plain(one.account)} used {used}")
    yield _line("quarantine", counted(stored.quarantined, "entry"))
    for number, problem in enumerate(stored.problems):
        text = plain(f"{second_of(problem.at)}  {problem.where}: {problem.text}", 200)
        yield _line("" if number else "last errors", text)
    if not stored.problems:
        yield _line("last errors", "none")


def _waiting(number: int, name: str, oldest: datetime | None, now: datetime) -> str:
    age = f", the oldest for {_ago(oldest, now)}" if oldest else ""
    return f"{counted(number, name)} waiting{age}"


def _ago(at: datetime, now: datetime) -> str:
    seconds = max(0, round((now - at).total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s"
    return counted(seconds, "second")


def _line(name: str, text: str) -> str:
    return f"  {name:<11}  {text}"


def _as_values(report: StatusReport, needs: list[str]) -> dict[str, object]:
    """The report for programs: times in ISO 8601, money in millionths of a dollar."""
    stored = report.stored
    return {
        "at": report.at,
        "running": report.live is not None if report.has_port else None,
        "ready": report.live.ready if report.live else None,
        "platforms": [asdict(one) for one in report.platforms],
        "parts": dict(report.live.parts) if report.live else {},
        "models": list(report.live.models) if report.live else [],
        "workers": report.installation.workers if report.installation else None,
        "memory": list(report.memory),
        "features": list(report.features),
        "queue": asdict(stored.backlog) if stored else None,
        "cost_today_micros": stored.micros if stored else None,
        "budgets": [asdict(one) for one in stored.budgets] if stored else [],
        "quarantined": stored.quarantined if stored else None,
        "last_errors": [asdict(one) for one in stored.problems] if stored else [],
        "stores": report.unreadable or READABLE,
        "attention": needs,
    }
