"""The versions of the overrides of the configuration. Each one has all overrides as a text."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, execute
from db.statements import BY_KEY
from db.transaction import change
from db.values import micros, storable, time_of

KEPT: Final = 200
"""Versions that are kept, the newest."""
MAX_KEYS: Final = 100
"""Changed keys that a version names."""
MAX_KEY: Final = 400

COLUMNS: Final = "number, origin, author, at, changed, overrides"
SCHEMA: Final = (
    f"""CREATE TABLE config_versions (
        number bigint PRIMARY KEY, origin bigint NOT NULL, author text NOT NULL,
        at bigint NOT NULL, changed text NOT NULL, overrides text NOT NULL
    ) {BY_KEY}""",
)
# A concurrent writer of the same number waits for the first one, then changes nothing.
ADD: Final = Statement(f"""
    INSERT INTO config_versions ({COLUMNS})
    SELECT :number, :origin, :author, :at, :changed, :overrides
    WHERE COALESCE((SELECT MAX(number) FROM config_versions), 0) = :number - 1
    ON CONFLICT (number) DO NOTHING
""")
TRIM: Final = Statement("DELETE FROM config_versions WHERE number <= :number")
NEWEST: Final = Statement(f"""
    SELECT {COLUMNS} FROM config_versions WHERE number > :after ORDER BY number DESC LIMIT 1
""")
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM config_versions WHERE number < :before OR :before = 0
    ORDER BY number DESC LIMIT :limit
""")
FIND: Final = Statement(f"SELECT {COLUMNS} FROM config_versions WHERE number = :number")


class ConfigVersion(Struct, frozen=True):
    """A version. `origin` is the version to which an undo went back, 0 for the beginning, and
    otherwise its own number. `author` is a `str(PersonId)` or names a part of the program;
    `changed` are keys; `overrides` is a JSON merge patch."""

    number: int
    origin: int
    author: str
    at: datetime
    changed: tuple[str, ...]
    overrides: str


class ConfigVersions:
    """Stores versions. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, version: ConfigVersion) -> bool:
        """Store a version after the newest one; False if its number is not the next one."""
        changed = [storable(key[:MAX_KEY]) for key in version.changed[:MAX_KEYS]]
        params = {
            "number": version.number,
            "origin": version.origin,
            "author": storable(version.author),
            "at": micros(version.at),
            "changed": json.dumps(changed, ensure_ascii=False),
            "overrides": storable(version.overrides),
        }

        def work() -> Work[bool]:
            added = (yield from change(ADD, params)) == 1
            if added:
                yield from execute(TRIM, {"number": version.number - KEPT})
            return added

        return await self._database.run(work)

    async def newest(self, after: int = 0) -> ConfigVersion | None:
        """Return the newest version; None if there is none after this number."""
        return _first(await self._database.fetch(NEWEST, {"after": after}))

    async def find(self, number: int) -> ConfigVersion | None:
        """Return the version with this number."""
        return _first(await self._database.fetch(FIND, {"number": number}))

    async def listed(self, limit: int, before: int = 0) -> list[ConfigVersion]:
        """Return versions, the newest first; with `before` those with smaller numbers."""
        rows = await self._database.fetch(LISTED, {"limit": limit, "before": before})
        return [_version(row) for row in rows]


def _first(rows: Sequence[Row]) -> ConfigVersion | None:
    return _version(rows[0]) if rows else None


def _version(row: Row) -> ConfigVersion:
    number, origin, author, at, changed, overrides = row
    keys = tuple(str(key) for key in json.loads(changed))
    return ConfigVersion(int(number), int(origin), str(author), time_of(at), keys, str(overrides))
