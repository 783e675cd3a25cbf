"""`parley check-config` and `example-config`, and `parley config`: the changes that were made in
the console. Works beside a running program, which applies a change within seconds."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from gateway.errors import UsageError
from gateway.extensions import ExtensionRegistry
from gateway.people import DEFAULT_TENANT
from gateway.platforms import Discovery, discover
from gateway.ports.clock import SystemClock
from gateway.stores.config_versions import ConfigVersion
from parley.cli.chosen_configuration import own_configuration
from parley.cli.options import Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import print_text
from parley.config import Settings, SettingsError, load
from parley.config.listing import as_yaml, listed
from parley.config.load import example_text, load_with_origins
from parley.config.overrides import Overlaid, overlaid, overrides_in, parsed
from parley.config.sections import sqlite_file
from parley.doctor.startup import startup_problems
from parley.python_environment import warn_of_conflicts
from parley.wiring.extensions import load_extensions
from parley.wiring.live_configuration import (
    COMMAND_LINE,
    LiveConfiguration,
    stored_configuration,
)
from parley.wiring.memory_backends import describe, load_backends
from parley.wiring.observe import AuditSink
from parley.wiring.storage import Storage
from safety.http.shown_address import shown_address, without_secrets

NONE: Final = "There are no overrides: the configuration is that of the file and the environment.\n"
BUSY: Final = "Somebody else changed the configuration at the same time. Try again."
TRIES: Final = 5
NEWEST: Final = "SELECT overrides FROM config_versions ORDER BY number DESC LIMIT 1"
READ_SECONDS: Final = 1.0

T = TypeVar("T")


def show(config: Config = None) -> int:
    """Print every override with its state; 1 when one of them is ignored."""

    async def job(live: LiveConfiguration, _audit: AuditSink) -> LiveConfiguration:
        return live

    live = _with_configuration(config, job)
    lines = [
        *(f"{one.key} = {_value(one.value)}" for one in live.state.in_force),
        *(f"ignored: {one}" for one in live.state.ignored),
    ]
    if not lines or live.version is None:
        sys.stdout.write(NONE)
        return 0
    newest = live.version
    lines.append(f"Version {newest.number}, {newest.at:%Y-%m-%d %H:%M} UTC, by {newest.author}.")
    print_text("\n".join(lines) + "\n")
    return 1 if live.state.ignored else 0


def undo(config: Config = None) -> int:
    """Undo the last change."""

    async def job(live: LiveConfiguration, audit: AuditSink) -> ConfigVersion:
        return await _done(audit, lambda: live.undo(COMMAND_LINE, live.number))

    made = _with_configuration(config, job)
    print_text(f"Version {made.number} undoes: {', '.join(made.changed) or 'nothing'}.\n")
    return 0


def reset(config: Config = None) -> int:
    """Remove all overrides, for example when a change locked you out. The versions stay."""

    async def job(live: LiveConfiguration, audit: AuditSink) -> ConfigVersion | None:
        if not live.overrides and not live.state.ignored:
            return None
        return await _done(audit, lambda: live.restore(COMMAND_LINE, live.number, 0))

    made = _with_configuration(config, job)
    if made is None:
        sys.stdout.write(NONE)
    else:
        print_text(f"All overrides are removed: {', '.join(made.changed) or 'all'}.\n")
    return 0


def export(config: Config = None) -> int:
    """Print the configuration in force as a file, without secrets."""
    settings = settings_with_database(config)
    origins = load_with_origins(own_configuration(config), os.environ).origins

    async def job(storage: Storage) -> str:
        live = await stored_configuration(settings, storage)
        values = list(listed(live.settings, origins, live.state.in_force))
        return as_yaml(values, SystemClock().now())

    sys.stdout.write(with_storage(settings, job))
    return 0


def overrides_of_file(settings: Settings, platforms: Discovery) -> Overlaid | None:
    """The overrides in an SQLite file, read without changing it; None without a file, or where the
    database is a server."""
    file = sqlite_file(settings.database.url)
    if not file or not Path(file).is_file():
        return None
    address = f"{Path(file).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=READ_SECONDS)) as database:
            row = database.execute(NEWEST).fetchone()
    except sqlite3.Error:  # of an older version, or no database: other checks say so
        return None
    if row is None:
        return None
    try:
        return overlaid(settings, overrides_in(parsed(str(row[0]))), platforms.manifests)
    except SettingsError as error:
        return Overlaid(settings, (), error.problems)


async def _done(
    audit: AuditSink, change: Callable[[], Awaitable[ConfigVersion | None]]
) -> ConfigVersion:
    for _ in range(TRIES):
        made = await change()
        if made is not None:
            keys = ", ".join(made.changed)
            await audit.console(
                "configuration_changed", DEFAULT_TENANT, "", by=COMMAND_LINE, keys=keys,
                version=made.number,
            )  # fmt: skip
            return made
    raise UsageError(BUSY)


def _with_configuration(
    config: Config, job: Callable[[LiveConfiguration, AuditSink], Awaitable[T]]
) -> T:
    settings = settings_with_database(config)

    async def work(storage: Storage) -> T:
        live = await stored_configuration(settings, storage)
        return await job(live, AuditSink(settings, storage, SystemClock()))

    return with_storage(settings, work)


def _value(value: object) -> str:
    return "removed" if value is None else without_secrets(str(value))


def check_config(config: Config = None) -> int:
    """Load the configuration and print a summary; returns the exit status."""
    warn_of_conflicts()
    platforms, path = discover(), own_configuration(config)
    settings = load(path, os.environ, platforms)
    problems = asyncio.run(startup_problems(settings, platforms))
    if problems:
        raise SettingsError(problems)
    lines = [
        f"{path or 'The environment'} is valid.",
        *summary(settings, load_extensions(settings)),
    ]
    stored = overrides_of_file(settings, platforms)
    if stored is not None and (stored.in_force or stored.ignored):
        lines.append(f"  overrides  {', '.join(one.key for one in stored.in_force) or 'none'}")
        lines += [f"  ignored    {one}" for one in stored.ignored]
    print_text("\n".join(lines) + "\n")
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    return 0


def summary(settings: Settings, extensions: ExtensionRegistry) -> list[str]:
    """The parts that are in use, a line each, without secrets."""
    model = settings.model
    names = [f"{choice.provider} {choice.name}".strip() for choice in (model, *model.fallbacks)]
    accounts = [a.path.removeprefix("platforms.") for a in settings.accounts()]
    return [
        f"  assistant  {settings.assistant.name}",
        f"  model      {', then '.join(names)}",
        f"  platforms  {', '.join(accounts) or 'none; `parley init` sets one up'}",
        f"  tools      {', '.join(settings.mcp.servers) or 'none'}",
        f"  extensions {', '.join(extensions.names) or 'none'}",
        f"  memory     {memory_in_use(settings)}",
        f"  database   {shown_address(settings.database.url)}",
        f"  local      {settings.server.host}:{settings.server.port}",
        f"  webhooks   {settings.webhooks.host}:{settings.webhooks.port}",
    ]


def memory_in_use(settings: Settings) -> str:
    """The places of learned memories, with the abilities of the backends."""
    if not settings.memory.enabled:
        return "off"
    return describe(settings.memory.places, load_backends(settings, SystemClock()))


def example_config() -> int:
    """Print the example; returns the exit status."""
    sys.stdout.write(example_text())
    return 0
