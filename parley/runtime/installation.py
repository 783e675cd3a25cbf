"""The state of an installation whose processes share the work: which roles and accounts are served,
and by which process each was seen last.

An account belongs to the installation if the own configuration has it, that of a running process,
or that of a process that died within the last hour. A process that stopped regularly, or that a new
one of the same kind on the same machine replaced, no longer counts.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.ports import ModelFailure, ModelFinding
from gateway.ports.processes import AccountReport, ProcessReport, SeenProcess
from gateway.text import NO_TEXT, Span, Text, from_json, joined, text, verbatim

MISSING_AFTER: Final = 15.0
"""Seconds without a running process after which a part is missing; also the time that processes get
after an outage of the store, and at the first start."""
READY: Final = "ready"
MISSING: Final = "missing"
STARTING: Final = "starting"
WORKERS: Final = "workers"
"""The part that answers messages."""
STORES: Final = ("storage", "database")
"""The parts that are stores."""
STORE_STEP: Final = text("Make it available again; Parley then continues by itself")
"""The next step for a store that is unavailable."""
START_WORKER: Final = "parley run --role worker"
START_ADAPTER: Final = "parley run --role adapter"
READ_LOG: Final = text("Read its log, then start it again: `{command}`.")
START_ONE: Final = text("Start one: `{command}`.")
NOT_SENT: Final = text("Its messages wait at the platform, and no answer is sent.")
NOT_ANSWERED: Final = text("Messages are accepted and wait for an answer.")


class InstallationPart(Struct, frozen=True):
    """The workers (`account` is empty) or one account. `state`: `missing`, `starting`, or of the
    process that serves it. `seen` is the age of the last sign in seconds, None for none. `problem`
    says why it is not ready, `step` what to do about a missing one."""

    name: str
    account: str
    state: str
    seen: float | None = None
    problem: Text = NO_TEXT
    step: Text = NO_TEXT
    connected: float | None = None
    last_event: float | None = None

    @property
    def is_well(self) -> bool:
        """True if the part is served, or starts without a problem."""
        return self.state == READY or (self.state == STARTING and not self.problem)

    @property
    def role(self) -> str:
        """The role of the processes that serve this part."""
        return "adapter" if self.account else "worker"


class Installation(Struct, frozen=True):
    """All parts, the workers first. `workers` is the number of running ones; `running` that of all
    processes; `watched` are the seconds for which somebody has watched them. `models` fail in one
    of the processes at least, and `findings` are about the servers of models."""

    parts: tuple[InstallationPart, ...]
    workers: int
    running: int
    watched: float
    models: tuple[ModelFailure, ...] = ()
    findings: tuple[ModelFinding, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every part is served, or starts."""
        return not any(part.state == MISSING for part in self.parts)

    @property
    def problems(self) -> dict[str, Text]:
        """By name of a part: the reason why it is not ready, with the next step."""
        return {
            part.name: joined((one for one in (part.problem, part.step) if one), " ")
            for part in self.parts
            if part.problem
        }


def installation_of(
    seen: Sequence[SeenProcess], configured: Iterable[str], now: datetime
) -> Installation:
    """Return the state; `configured` are the accounts of the own configuration."""
    living = [one for one in seen if not one.ended and one.age < MISSING_AFTER]
    watched = max((one.watching for one in living), default=0.0)
    accounts = dict.fromkeys(configured)
    for one in seen:
        if not one.ended and not _replaced(one, living):
            accounts |= dict.fromkeys(one.report.configured)
    worker = _part(WORKERS, "", seen, living, watched)
    parts = [_part(name, name, seen, living, watched) for name in accounts]
    workers = sum(_serves(one.report, "") for one in living)
    found = dict.fromkeys(one for each in living for one in each.report.findings)
    return Installation(
        (worker, *parts), workers, len(living), watched, _models(living, now), tuple(found)
    )


def _models(living: Sequence[SeenProcess], now: datetime) -> tuple[ModelFailure, ...]:
    """Return the models that fail, each once: the failed calls and the people of all processes
    together, with the error of the latest call. Clocks of machines may differ: times are ages."""
    together: dict[tuple[str, str], ModelFailure] = {}
    for failure in sorted(_failures(living, now), key=lambda one: one.last):
        other = together.get((failure.model, failure.server))
        together[failure.model, failure.server] = replace(
            failure,
            since=min(other.since, failure.since) if other else failure.since,
            calls=(other.calls if other else 0) + failure.calls,
            people=(other.people if other else 0) + failure.people,
        )
    return tuple(sorted(together.values(), key=lambda one: one.since))


