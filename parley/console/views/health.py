"""Health: the checks of `parley doctor`, the log of a message, a backup."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from db.errors import StoreUnavailable
from gateway.conversation import ConversationKey
from gateway.errors import BadInput
from gateway.people import Role
from gateway.platforms import discover
from gateway.ports.action import Input, Nothing, Output
from gateway.ports.rights import in_person, to_read
from gateway.ports.traces import Trace
from gateway.text import (
    NO_TEXT,
    Size,
    text,
    verbatim,
)
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.console import words
from parley.console.jobs import Report
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.said import Said, SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.audit import JobState, state_of
from parley.doctor import machine
from parley.doctor.machine import Finding
from parley.doctor.services import contact, recall_models
from parley.http.api.errors import CallRefused
from parley.maintenance.backup import Copied, back_up_all, pairs
from parley.maintenance.message_log import entries_of, read_log

PATH: Final = "/health"
CHECKS_EVERY: Final = timedelta(minutes=5)
CHECK_SECONDS: Final = 120.0
MAX_FINDINGS: Final = 500
MAX_LOGS: Final = 5
MAX_LINES: Final = 500
FOLDER: Final = "backups"
MAX_BACKUPS: Final = 10
SPARE: Final = 1.2
"""Free space that a backup needs, as a multiple of the size of the database."""
TOO_SOON: Final = text("The checks ran less than five minutes ago. Try again in a few minutes.")
SLOW: Final = text("The checks took more than two minutes. `parley doctor` shows the slow one.")
FULL: Final = text(
    "{folder} holds {number} backups already. Move one to another place, or delete it, and try "
    "again."
)
NO_FILE: Final = text(
    "The database is not a file that the program can copy. For PostgreSQL, use `pg_dump`."
)
NO_FOLDER: Final = text("The folder {folder} cannot be used: {reason}.")
NO_SPACE: Final = text("{folder} has {free} of free space, and the backup needs {needed}.")


class HealthQuery(Input):
    """`message` is the id of a message on its platform, as `parley logs` takes it."""

    message: Annotated[str, Field(max_length=300)] = ""


class FindingOut(Output):
    """The result of a check; `advice` is the next step, for a result that is not ok."""

    status: Literal["ok", "note", "broken"]
    name: SaidOrStr
    detail: SaidOrStr
    advice: SaidOrStr


class ChecksOut(Output):
    """The latest run of the checks in this process."""

    state: JobState = "never"
    ended: datetime | None = None
    problem: Said = NO_TEXT
    findings: tuple[FindingOut, ...] = Field(default=(), max_length=MAX_FINDINGS)


class FileOut(Output):
    """A file of a backup and its bytes, 0 for the key of the audit."""

    path: str
    size: int


class BackupOut(Output):
    """The latest backup by this process, for owners. `possible` is False where the database is no
    file. `done` of `total` pages of a database are copied."""

    possible: bool
    folder: str = ""
    state: JobState = "never"
    ended: datetime | None = None
    done: int = 0
    total: int = 0
    problem: Said = NO_TEXT
    files: tuple[FileOut, ...] = Field(default=(), max_length=10)


class HealthLineOut(Output):
    """An entry of a log; `at` is None where the store holds no time."""

    at: datetime | None
    part: str
    text: str


class MessageLogOut(Output):
    """The entries about one turn, in time order."""

    turn: str
    kind: str
    platform: str
    account: str
    lines: tuple[HealthLineOut, ...] = Field(max_length=MAX_LINES)


class HealthOut(Output):
    """The checks, the backup (for owners), and the logs of the message that was asked for."""

    checks: ChecksOut
    backup: BackupOut | None
    logs: tuple[MessageLogOut, ...] = Field(default=(), max_length=MAX_LOGS)


async def health(viewer: Viewer, services: ConsoleServices, params: HealthQuery) -> HealthOut:
    """Return the state of the checks and of the backup, and the log of a message."""
    wanted = params.message.strip()
    traces = await services.storage.stores.traces.find(wanted) if wanted else []
    own = [trace for trace in traces if _tenant_of(trace) == viewer.tenant][:MAX_LOGS]
    return HealthOut(
        checks=_checks(services),
        backup=_backup(services) if viewer.is_owner else None,
        logs=tuple([await _log(services, viewer.tenant, trace) for trace in own]),
    )


async def progress(viewer: Viewer, services: ConsoleServices, _params: Nothing) -> HealthOut:
    """Return the state of the checks and of the backup."""
    return await health(viewer, services, HealthQuery())


async def check(viewer: Viewer, services: ConsoleServices, _params: Nothing) -> Done:
    """Start the checks. Raises `CallRefused` (409) while they run, and soon after."""
    runner = services.jobs.checks
    runner.check_idle()
    with suppress(StoreUnavailable):  # the checks name the store
        if not await services.storage.hot.buckets.claim("console:checks", CHECKS_EVERY):
            raise CallRefused("too_soon", TOO_SOON)
    await services.audit.console("checks_run", viewer.tenant, viewer.person)
    settings, own = services.settings, readiness_of(services)

    async def work(_: Report) -> tuple[Finding, ...]:
        # On a thread with a loop of its own: some checks load libraries or wait for files.
        return await asyncio.to_thread(lambda: asyncio.run(examined(settings, own)))

    runner.start(work)
    return Done()


async def back_up(viewer: Viewer, services: ConsoleServices, _params: Nothing) -> Done:
    """Start a backup. Raises `BadInput` where it is impossible, `CallRefused` while one runs."""
    runner, settings = services.jobs.backup, services.settings
    runner.check_idle()
    file = await asyncio.to_thread(new_file, settings, services.gateway.clock.now())
    await services.audit.console("backup", viewer.tenant, viewer.person, file=file.name)

    async def work(report: Report) -> tuple[Copied, ...]:
        return await asyncio.to_thread(lambda: tuple(back_up_all(settings, file, progress=report)))

    runner.start(work)
    return Done()


async def examined(settings: Settings, own: Callable[[], Sequence[Finding]]) -> tuple[Finding, ...]:
    """Return the findings of `parley doctor` about this program. Raises `BadInput` if a service
    takes too long."""
    platforms = discover()
    findings = [*machine.versions(), *machine.environment(), *machine.plugins(platforms)]
    findings += machine.stores(settings)
    findings += machine.disks(settings)
    findings += machine.listeners(settings)
    findings += recall_models(settings)
    findings += own()
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            findings += await contact(settings, platforms)
    except TimeoutError:
        raise BadInput(SLOW) from None
    return tuple(findings[:MAX_FINDINGS])


def readiness_of(services: ConsoleServices) -> Callable[[], Sequence[Finding]]:
    """Return a function for the readiness of this process, one finding for each part that is not
    ready or has a problem."""

    def found() -> Sequence[Finding]:
        state = services.health.readiness()
        advice = text("See the log of the program.")
        unready = [
            Finding("broken", f"running: {part}", words.said(at), advice)
            for part, at in state.parts.items()
            if at != "ready" and part not in state.problems
        ]
        problems = [
            machine.of_program("note" if state.ready else "broken", part, said, advice)
            for part, said in state.problems.items()
            if part != "overrides" and part not in state.installation
        ]
        problems += machine.ignored_overrides(services.configuration.state.ignored)
        return [*unready, *problems] or [Finding("ok", "running", text("the program is ready"))]

    return found


def folder_of(settings: Settings) -> Path | None:
    """Return the folder of backups, beside the database; None where that is no file."""
    database = sqlite_file(settings.database.url)
    return Path(database).absolute().parent / FOLDER if database else None


def new_file(settings: Settings, now: datetime) -> Path:
    """Return the file for a new backup, in its folder. Raises `BadInput` where there is no database
    file, no space, or too many backups."""
    sources = [database for database, _ in pairs(settings, Path(FOLDER))]
    folder = folder_of(settings)
    if folder is None:
        raise BadInput(NO_FILE)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        number = sum(1 for one in folder.glob("parley-*.db"))
        needed = SPARE * sum(one.stat().st_size for one in sources)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise BadInput(
            NO_FOLDER.of(folder=verbatim(f"`{folder}`"), reason=verbatim(error.strerror or ""))
        ) from error
    if number >= MAX_BACKUPS:
        raise BadInput(FULL.of(folder=verbatim(f"`{folder}`"), number=number))
    if free < needed:
        raise BadInput(
            NO_SPACE.of(folder=verbatim(f"`{folder}`"), free=Size(free), needed=Size(round(needed)))
        )
    return folder / f"parley-{now:%Y%m%d-%H%M%S-%f}.db"


def _checks(services: ConsoleServices) -> ChecksOut:
    job = services.jobs.checks.latest
    if job is None:
        return ChecksOut()
    findings = tuple(
        FindingOut(
            status=one.status,
            name=words.part(one.name),
            detail=one.said,
            advice="" if one.status == "ok" else one.step,
        )
        for one in job.result or ()
    )
    return ChecksOut(state=state_of(job), ended=job.ended, problem=job.problem, findings=findings)


def _backup(services: ConsoleServices) -> BackupOut:
    folder, job = folder_of(services.settings), services.jobs.backup.latest
    if folder is None:
        return BackupOut(possible=False)
    if job is None:
        return BackupOut(possible=True, folder=str(folder))
    return BackupOut(
        possible=True,
        folder=str(folder),
        state=state_of(job),
        ended=job.ended,
        done=job.done,
        total=job.total,
        problem=job.problem,
        files=tuple(FileOut(path=str(one.copy), size=one.size) for one in job.result or ()),
    )


async def _log(services: ConsoleServices, tenant: str, trace: Trace) -> MessageLogOut:
    log = await read_log(services.storage, trace, tenant)
    lines = tuple(
        HealthLineOut(at=one.at, part=one.part, text=one.text)
        for one in entries_of(log)[:MAX_LINES]
    )
    return MessageLogOut(
        turn=trace.id,
        kind=trace.kind,
        platform=trace.platform,
        account=trace.account,
        lines=lines,
    )


def _tenant_of(trace: Trace) -> str:
    return ConversationKey.of(trace.conversation).tenant


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="health",
        method="GET",
        path=PATH,
        allowed=to_read(Role.OPERATOR),
        summary=text("Checks with their next step, what happened to a message, a backup"),
        run=health,
        template="health.html",
        menu=text("Health"),
        example={"message": "m1"},
    ),
    ConsoleRoute(
        name="health_progress",
        method="GET",
        path=f"{PATH}/progress",
        allowed=to_read(Role.OPERATOR),
        summary="The state of the checks and of the backup",
        run=progress,
        template="health_progress.html",
    ),
    ConsoleRoute(
        name="run_checks",
        method="POST",
        path=f"{PATH}/check",
        allowed=in_person(Role.OPERATOR),
        summary="Run the checks of the program and of the services that it uses",
        run=check,
        done=text("The checks have started."),
        then=f"{PATH}/progress",
    ),
    ConsoleRoute(
        name="back_up",
        method="POST",
        path=f"{PATH}/backup",
        allowed=in_person(Role.OWNER),
        summary="Copy the databases into the folder of backups",
        run=back_up,
        done=text("The backup has started."),
        then=f"{PATH}/progress",
    ),
)
