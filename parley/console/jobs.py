"""Work that takes longer than a request: started by an action, its progress shown by pages."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.errors import BadInput, store_notice
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from parley.http.api.errors import CallRefused

if TYPE_CHECKING:
    from parley.doctor.machine import Finding
    from parley.maintenance.audit_chain import ChainReport
    from parley.maintenance.backup import Copied

RUNNING: Final = text("This is running already. Open the page again to see its progress.")
BROKEN: Final = text("It failed for an unexpected reason. The log of the program has the details.")
T = TypeVar("T")
Report = Callable[[int, int], None]
"""Notes the progress: so many of so many steps. Also called on threads."""

log = structlog.get_logger(__name__)


class ConsoleJob(Struct, Generic[T], frozen=True):
    """The latest run of a kind of job. `ended` is None while it runs; then it has its `result`, or
    a `problem` in words."""

    started: datetime
    """The time of its start."""
    ended: datetime | None = None
    done: int = 0
    """The part that is done, from 0 to `total`; its unit is that of the job."""
    total: int = 0
    """The whole work; 0 while it is not known."""
    result: T | None = None
    problem: Text = NO_TEXT


@dataclass(slots=True)
class JobRunner(Generic[T]):
    """Runs one kind of job, one at a time, in this process."""

    name: str
    """The name of the kind, in the log."""
    clock: Clock
    """The clock of the program."""
    latest: ConsoleJob[T] | None = None
    """The latest run; None: none was started in this process."""
    _task: asyncio.Task[None] | None = None

    def start(self, work: Callable[[Report], Awaitable[T]]) -> None:
        """Start a job. Raises `CallRefused` (409) while one runs."""
        self.check_idle()
        self.latest = ConsoleJob(self.clock.now())
        self._task = asyncio.create_task(self._run(work), name=f"console-{self.name}")

    def check_idle(self) -> None:
        """Raise `CallRefused` (409) while a job runs."""
        if self.latest is not None and self.latest.ended is None:
            raise CallRefused("running", RUNNING)

    async def stop(self) -> None:
        """Stop. Safe to call twice."""
        task, self._task = self._task, None
        await stop_task(task)

    async def _run(self, work: Callable[[Report], Awaitable[T]]) -> None:
        result: T | None = None
        problem: Text = BROKEN
        try:
            result, problem = await work(self._report), NO_TEXT
        except BadInput as error:
            problem = error.text
        except StoreUnavailable as error:
            log.warning("console_job_without_store", job=self.name, error=str(error))
            problem = store_notice(error)
        except Exception:
            log.exception("console_job_failed", job=self.name)
        finally:
            if self.latest is not None:
                self.latest = replace(
                    self.latest, ended=self.clock.now(), result=result, problem=problem
                )

    def _report(self, done: int, total: int) -> None:
        if self.latest is not None:
            self.latest = replace(self.latest, done=done, total=total)


class ConsoleJobs:
    """The jobs of this process: the verification of the audit, the checks, and backups."""

    def __init__(self, clock: Clock) -> None:
        self.verification: JobRunner[ChainReport] = JobRunner("verification", clock)
        self.checks: JobRunner[tuple[Finding, ...]] = JobRunner("checks", clock)
        self.backup: JobRunner[tuple[Copied, ...]] = JobRunner("backup", clock)

    async def stop(self) -> None:
        """Stop all. Safe to call twice."""
        await self.verification.stop()
        await self.checks.stop()
        await self.backup.stop()
