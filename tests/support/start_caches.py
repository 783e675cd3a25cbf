"""Results that every start of the program has in common, made once for each process of the tests
and for those that are forked from it.

A test starts a program or opens a database thousands of times in a run. The installed packages, the
model of the configuration and the tables of a new SQLite file are the same each time.
"""

import asyncio
import functools
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import EntryPoints, PathDistribution, entry_points

import pytest

from db.migrations import Schema, migrate_sqlite
from db.sqlite import SqliteDatabase
from gateway.ports import AdapterManifest
from memory.knowledge.schema import FILE_SCHEMA
from parley.config import from_mapping
from parley.config.settings import Settings, settings_model
from parley.wiring.storage import SCHEMAS


def reuse_results_of_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make starts of this process use them."""
    name = functools.cached_property(lambda package: package.metadata["Name"])
    name.__set_name__(PathDistribution, "name")
    monkeypatch.setattr(PathDistribution, "name", name, raising=False)
    monkeypatch.setattr("gateway.platforms.entry_points", _installed)
    monkeypatch.setattr("parley.wiring.extensions.entry_points", _installed)
    monkeypatch.setattr("parley.wiring.memory_backends.entry_points", _installed)
    load = import_module("parley.config.load")  # the package has a function of this name
    monkeypatch.setattr(load, "settings_model", _cached_settings_model())
    monkeypatch.setattr("db.sqlite.migrate_sqlite", _copied_tables())


def make_results_of_starts() -> None:
    """Make them now, for processes that are forked from this one."""
    from_mapping({})
    for group in ("parley.extensions", "parley.memory"):
        _installed(group=group)
    for schemas in (SCHEMAS, (FILE_SCHEMA,)):
        asyncio.run(_opened(schemas))


async def _opened(schemas: Sequence[Schema]) -> None:
    database = SqliteDatabase(":memory:", schemas)
    await database.start()
    await database.stop()


def _installed(*, group: str) -> EntryPoints:
    """The entry points of a group; a test that adds a folder to the path has its own."""
    return _installed_on(tuple(sys.path), group)


@functools.cache
def _installed_on(path: tuple[str, ...], group: str) -> EntryPoints:
    del path
    return entry_points(group=group)


def _cached_settings_model() -> Callable[[Mapping[str, AdapterManifest]], type[Settings]]:
    """`settings_model`, called once for each set of manifests."""
    models: list[tuple[dict[str, AdapterManifest], type[Settings]]] = []

    def cached(manifests: Mapping[str, AdapterManifest]) -> type[Settings]:
        for known, model in models:
            if known == manifests:
                return model
        model = settings_model(manifests)
        models.append((dict(manifests), model))
        return model

    return cached


def _copied_tables() -> Callable[[sqlite3.Connection, Sequence[Schema]], None]:
    """`migrate_sqlite`, which copies the tables into an empty file instead of making them."""
    templates: dict[tuple[Schema, ...], sqlite3.Connection] = {}
    lock = threading.Lock()  # databases are opened on threads

    def copied(connection: sqlite3.Connection, schemas: Sequence[Schema]) -> None:
        with lock:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                key = tuple(schemas)
                if key not in templates:
                    templates[key] = sqlite3.connect(
                        ":memory:", isolation_level=None, check_same_thread=False
                    )
                    migrate_sqlite(templates[key], schemas)
                templates[key].backup(connection)
        migrate_sqlite(connection, schemas)

    return copied
