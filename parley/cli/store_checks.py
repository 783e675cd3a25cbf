"""What `parley doctor` asks of Redis and PostgreSQL; nothing is changed there."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from parley.cli.checks import Finding
from parley.config import Settings
from parley.wiring.storage.schemas import SCHEMAS

if TYPE_CHECKING:
    from gateway.stores.postgres_status import PostgresStatus

SECONDS: Final = 10.0
"""How long one store may take to answer everything."""
MINIMUM_POSTGRES: Final = 140_000
SPARE_CONNECTIONS: Final = 12
"""What one process of Parley may hold, and a little for whoever looks at the database."""


async def servers(settings: Settings) -> list[Finding]:
    """The findings about each server that the configuration names, side by side."""
    asked: list[Awaitable[list[Finding]]] = []
    if settings.storage_url.startswith(("redis://", "rediss://")):
        asked.append(_answered("Redis", "storage.url", lambda: _redis(settings.storage_url)))
    if settings.database.url.startswith("postgresql://"):
        asked.append(
            _answered("PostgreSQL", "database.url", lambda: _postgres(settings.database.url))
        )
    return [finding for findings in await asyncio.gather(*asked) for finding in findings]


async def _answered(
    name: str, setting: str, ask: Callable[[], Awaitable[list[Finding]]]
) -> list[Finding]:
    advice = f"Start it, or correct {setting}: host, port, user and password."
    try:
        async with asyncio.timeout(SECONDS):
            return await ask()
    except TimeoutError:
        return [Finding("broken", name, f"no answer within {SECONDS:.0f} seconds", advice)]
    except (StoreUnavailable, ConfigurationError) as error:
        return [Finding("broken", name, str(error), advice)]


async def _redis(url: str) -> list[Finding]:
    from gateway.stores.redis.client import RedisClient  # noqa: PLC0415 - only where configured

    client = RedisClient(url)
    try:
        told = await client.command("INFO")
        try:
            given = await client.command("CONFIG", "GET", "append*")
        except StoreUnavailable:  # many a provider forbids it
            given = {}
    finally:
        await client.stop()
    return of_redis(told, _texts(given))


def of_redis(told: Mapping[str, Any], given: Mapping[str, str]) -> list[Finding]:
    """What `INFO` and `CONFIG GET append*` say; the second is empty where it is forbidden."""
    version = str(told.get("redis_version", "0"))
    new = tuple(int(part) for part in version.split(".")[:2]) >= (6, 2)
    policy = str(told.get("maxmemory_policy", "unknown"))
    return [
        Finding("ok", "Redis: version", version)
        if new
        else Finding("broken", "Redis: version", version, "Use 6.2 or newer, or any Valkey."),
        _persistence(bool(told.get("aof_enabled", 0)), given.get("appendfsync", "")),
        Finding("ok", "Redis: eviction", "noeviction")
        if policy == "noeviction"
        else Finding(
            "broken",
            "Redis: eviction",
            f"maxmemory-policy is {policy}: under pressure it forgets what waits for an answer",
            "Set maxmemory-policy noeviction.",
        ),
    ]


def _persistence(kept: bool, fsync: str) -> Finding:
    name = "Redis: persistence"
    if not kept:
        advice = "Set appendonly yes, and appendfsync everysec or always."
        return Finding(
            "broken", name, "appendonly is off: a restart forgets what waits for an answer", advice
        )
    costs = {
        "always": "a power cut costs nothing that was accepted",
        "everysec": "a power cut costs the last second, at worst two",
    }
    if fsync == "no":
        advice = "Set appendfsync everysec or always."
        return Finding(
            "note", name, "appendfsync no: a power cut costs half a minute or more", advice
        )
    if fsync not in costs:
        return Finding("ok", name, "appendonly is on; appendfsync cannot be asked here")
    return Finding("ok", name, f"appendonly, appendfsync {fsync}: {costs[fsync]}")


async def _postgres(url: str) -> list[Finding]:
    from gateway.stores.postgres_status import standing  # noqa: PLC0415 - as above

    return of_postgres(await standing(url, SCHEMAS))


def of_postgres(found: "PostgresStatus") -> list[Finding]:
    """What the server says of itself."""
    few = "Raise max_connections, or put fewer processes on it."
    new, free = found.version_number >= MINIMUM_POSTGRES, found.free_connections
    name = "PostgreSQL: version"
    return [
        Finding("ok", name, found.version)
        if new
        else Finding("broken", name, found.version, "Use 14 or newer."),
        _tables(found),
        Finding("ok", "PostgreSQL: connections", f"{free} are free")
        if free >= SPARE_CONNECTIONS
        else Finding("note", "PostgreSQL: connections", f"only {free} are free", few),
        _commits(found.synchronous_commit, kept=found.fsync),
        _vectors(there=found.vectors),
    ]


def _tables(found: "PostgresStatus") -> Finding:
    name = "PostgreSQL: tables"
    if not found.writable:
        advice = "Point database.url to the primary server, or lift default_transaction_read_only."
        return Finding("broken", name, "it can only be read", advice)
    if found.missing and not found.may_create:
        advice = "GRANT CREATE ON SCHEMA public TO the user of database.url."
        return Finding("broken", name, "some are missing, and this user may not make them", advice)
    return Finding("ok", name, "made at the next start" if found.missing else "up to date")


def _vectors(*, there: bool) -> Finding:
    name = "PostgreSQL: vectors"
    if there:
        return Finding("ok", name, "pgvector can be used")
    detail = "without pgvector memories are found by their words only"
    advice = "Install pgvector, run CREATE EXTENSION vector as a superuser, and restart."
    return Finding("note", name, detail, advice)


def _commits(synchronous: str, *, kept: bool) -> Finding:
    name = "PostgreSQL: fsync"
    if not kept:
        detail = "fsync is off: a power cut can cost the whole database"
        return Finding("broken", name, detail, "Set fsync on.")
    if synchronous == "off":
        detail = "synchronous_commit is off: a power cut costs the last moments of conversations"
        return Finding("note", name, detail, "Set synchronous_commit on where that matters.")
    return Finding("ok", name, f"synchronous_commit {synchronous}: a power cut costs nothing")


def _texts(given: Any) -> dict[str, str]:
    """The answer to `CONFIG GET`, a mapping or a flat list, of bytes or of texts."""
    pairs = given.items() if isinstance(given, dict) else zip(given[::2], given[1::2], strict=False)
    return {_text(name): _text(value) for name, value in pairs}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
