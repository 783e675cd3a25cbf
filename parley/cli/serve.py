"""Runs the program from its start until a signal stops it."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from typing import Final

import structlog
from msgspec import Struct, field

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.errors import ParleyError
from gateway.extensions import ExtensionRegistry
from gateway.inbound.work_record import Crash, WorkRecord
from gateway.observe.logs import configure_logs
from gateway.ports.error_codes import exit_status_of
from parley.app import App
from parley.cli.announcements import Announcements, announcements_of
from parley.config import Settings, SettingsError
from parley.config.load import Origins
from parley.config.secrets import secret_values
from parley.runtime import Role
from parley.runtime.gc_and_heap import (
    freeze_loaded_objects,
    freeze_startup_objects,
    return_large_blocks,
)
from parley.runtime.restart import Restart, begin_again
from parley.runtime.service_manager import ServiceManager
from parley.runtime.watchdog import Watchdog, work_record
from parley.security.keys import create_keys, server_token
from parley.wiring.extensions import load_extensions
from parley.wiring.libraries import missing_libraries

Beside = Callable[[App], Awaitable[None]]
"""Work that runs beside the program once it has started."""

STATUS_ENDED_AT_ONCE: Final = 130
AT_ONCE: Final = "stopped at once; remaining work continues at the next start"

log = structlog.get_logger(__name__)


class ProcessWatch(Struct, frozen=True):
    """The supervision of a process: the record of its work, the crashes of earlier processes,
    systemd, and the watchdog."""

    record: WorkRecord | None = None
    left: Sequence[Crash] = ()
    manager: ServiceManager = field(default_factory=ServiceManager)
    watchdog: Watchdog | None = None


async def serve(
    settings: Settings,
    role: Role = "all",
    platform: str = "",
    *,
    built: Callable[[], None] = lambda: None,
    started: Callable[[], None] = lambda: None,
    watch: ProcessWatch | None = None,
    extensions: ExtensionRegistry | None = None,
    beside: Beside | None = None,
    shows_owner_code: bool = False,
    origins: Origins | None = None,
    announcements: Announcements | None = None,
    restart: Restart | None = None,
) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status. Announces each ready part, and the
    addresses of the pages.

    `built` is called when all parts are built, `started` when the start is complete, and `beside`
    runs from then on, until the end at most. `shows_owner_code`: `beside` shows one where there is
    no owner. `watch` supervises the loop until it is closed.
    """
    stopping, announced = asyncio.Event(), announcements or Announcements()
    stop_on_signals(stopping, announced)
    if restart is not None:
        restart.attach(stopping)
    watch = watch or ProcessWatch()
    app = App(
        settings,
        extensions=extensions,
        role=role,
        platform=platform,
        record=watch.record,
        left=watch.left,
        origins=origins,
        restart=restart,
    )
    built()
    if watch.watchdog is not None:
        watch.watchdog.start()

    later = BackgroundTasks("library_not_loaded")

    async def start() -> None:
        await _start(app, started, announced, shows_owner_code=shows_owner_code)
        watch.manager.ready()
        await _go_on(app, announced, later, beside)

    starting, stopped = asyncio.create_task(start()), asyncio.create_task(stopping.wait())
    try:
        await _until_stopped(starting, stopped)
    finally:
        if restart is None or not restart.requested:  # for systemd, the service goes on
            watch.manager.stopping()
        for task in (starting, stopped):
            task.cancel()
        await asyncio.wait((starting, stopped))
        await later.stop()
        await app.stop()
    return 0


async def _go_on(
    app: App, announced: Announcements, later: BackgroundTasks, beside: Beside | None
) -> None:
    """Load what the start left for later, and run `beside`; without it the console is announced."""
    if beside is None:
        with suppress(StoreUnavailable):  # the log and the status say it
            await announced.console(app)
    later.spawn(app.load_libraries())
    await app.local.load_apps()
    if beside is not None:
        await beside(app)


async def _until_stopped(starting: "asyncio.Task[None]", stopped: "asyncio.Task[bool]") -> None:
    """Wait for the signal; raises the error of a start that failed before."""
    await asyncio.wait((starting, stopped), return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        starting.result()
        await stopped


async def _start(
    app: App,
    started: Callable[[], None],
    announced: Announcements,
    *,
    shows_owner_code: bool,
) -> None:
    """Start the program, and announce its state: each ready account, each account that is not
    connected with its problem, and the addresses of the pages."""

    async def on_ready(name: str) -> None:
        announced.ready(name)

    await app.start(on_ready, shows_owner_code=shows_owner_code)
    started()
    for name, problem in app.supervisor.errors.items():
        announced.problem(name, str(problem))
    announced.pages(app)
    announced.ready("gateway")


def run(
    settings: Settings,
    role: Role = "all",
    platform: str = "",
    *,
    beside: Beside | None = None,
    shows_owner_code: bool = False,
    quiet: bool = False,
    origins: Origins | None = None,
    restart: Restart | None = None,
) -> int:
    """Run the program and return its exit status; `beside` runs with it, and shows an owner code if
    `shows_owner_code`; `quiet` logs warnings only; `origins` are those of the values of `settings`;
    `restart` starts the command anew. Raises a `ParleyError` when it cannot start."""
    if problems := missing_libraries(settings):
        raise SettingsError(problems)
    extensions = load_extensions(settings)  # before anything is opened
    level = logging.getLevelNamesMapping()[settings.observe.log_level.upper()]
    level = max(level, logging.WARNING) if quiet else level
    create_keys(settings)
    secrets = [*secret_values(settings), server_token(settings)]
    configure_logs(settings.observe.log_format, level, secrets=secrets)
    return_large_blocks()
    record, left = work_record(settings)
    manager = ServiceManager.of(os.environ)
    watchdog = Watchdog(settings.watchdog.seconds, record, manager.alive)
    announced = announcements_of(settings.observe.log_format)
    with record, watchdog, closing(manager):  # supervised also while the loop closes
        watch = ProcessWatch(record, left, manager, watchdog)
        running = serve(
            settings,
            role,
            platform,
            built=freeze_loaded_objects,
            started=freeze_startup_objects,
            watch=watch,
            extensions=extensions,
            beside=beside,
            shows_owner_code=shows_owner_code,
            origins=origins,
            announcements=announced,
            restart=restart,
        )
        try:
            status = asyncio.run(running)
        except (ParleyError, StoreUnavailable) as error:
            if not announced.as_events:
                raise
            log.error("ended", problem=str(error))
            return exit_status_of(error)
    if restart is not None and restart.requested:
        begin_again()
    return status


def stop_on_signals(stopping: asyncio.Event, announced: Announcements) -> None:
    """Set `stopping` at the first SIGTERM or SIGINT; a second one ends the process at once.

    No accepted message is lost: it is stored, and continues at the next start.
    """

    def end() -> None:
        if stopping.is_set():
            if announced.as_events:
                log.warning("ended", problem=AT_ONCE)
            else:
                sys.stderr.write(f"{AT_ONCE}\n")
            sys.stderr.flush()
            os._exit(STATUS_ENDED_AT_ONCE)
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
