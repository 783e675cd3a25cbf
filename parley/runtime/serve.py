"""The program from its start to its end by a signal."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from gateway.crash_loop.record import Death, WorkRecord
from gateway.extensions import ExtensionRegistry
from gateway.observe.logs import configure_logs
from parley.app import App
from parley.config import Settings
from parley.config.secrets import secret_values
from parley.extensions import load_extensions
from parley.runtime import garbage, heap
from parley.runtime.roles import Role
from parley.runtime.service_manager import ServiceManager
from parley.runtime.signals import stop_on_signals
from parley.runtime.watchdog import Watchdog
from parley.runtime.work_record import work_record


@dataclass(frozen=True, slots=True)
class ProcessWatch:
    """The process as others see it: the record of its work, deaths of processes before it that left
    theirs, and who is told that it is alive."""

    record: WorkRecord | None = None
    left: Sequence[Death] = ()
    manager: ServiceManager = field(default_factory=ServiceManager)
    dog: Watchdog | None = None


async def serve(
    settings: Settings,
    role: Role = "all",
    platform: str = "",
    *,
    started: Callable[[], None] = lambda: None,
    watch: ProcessWatch | None = None,
    extensions: ExtensionRegistry | None = None,
) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status. Prints one line per ready part, and
    where people find the pages.
    `started` is called when everything is there that stays until the end. `watch` watches the loop
    from here on until it is closed."""
    stopping = asyncio.Event()
    stop_on_signals(stopping)
    watch = watch or ProcessWatch()
    app = App(
        settings,
        extensions=extensions,
        role=role,
        platform=platform,
        record=watch.record,
        left=watch.left,
    )
    if watch.dog is not None:
        watch.dog.start()

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    async def on_ready(name: str) -> None:
        say(f"ready {name}")

    async def start() -> None:
        await app.start(on_ready)
        started()
        for name, problem in app.supervisor.errors.items():
            sys.stderr.write(f"{name} is not connected: {problem}\n")
        for link in app.pages():
            say(f"open {link}")
        say("ready gateway")
        watch.manager.ready()

    starting, stopped = asyncio.create_task(start()), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((starting, stopped), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await stopped
    finally:
        watch.manager.stopping()
        for task in (starting, stopped):
            task.cancel()
        await asyncio.wait((starting, stopped))
        await app.stop()
    return 0


def run(settings: Settings, role: Role = "all", platform: str = "") -> int:
    """Run the program; returns its exit status. Raises a `ParleyError` when it cannot start."""
    extensions = load_extensions(settings)  # before anything is opened or made
    level = logging.getLevelNamesMapping()[settings.observe.log_level.upper()]
    configure_logs(settings.observe.log_format, level, secrets=secret_values(settings))
    heap.return_large_blocks()
    record, left = work_record(settings)
    manager = ServiceManager.of(os.environ)
    dog = Watchdog(settings.watchdog.seconds, record, manager.alive)
    with record, dog, closing(manager):  # the loop is watched until it is closed, and after it
        watch = ProcessWatch(record, left, manager, dog)
        return asyncio.run(
            serve(
                settings,
                role,
                platform,
                started=garbage.freeze_startup_objects,
                watch=watch,
                extensions=extensions,
            )
        )
