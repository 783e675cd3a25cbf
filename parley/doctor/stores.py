"""Checks of `parley doctor` on Redis and PostgreSQL; they change nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from gateway.ports.clock import SystemClock
from gateway.ports.losses import STEPS, LossKind
from gateway.text import counted, joined, text, verbatim
from parley.config import Settings
from parley.doctor.machine import Finding, Status
from parley.runtime.installation import (
    MISSING,
    START_ADAPTER,
    START_WORKER,
    WORKERS,
    Installation,
    InstallationPart,
    installation_of,
)
from parley.wiring.accounts import account_names
from parley.wiring.storage import SCHEMAS

if TYPE_CHECKING:
    from gateway.stores.hot_losses import KnownHotState
    from gateway.stores.postgres_status import PostgresStatus

START_BOTH: Final = text("{adapter} and {worker}")
SECONDS: Final = 10.0
"""Time limit for one store."""
MINIMUM_POSTGRES: Final = 140_000
BOTH: Final = 2
PAIR: Final = "Redis and PostgreSQL"
SPARE_CONNECTIONS: Final = 5
"""Connections for commands and other tools."""
EXTRA_CONNECTIONS: Final = 6
"""`db.postgres.PoolLimits.extra`, whose library is loaded only where it is configured."""
RESERVED: Final = 3
"""Connections that PostgreSQL reserves by default."""
MAX_PROCESSES: Final = 1_000


async def check_servers(settings: Settings) -> list[Finding]:
    """The findings about each configured server; the servers are asked side by side."""
    checks: list[Awaitable[list[Finding]]] = []
    if settings.storage_url.startswith(("redis://", "rediss://")):
        checks.append(_answered("Redis", "storage.url", lambda: _redis(settings)))
    if settings.database.url.startswith("postgresql://"):
        checks.append(_answered("PostgreSQL", "database.url", lambda: _postgres(settings)))
    found = [finding for findings in await asyncio.gather(*checks) for finding in findings]
    answered = not {finding.name for finding in found} & {"Redis", "PostgreSQL"}
    if len(checks) == BOTH and answered:
        found += await _answered(PAIR, "storage.url", lambda: _pair(settings))
    return found


async def _pair(settings: Settings) -> list[Finding]:
    from gateway.stores.postgres_status import standing  # noqa: PLC0415 - only where configured
    from gateway.stores.redis.client import RedisClient  # noqa: PLC0415 - as above
    from gateway.stores.redis.keys import Keys  # noqa: PLC0415 - as above

    state = await standing(settings.database.url, SCHEMAS)
    client = RedisClient(settings.storage_url)
    try:
        held = await client.command("HMGET", Keys(client).epoch, "id", "mark")
    finally:
        await client.stop()
    if state.hot_state is None:  # they were not used together yet
        return []
    return [of_pair(state.hot_state, *map(_text, (held[0] or "", held[1] or "0")))]


def of_pair(known: "KnownHotState", epoch: str, mark: str) -> Finding:
    """The finding about writes that Redis lost, as far as the database knows. `epoch` and `mark`
    are those of Redis now."""
    if not epoch:
        kind: LossKind = "empty"
    elif epoch != known.epoch:
        kind = "replaced"
    elif int(mark) < known.mark:
        kind = "older"
    else:
        return Finding("ok", PAIR, text("Redis has all that was written to it"))
    advice = text("The next start logs it. `parley docs how-to/back-up-and-restore` explains it.")
    return Finding("broken", PAIR, f"{STEPS[kind]}.", advice)


async def _answered(
    name: str, setting: str, ask: Callable[[], Awaitable[list[Finding]]]
) -> list[Finding]:
    advice = text(
        "Start it, or correct {setting}: host, port, user and password.", setting=verbatim(setting)
    )
    try:
        async with asyncio.timeout(SECONDS):
            return await ask()
    except TimeoutError:
        return [
            Finding(
                "broken",
                name,
                text("no answer within {seconds} seconds", seconds=int(SECONDS)),
                advice,
            )
        ]
    except (StoreUnavailable, ConfigurationError) as error:
        return [Finding("broken", name, str(error), advice)]


async def _redis(settings: Settings) -> list[Finding]:
    from gateway.stores.redis.client import RedisClient  # noqa: PLC0415 - only where configured
    from gateway.stores.redis.processes import RedisProcesses  # noqa: PLC0415 - as above

    client = RedisClient(settings.storage_url)
    try:
        info = await client.command("INFO")
        try:
            append = await client.command("CONFIG", "GET", "append*")
        except StoreUnavailable:  # many providers forbid it
            append = {}
        seen = await RedisProcesses(client, "").look()
    finally:
        await client.stop()
    everywhere = installation_of(seen, account_names(settings), SystemClock().now())
    return [*of_redis(info, _texts(append)), *of_processes(everywhere)]


def of_processes(everywhere: Installation) -> list[Finding]:
    """The workers and the accounts, each with the process that serves it."""
    if not everywhere.running:
        detail = text("none runs")
        return [
            Finding(
                "note",
                "processes",
                detail,
                START_BOTH.of(
                    adapter=verbatim(f"`{START_ADAPTER}`"), worker=verbatim(f"`{START_WORKER}`")
                ),
            )
        ]
    return [_of_part(part, everywhere) for part in everywhere.parts]


def _of_part(part: InstallationPart, everywhere: Installation) -> Finding:
    name = f"account {part.account}" if part.account else WORKERS
    if part.state == MISSING:
        return Finding("broken", name, part.problem, joined((part.step, verbatim("."))))
    if not part.is_well:
        advice = text("See the log of the process that serves it.")
        return Finding("broken", name, joined((verbatim(part.state), part.problem), " "), advice)
    return Finding(
        "ok",
        name,
        part.state if part.account else text("{number} running", number=everywhere.workers),
    )


def of_redis(info: Mapping[str, Any], append: Mapping[str, str]) -> list[Finding]:
    """The answers to `INFO` and `CONFIG GET append*`; the second is empty where it is forbidden."""
    version = str(info.get("redis_version", "0"))
    is_new = tuple(int(part) for part in version.split(".")[:2]) >= (6, 2)
    policy = str(info.get("maxmemory_policy", "unknown"))
    eviction = (
        Finding("ok", "Redis: eviction", "noeviction")
        if policy == "noeviction"
        else Finding(
            "broken",
            "Redis: eviction",
            text(
                "maxmemory-policy is {policy}: under pressure it deletes waiting work",
                policy=verbatim(policy),
            ),
            text("Set maxmemory-policy noeviction."),
        )
    )
    status: Status = "ok" if is_new else "broken"
    return [
        Finding(status, "Redis: version", version, text("Use 6.2 or newer, or any Valkey.")),
        _persistence(bool(info.get("aof_enabled", 0)), append.get("appendfsync", "")),
        eviction,
    ]


def _persistence(is_on: bool, fsync: str) -> Finding:
    name = "Redis: persistence"
    advice = text("Set appendonly yes, and appendfsync everysec or always.")
    if not is_on:
        return Finding(
            "broken", name, text("appendonly is off: a restart deletes waiting work"), advice
        )
    costs = {
        "always": text("a power failure loses no accepted message"),
        "everysec": text("a power failure loses the last second, at most two"),
    }
    if fsync == "no":
        detail = text("appendfsync no: a power failure loses half a minute or more")
        return Finding("note", name, detail, advice)
    if fsync not in costs:
        return Finding(
            "ok", name, text("appendonly is on; this server does not report appendfsync")
        )
    return Finding(
        "ok",
        name,
        text(
            "{setting}: {cost}",
            setting=verbatim(f"appendonly, appendfsync {fsync}"),
            cost=costs[fsync],
        ),
    )


async def _postgres(settings: Settings) -> list[Finding]:
    from gateway.stores.postgres_status import standing  # noqa: PLC0415 - as above

    state = await standing(settings.database.url, SCHEMAS)
    return of_postgres(state, await _processes(settings), settings.database.connections)


async def _processes(settings: Settings) -> int:
    """Return the number of running processes that share Redis, at least 1."""
    if not settings.storage_url.startswith(("redis://", "rediss://")):
        return 1
    from gateway.stores.redis.client import RedisClient  # noqa: PLC0415 - only where configured
    from gateway.stores.redis.inbox import WORK  # noqa: PLC0415 - as above
    from gateway.stores.redis.keys import Keys  # noqa: PLC0415 - as above
    from gateway.stores.redis.outbox import SENDS  # noqa: PLC0415 - as above

    client = RedisClient(settings.storage_url)
    try:
        found = [
            await client.command("ZRANGE", Keys(client).workers(kind), 0, MAX_PROCESSES)
            for kind in (WORK, SENDS)
        ]
    except StoreUnavailable:  # reported by the check of Redis
        return 1
    finally:
        await client.stop()
    return max(1, len({name for names in found for name in names}))


def of_postgres(
    state: "PostgresStatus", processes: int = 1, connections: int = 10
) -> list[Finding]:
    """The state that the server reports, with the number of running processes and the connections
    that each of them may open for its work."""
    version: Status = "ok" if state.version_number >= MINIMUM_POSTGRES else "broken"
    return [
        Finding(version, "PostgreSQL: version", state.version, text("Use 14 or newer.")),
        _tables(state),
        of_connections(state, processes, connections),
        _commits(state.synchronous_commit, is_on=state.fsync),
        _vectors(is_there=state.vectors),
    ]


def of_connections(state: "PostgresStatus", processes: int, connections: int) -> Finding:
    """The finding about the connections of all processes at once."""
    each = connections + EXTRA_CONNECTIONS
    wanted = processes * each
    detail = counted(
        "{count} process may open {wanted} ({each} each), of {allowed} that the server allows; "
        "{used} are open now",
        "{count} processes may open {wanted} ({each} each), of {allowed} that the server allows; "
        "{used} are open now",
        count=processes,
        wanted=wanted,
        each=each,
        allowed=state.connections,
        used=state.used_connections,
    )
    if wanted + SPARE_CONNECTIONS <= state.connections:
        return Finding("ok", "PostgreSQL: connections", detail)
    advice = text(
        "Set max_connections to at least {number}, lower database.connections, or run fewer "
        "processes.",
        number=wanted + SPARE_CONNECTIONS + RESERVED,
    )
    return Finding("note", "PostgreSQL: connections", detail, advice)


def _tables(state: "PostgresStatus") -> Finding:
    name = "PostgreSQL: tables"
    if not state.writable:
        advice = text(
            "Set database.url to the primary server, or switch default_transaction_read_only off."
        )
        return Finding("broken", name, text("it is read-only"), advice)
    if state.missing and not state.may_create:
        advice = text("GRANT CREATE ON SCHEMA public TO the user of database.url.")
        return Finding(
            "broken", name, text("some are missing, and this user may not create them"), advice
        )
    return Finding(
        "ok", name, text("created at the next start") if state.missing else text("up to date")
    )


def _vectors(*, is_there: bool) -> Finding:
    name = "PostgreSQL: vectors"
    if is_there:
        return Finding("ok", name, text("pgvector can be used"))
    detail = text("without pgvector memories are found by their words only")
    advice = text("Install pgvector, run CREATE EXTENSION vector as a superuser, and restart.")
    return Finding("note", name, detail, advice)


def _commits(synchronous: str, *, is_on: bool) -> Finding:
    name = "PostgreSQL: fsync"
    if not is_on:
        detail = text("fsync is off: a power failure can destroy the database")
        return Finding("broken", name, detail, text("Set fsync on."))
    if synchronous == "off":
        detail = text(
            "synchronous_commit is off: a power failure loses the last second of conversations"
        )
        return Finding("note", name, detail, text("Set synchronous_commit on where that matters."))
    return Finding(
        "ok",
        name,
        text(
            "{setting}: a power failure loses nothing",
            setting=verbatim(f"synchronous_commit {synchronous}"),
        ),
    )


def _texts(answer: Any) -> dict[str, str]:
    """The answer to `CONFIG GET`, a mapping or a flat list, of bytes or of texts."""
    pairs = (
        answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=False)
    )
    return {_text(name): _text(value) for name, value in pairs}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
