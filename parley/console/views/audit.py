"""The audit log: its entries with filters and pages, and the verification of its chain."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, get_args

from msgspec.structs import asdict
from pydantic import Field

from gateway.people import Role
from gateway.ports.action import Input, Nothing, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    NO_TEXT,
    text,
)
from memory.actions.call import Digits
from memory.ports.audit import AuditAction, AuditFilter, AuditPage, Link
from parley.console.jobs import ConsoleJob, Report
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversations import Day, begin_of
from parley.maintenance.audit_chain import ChainReport, existing_key, walk

PATH: Final = "/audit"
PAGE: Final = 50
VERIFIED_AT_ONCE: Final = 250
"""Entries that are read on the event loop at once."""
ACTIONS: Final = get_args(AuditAction)
NAMING: Final = frozenset({"of", "by", "person"})
"""Details that are a person's id."""
CHANGED: Final = "configuration_changed"
"""A filter of its own: these actions in the console."""
FILTERS: Final = (CHANGED, *ACTIONS)
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 1, 1, tzinfo=UTC)
JobState = Literal["never", "running", "done", "failed"]


class AuditQuery(Input):
    """The filters; empty ones are off. `person` acted or is named. `since` and `until` are days in
    the viewer's time zone, both included. `after` is `next` of the page before."""

    person: Annotated[str, Field(max_length=300)] = ""
    action: Literal["", *FILTERS] = ""  # type: ignore[valid-type]  # the names are in one place
    """Only entries with this action, or `configuration_changed`: changes of the configuration."""
    since: Day = ""
    until: Day = ""
    after: Annotated[int, Field(ge=0, le=999_999_999), Digits] = 0


class DetailOut(Output):
    """A detail of an entry: an id, a count, a size or a code, never content."""

    name: str
    """The name of the detail."""
    value: str | int
    """The id, count, size or code."""
    called: str = ""
    """The name of the person whose id the value is, for operators; empty otherwise."""


class AuditEntryOut(Output):
    """An entry; `person` acted, empty for the program."""

    number: int
    """The place in the audit, from 1."""
    at: datetime
    """The time of the action."""
    action: str
    """The name of the action."""
    person: str
    name: str = ""
    """The name of the person, for operators; empty if unknown."""
    details: tuple[DetailOut, ...] = Field(max_length=20)
    """The details, without content."""
    hash: str
    """The seal of the entry, which includes that of the entry before."""


class VerificationOut(Output):
    """The latest verification in this process. `broken` is the number of the first entry that was
    changed or follows a missing one, 0 for none; `last` and `hash` are of the last correct entry.
    `done` of `total` entries are checked."""

    state: JobState = "never"
    """The state of the run."""
    started: datetime | None = None
    """The time of its start."""
    ended: datetime | None = None
    """The time of its end; None while it runs."""
    done: int = 0
    total: int = 0
    problem: Said = NO_TEXT
    """The reason of a failure; empty for none."""
    entries: int = 0
    since: datetime | None = None
    """The time of the first checked entry."""
    until: datetime | None = None
    """The time of the last correct entry."""
    broken: int = 0
    last: int = 0
    hash: str = ""


class AuditOut(Output):
    """Entries, the latest first: of the tenant for operators, of the viewer for other people.
    `next` is 0 at the end; a page may have few entries and a next one."""

    of: Literal["all", "own"]
    rows: tuple[AuditEntryOut, ...] = Field(max_length=PAGE)
    """The entries of this page."""
    next: int
    actions: tuple[str, ...] = FILTERS
    """The actions by which entries can be filtered."""
    verification: VerificationOut | None = None
    """The latest verification; None for people who are no operators."""


async def audit(viewer: Viewer, services: ConsoleServices, params: AuditQuery) -> AuditOut:
    """Return entries that the viewer may see. Raises `BadInput` for a day that does not exist."""
    since, last = (begin_of(day, viewer.zone) for day in (params.since, params.until))
    multiple = services.gateway.extensions.has_tenants
    wanted = AuditFilter(
        # The program's own entries name no tenant.
        tenants=(viewer.tenant,) if multiple else (viewer.tenant, ""),
        since=since or _FIRST,
        until=_LAST if last is None else last + timedelta(days=1),
        persons=None if viewer.is_operator else tuple(sorted(viewer.persons)),
        person=params.person.strip(),
        action="console" if params.action == CHANGED else params.action,
        what=CHANGED if params.action == CHANGED else "",
    )
    trail = services.storage.memory.audit_on(b"")
    page: AuditPage = await trail.newest(wanted, params.after, PAGE)
    names = await names_of(viewer, services, _persons(page))
    return AuditOut(
        of="all" if viewer.is_operator else "own",
        rows=tuple(_entry(one, names) for one in page.links),
        next=page.next,
        verification=_verification(services) if viewer.is_operator else None,
    )


async def verify(viewer: Viewer, services: ConsoleServices, _params: Nothing) -> Done:
    """Start the verification of the chain. Raises `BadInput` without the key of the chain."""
    runner = services.jobs.verification
    runner.check_idle()
    key = existing_key(services.settings)
    trail = services.storage.memory.audit_on(key)
    await services.audit.console("audit_verified", viewer.tenant, viewer.person)

    async def work(report: Report) -> ChainReport:
        total = await trail.last()
        report(0, total)
        return await walk(
            trail, key, page=VERIFIED_AT_ONCE, checked=lambda number: report(number, total)
        )

    runner.start(work)
    return Done()


async def verification(
    _viewer: Viewer, services: ConsoleServices, _params: Nothing
) -> VerificationOut:
    """Return the state of the verification."""
    return _verification(services)


def _verification(services: ConsoleServices) -> VerificationOut:
    job = services.jobs.verification.latest
    if job is None:
        return VerificationOut()
    found = job.result
    state = VerificationOut(
        state=state_of(job),
        started=job.started,
        ended=job.ended,
        done=min(job.done, job.total),
        total=job.total,
        problem=job.problem,
    )
    if found is None:
        return state
    return state.model_copy(update=asdict(found))


def state_of(job: ConsoleJob[Any]) -> JobState:
    """Return the state of a job in one word."""
    if job.ended is None:
        return "running"
    return "failed" if job.problem else "done"


def _persons(page: AuditPage) -> Iterator[str]:
    """Return the people who acted, and those whom a detail names."""
    for one in page.links:
        yield one.entry.person
        yield from (str(value) for name, value in one.entry.details if name in NAMING)


def _entry(link: Link, names: Mapping[str, str]) -> AuditEntryOut:
    entry = link.entry
    return AuditEntryOut(
        number=link.number,
        at=entry.at,
        action=entry.action,
        person=entry.person,
        name=names.get(entry.person, ""),
        details=tuple(
            DetailOut(name=name, value=value, called=names.get(str(value), ""))
            for name, value in entry.details
        ),
        hash=link.hash,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="audit",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary=text("The audit log: what was done, by whom, and to whom"),
        run=audit,
        template="audit.html",
        menu=text("Audit"),
        example={"action": "console"},
    ),
    ConsoleRoute(
        name="audit_verification",
        method="GET",
        path=f"{PATH}/verification",
        allowed=to_read(Role.OPERATOR),
        summary="The state of the verification of the audit log",
        run=verification,
        template="verification.html",
    ),
    ConsoleRoute(
        name="verify_audit",
        method="POST",
        path=f"{PATH}/verify",
        allowed=in_person(Role.OPERATOR),
        summary="Verify the chain of the audit log",
        run=verify,
        done=text("The verification has started."),
        then=f"{PATH}/verification",
    ),
)
