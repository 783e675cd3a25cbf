"""The settings and the stores of one command, also while Parley runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from gateway.errors import UsageError
from gateway.observe.logs import configure_logs
from gateway.ports.clock import SystemClock
from parley.config import Settings
from parley.config.sections import MEMORY, sqlite_file

if TYPE_CHECKING:
    from parley.wiring.storage import LongLived, Storage
import os

from gateway.errors import ConfigurationError
from parley.cli.chosen_configuration import chosen
from parley.config import load

RELATIVE: Final = (
    "{key} names {file}, which begins at the current folder, and that is in the git repository "
    "{tree}. Run the command in the folder of Parley and name the repository, or make the path "
    "absolute."
)
IN_MEMORY: Final = "The database is in the memory of the running program: only that can read it."
NO_DATABASE: Final = (
    "There is no database at {file} yet. Give the configuration with --config, or start Parley "
    "once."
)
T = TypeVar("T")


def command_settings(config: Path | None) -> Settings:
    """Return the settings of `chosen`. Raises `ConfigurationError`, also where a database would be
    in somebody's repository."""
    choice = chosen(config)
    settings = load(choice.file, os.environ)
    if choice.tree is not None:
        _refuse_relative(settings, choice.tree)
    return in_folder(settings, choice.folder)


def _refuse_relative(settings: Settings, tree: Path) -> None:
    places = {
        "database.url": sqlite_file(settings.database.url),
        "storage.url": sqlite_file(settings.storage_url),
        "knowledge.file": settings.knowledge.file,
        "server.key_folder": settings.server.key_folder or "",
    }
    for key, file in places.items():
        if file and not os.path.isabs(file):
            raise ConfigurationError(RELATIVE.format(key=key, file=file, tree=tree))


def in_folder(settings: Settings, folder: Path) -> Settings:
    """Return the settings with the files and folders of stores beginning at a folder; as they are
    if it is the current one."""
    if folder == Path.cwd():
        return settings

    def absolute(path: str) -> str:
        return str(folder / Path(path).expanduser()) if path else path

    def address(url: str) -> str:
        file = sqlite_file(url)
        return url.replace(file, absolute(file), 1) if file else url

    sections = {
        "database": {"url": address(settings.database.url)},
        "storage": {"url": address(settings.storage_url)},
        "knowledge": {"file": absolute(settings.knowledge.file)},
        "memory": {"models_folder": absolute(settings.memory.models_folder)},
        "server": {"key_folder": absolute(settings.server.key_folder or "") or None},
    }
    changed = {
        name: getattr(settings, name).model_copy(update=values) for name, values in sections.items()
    }
    return settings.model_copy(update=changed)


def read_settings(config: Path | None) -> Settings:
    """The configuration. The log shows warnings only."""
    settings = command_settings(config)
    configure_logs(level=logging.WARNING)
    return settings


def settings_with_database(config: Path | None, *, hot: bool = False) -> Settings:
    """The configuration. Raises `BadInput` where there is no database that this process can read;
    `hot` looks at `storage.url` as well."""
    settings = read_settings(config)
    require_database(settings, hot=hot)
    return settings


def require_database(settings: Settings, *, hot: bool = False) -> None:
    """Raises `BadInput` where there is no database that this process can read."""
    for url in (settings.database.url, settings.storage_url if hot else ""):
        if url == MEMORY:
            raise UsageError(IN_MEMORY)
        file = sqlite_file(url)
        if file and not Path(file).exists():
            raise UsageError(NO_DATABASE.format(file=file))


@asynccontextmanager
async def opened(storage: Storage) -> AsyncIterator[Storage]:
    """The stores, opened beside a running gateway and closed at the end."""
    try:
        await storage.start(exclusive=False)
        yield storage
    finally:
        await storage.stop()


def with_storage(settings: Settings, job: Callable[[Storage], Awaitable[T]]) -> T:
    """The result of `job` with the opened stores."""
    from parley.wiring.storage import Storage  # noqa: PLC0415 - slow, and for some commands only

    async def run() -> T:
        async with opened(Storage(settings, SystemClock())) as storage:
            return await job(storage)

    return asyncio.run(run())


def with_database(settings: Settings, job: Callable[[LongLived], Awaitable[T]]) -> T:
    """The result of `job` with the opened stores of `database.url` alone."""
    from parley.wiring.storage import LongLived  # noqa: PLC0415 - slow, and for some commands only

    async def run() -> T:
        stores = LongLived(settings.database.url, SystemClock())
        try:
            await stores.start()
            return await job(stores)
        finally:
            await stores.stop()

    return asyncio.run(run())
