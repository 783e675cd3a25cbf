"""Reports this process to the others, and watches which parts of the installation are served."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.llm.model_health import ModelHealth
from gateway.ports import Clock
from gateway.ports.processes import AccountReport, ModelReport, ProcessReport, SeenProcess
from gateway.stores.redis.processes import RedisProcesses
from gateway.text import NO_TEXT, Text, as_json
from parley.runtime.installation import MISSING, Installation, installation_of
from parley.runtime.supervisor import Supervisor

EVERY: Final = 5.0
"""Seconds between two reports."""
MAX_STORED: Final = 2_000
"""Characters of a problem with its sentences, in JSON."""
MAX_WORDS: Final = 300
"""Characters of a problem in English alone."""

log = structlog.get_logger(__name__)


class ProcessReports:
    """`installation` is the latest state; None while the store is unavailable."""

    def __init__(
        self,
        processes: RedisProcesses,
        describe: Callable[[], ProcessReport],
        configured: Collection[str],
        clock: Clock,
        health: ModelHealth,
    ) -> None:
        """`configured`: the accounts of the configuration. `health` learns of the answers that
        models gave to other processes."""
        self._processes = processes
        self._describe = describe
        self._configured = tuple(configured)
        self._clock = clock
        self._health = health
        self._task: asyncio.Task[None] | None = None
        self._missing: frozenset[str] = frozenset()
        self.installation: Installation | None = None

    async def start(self) -> None:
        """Start; the first report is made before this returns."""
        await self.round()
        self._task = asyncio.create_task(self._run(), name="process-reports")

    async def stop(self) -> None:
        """Report the end of this process. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is None:
            return
        await stop_task(task)
        with suppress(StoreUnavailable):  # then the others see it after some seconds
            await self._processes.leave()

    async def round(self) -> None:
        """Report once. Never raises; the health of the store is watched elsewhere."""
        try:
            seen = await self._processes.report(self._describe())
        except StoreUnavailable:
            self.installation = None
            return
        self._learn_of_answers(seen)
        self.installation = installation_of(seen, self._configured, self._clock.now())
        self._log_changes(self.installation)

    def _learn_of_answers(self, seen: Sequence[SeenProcess]) -> None:
        now = self._clock.now()
        for process in seen:
            for one in process.report.models:
                if one.answered is not None:
                    ago = timedelta(seconds=process.age + one.answered)
                    self._health.answered_elsewhere(one.model, one.server, now - ago)

    def _log_changes(self, now: Installation) -> None:
        missing = frozenset(part.name for part in now.parts if part.state == MISSING)
        for name in sorted(missing - self._missing):
            log.error("part_missing", part=name, problem=str(now.problems[name]))
        for name in sorted(self._missing - missing):
            log.info("part_served_again", part=name)
        self._missing = missing

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(EVERY)
            await self.round()


def accounts_of(supervisor: Supervisor, now: datetime) -> tuple[AccountReport, ...]:
    """The accounts that this process serves, with their states."""

    def since(at: datetime | None) -> float | None:
        return None if at is None else max(0.0, (now - at).total_seconds())

    return tuple(
        AccountReport(
            name,
            state,
            stored(supervisor.errors.get(name, NO_TEXT)),
            since(supervisor.connected_at.get(name)),
            since(supervisor.last_events.get(name)),
        )
        for name, state in supervisor.states.items()
    )


def stored(problem: Text) -> str:
    """A problem as a report has it, to be shown in the language of its reader; a very long one in
    English."""
    if not problem:
        return ""
    whole = as_json(problem)
    return whole if len(whole) <= MAX_STORED else str(problem)[:MAX_WORDS]


def models_of(health: ModelHealth, now: datetime) -> tuple[ModelReport, ...]:
    """The models that this process called, with their last answer and their failure."""
    failures = {(one.model, one.server): one for one in health.failures()}
    answered = health.answered()

    def ago(at: datetime) -> float:
        return max(0.0, (now - at).total_seconds())

    reports = []
    for key in dict.fromkeys((*failures, *answered)):
        failure, last = failures.get(key), answered.get(key)
        report = ModelReport(*key, None if last is None else ago(last))
        if failure is not None:
            since, failed = ago(failure.since), ago(failure.last)
            report = ModelReport(*key, report.answered, failure, since, failed)
        reports.append(report)
    return tuple(reports)