def _failures(living: Sequence[SeenProcess], now: datetime) -> Iterator[ModelFailure]:
    for process in living:
        for one in process.report.models:
            if one.failure is not None:
                since = now - timedelta(seconds=one.failing + process.age)
                last = now - timedelta(seconds=one.failed + process.age)
                yield replace(one.failure, since=since, last=last)


def _replaced(one: SeenProcess, living: Sequence[SeenProcess]) -> bool:
    """Return True for a dead process with a successor of its kind on its machine."""
    if one in living:
        return False
    return any(
        (each.report.host, each.report.role, each.report.platform)
        == (one.report.host, one.report.role, one.report.platform)
        and each.watching < one.age
        for each in living
    )


def _serves(report: ProcessReport, account: str) -> bool:
    if not account:
        return report.role != "adapter"
    return report.role != "worker" and any(one.name == account for one in report.accounts)


def _part(
    name: str,
    account: str,
    seen: Sequence[SeenProcess],
    living: Sequence[SeenProcess],
    watched: float,
) -> InstallationPart:
    serving = [one for one in living if _serves(one.report, account)]
    if serving:
        age = min(one.age for one in serving)
        if not account:
            return InstallationPart(name, account, READY, age)
        reports = [one for each in serving for one in each.report.accounts if one.name == account]
        best = min(reports, key=lambda one: one.state != READY)
        return _of_report(name, best, age)
    last = min(
        (one for one in seen if _serves(one.report, account)), key=lambda one: one.age, default=None
    )
    age_ = last.age if last else None
    if living and min(watched, age_ if age_ is not None else watched) < MISSING_AFTER:
        return InstallationPart(name, account, STARTING, age_)
    start = START_ADAPTER if account else START_WORKER
    died = last is not None and not last.ended
    step = (READ_LOG if died else START_ONE).of(command=verbatim(start))
    return InstallationPart(name, account, MISSING, age_, _missing(account, last), step)


def _of_report(name: str, report: AccountReport, age: float) -> InstallationPart:
    return InstallationPart(
        name,
        report.name,
        report.state,
        age,
        from_json(report.problem),
        NO_TEXT,
        None if report.connected is None else report.connected + age,
        None if report.last_event is None else report.last_event + age,
    )


def _missing(account: str, last: SeenProcess | None) -> Text:
    """Say what is missing, since when, and what that means."""
    said, effect = (
        (_account_missing(account, last), NOT_SENT)
        if account
        else (
            _worker_missing(last),
            NOT_ANSWERED,
        )
    )
    return joined((said, effect), " ")


def _account_missing(account: str, last: SeenProcess | None) -> Text:
    name = verbatim(account)
    if last is None:
        return text("No process serves {account}.", account=name)
    if last.ended:
        return text(
            "The process that serves {account} stopped {time} ago, and no other one runs.",
            account=name,
            time=Span(last.age),
        )
    return text(
        "The process that serves {account} ({process}) has not reported for {time}: it died or "
        "hangs.",
        account=name,
        process=verbatim(last.name),
        time=Span(last.age),
    )


def _worker_missing(last: SeenProcess | None) -> Text:
    if last is None:
        return text("No worker runs.")
    if last.ended:
        return text(
            "The last worker stopped {time} ago, and no other one runs.", time=Span(last.age)
        )
    return text(
        "The last worker ({process}) has not reported for {time}: it died or hangs.",
        process=verbatim(last.name),
        time=Span(last.age),
    )


def last_seen(installation: Installation) -> list[tuple[str, str, float]]:
    """Return role, account, and seconds since the last sign of each part; of a part that was never
    seen, the seconds for which somebody has watched."""
    return [
        (part.role, part.account, installation.watched if part.seen is None else part.seen)
        for part in installation.parts
    ]


def unserved(everywhere: Installation, here: Collection[str], waiting: int) -> Iterator[str]:
    """Yield sentences for operators, with the next step: about the parts that no process serves,
    and the accounts of other processes that are not connected. `here` are those of the program on
    this machine, `waiting` counts the messages that wait."""
    for part in everywhere.parts:
        if part.name in here or part.is_well:
            continue
        if part.state != MISSING:
            problem = str(part.problem).removesuffix(".")
            reason = f": {problem}" if problem else ""
            yield f"{part.name} is {part.state}{reason}. `parley doctor` checks it."
        elif everywhere.running:
            now = f" {waiting:,} waiting now." if waiting and not part.account else ""
            yield f"{part.problem!s}{now} {part.step!s}"
    if not everywhere.running:
        steps = f"`{START_ADAPTER}` and `{START_WORKER}`"
        yield f"No process of this installation runs. Start them: {steps}."
