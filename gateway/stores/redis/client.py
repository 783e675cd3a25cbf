"""The connection to Redis: bounded pools, scripts, and one error type.

All keys share the hash tag `{hot}`, so that a script may use any of them: in a cluster they are on
one node. Data survives a crash of Redis with `appendonly yes`: with `appendfsync everysec` all but
the last second or two, with `always` everything.
"""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

import structlog
from msgspec import Struct
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from db.errors import REDIS, StoreUnavailable
from gateway.errors import ConfigurationError

MINIMUM_VERSION = (6, 2)
CONNECTIONS = 32
"""Connections for commands that return at once."""
WAITING_CONNECTIONS = 128
"""Connections that block: for a notification or a reply."""
TIMEOUT = 5.0
"""Seconds until a command that does not return counts as failed."""
LONGEST_WAIT = 2.0
"""Seconds that one blocking command waits; less than `TIMEOUT`."""
HEALTH_CHECK = 15
"""Idle seconds after which a connection is checked before use."""
REPEAT_PAUSES = (0.05, 0.25)
"""Seconds before a repeatable script is run a second and a third time."""
SCANNED_AT_ONCE = 500
MAX_SCANS = 10_000
"""Steps of one walk through the names of all keys."""
Argument = str | bytes | int | float
log = structlog.get_logger(__name__)


class Script(Struct, frozen=True):
    """A Lua script with its hash."""

    text: str
    sha: str

    @classmethod
    def of(cls, text: str) -> "Script":
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class RedisClient:
    """A client for one Redis. Every method raises `StoreUnavailable` if it does not answer, or
    answers with an error; nothing is retried unless stated."""

    def __init__(self, url: str, *, prefix: str = "parley") -> None:
        """`url` is redis://, rediss:// or unix://; `prefix` keeps installations apart."""
        self._prefix = f"{prefix}:{{hot}}:"
        try:
            self._quick = _connect(url, CONNECTIONS)
            self._waiting = _connect(url, WAITING_CONNECTIONS)
        except ValueError as error:
            raise ConfigurationError(
                f"storage.url: {error}; write redis://HOST:PORT/DATABASE"
            ) from error
        self._closed = False

    async def start(self) -> None:
        """Connect, and refuse servers that are too old."""
        server = await self.command("INFO")
        version = str(server.get("redis_version", "0"))
        if tuple(int(part) for part in version.split(".")[:2]) < MINIMUM_VERSION:
            raise StoreUnavailable(
                f"Redis {version} is too old: Parley needs 6.2 or newer (or any Valkey)", REDIS
            )
        policy = server.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            log.warning(
                "redis_eviction_enabled",
                maxmemory_policy=policy,
                advice="set maxmemory-policy noeviction",
            )
        if not server.get("aof_enabled", 1):
            log.warning("redis_persistence_disabled", advice="set appendonly yes")

    async def stop(self) -> None:
        """Close every connection. Safe to call twice."""
        self._closed = True
        for redis in (self._quick, self._waiting):
            await redis.aclose()
            await redis.connection_pool.aclose()

    def key(self, *parts: str) -> str:
        """Return the name of a key. External parts go through `quoted` first."""
        return self._prefix + ":".join(parts)

    async def command(self, *arguments: Argument) -> Any:
        """Run one command."""
        return await self._ask(self._quick, *arguments)

    async def pop(self, key: str, seconds: float) -> bytes | None:
        """Pop the first item of a list; waits at most `seconds` and at most `LONGEST_WAIT`."""
        wait = max(0.01, min(seconds, LONGEST_WAIT))
        answer = await self._ask(self._waiting, "BLPOP", key, wait)
        return None if answer is None else bytes(answer[1])

    async def batch(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        """Send several commands together, without a transaction."""
        if not commands:
            return []
        self._check_open()
        pipeline = self._quick.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            async with asyncio.timeout(TIMEOUT):
                return list(await pipeline.execute())
        except (RedisError, OSError, TimeoutError) as error:
            raise await self._unavailable(error) from error

    async def scan(self, prefix: str, limit: int) -> list[bytes]:
        """Return at most `limit` keys with this prefix; walks through the names of all keys."""
        keys: list[bytes] = []
        cursor = 0
        for _ in range(MAX_SCANS):
            cursor, names = await self.command(
                "SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", SCANNED_AT_ONCE
            )
            keys += names
            cursor = int(cursor)
            if not cursor or len(keys) >= limit:
                break
        return sorted(set(keys))[:limit]

    async def run(
        self,
        script: Script,
        keys: Sequence[str],
        arguments: Sequence[Argument] = (),
        *,
        repeatable: bool = False,
    ) -> Any:
        """Run a script. A `repeatable` one is idempotent, so it is retried if the connection
        breaks."""
        for pause in REPEAT_PAUSES if repeatable else ():
            try:
                return await self._run(script, keys, arguments)
            except StoreUnavailable:
                await asyncio.sleep(pause)
        return await self._run(script, keys, arguments)

    async def _run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        rest = (len(keys), *keys, *arguments)
        self._check_open()
        try:
            return await _execute(self._quick, "EVALSHA", script.sha, *rest)
        except NoScriptError:
            return await self.command("EVAL", script.text, *rest)
        except (RedisError, OSError, TimeoutError) as error:
            raise await self._unavailable(error) from error

    async def _ask(self, redis: "Redis", *arguments: Argument) -> Any:
        self._check_open()
        try:
            return await _execute(redis, *arguments)
        except (RedisError, OSError, TimeoutError) as error:
            raise await self._unavailable(error) from error

    async def _unavailable(self, error: Exception) -> StoreUnavailable:
        """Return the error for callers. After a failover the connections still lead to the earlier
        server: new ones are opened then."""
        if is_of_replica(error):
            for redis in (self._quick, self._waiting):
                with suppress(RedisError, OSError):
                    await redis.connection_pool.disconnect(inuse_connections=False)
        return unavailable(error)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("Redis: the connection is closed", REDIS)


def quoted(*parts: str) -> str:
    """Join parts of a name unambiguously."""
    return ":".join(quote(part, safe="") for part in parts)


def milliseconds(seconds: float) -> int:
    """Return a time to live for Redis, at least 1."""
    return max(1, round(seconds * 1000))


def _connect(url: str, connections: int) -> "Redis":
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=TIMEOUT,
        socket_timeout=None,  # redis-py would use asyncio.wait_for, which can lose a cancellation
        socket_connect_timeout=TIMEOUT,
        health_check_interval=HEALTH_CHECK,
        retry=Retry(NoBackoff(), 0),  # a repeated script could take effect twice
        protocol=2,
    )
    return Redis(connection_pool=pool)


async def _execute(redis: "Redis", *arguments: Argument) -> Any:
    async with asyncio.timeout(TIMEOUT):
        return await redis.execute_command(*arguments)  # type: ignore[no-untyped-call]  # in redis-py


REASONS: Final = {
    "READONLY": (
        "it is a replica and takes no changes. storage.url has to reach the primary server; after a"
        " failover, wait until its name does"
    ),
    "MISCONF": (
        "it takes no changes because it cannot write to its disk. Its log says why: look for a full"
        " disk, or a folder that it may not write to"
    ),
    "OOM": (
        "it takes no changes because its memory is full. Raise maxmemory, or give it a server of"
        " its own"
    ),
    "LOADING": "it is loading its data after a start. Wait until it is ready",
    "MASTERDOWN": "it is a replica without its primary server. Start the primary server",
    "MOVED": (
        "it is a node of a cluster, and the data of Parley is on another one. Set storage.url to"
        " that node, or to a Redis without cluster mode"
    ),
    "CLUSTERDOWN": "its cluster is not complete. `redis-cli --cluster check` says what is missing",
    "NOAUTH": "it asks for a password. Write it into storage.url: redis://USER:PASSWORD@HOST:PORT",
    "WRONGPASS": "it refuses the user or the password in storage.url",
    "NOPERM": "its user may not run this command. Allow that user all commands",
}
"""The meaning of the codes of Redis' refusals, each with the next step."""
_CODE: Final = re.compile(rf"(?:^|[\s-])({'|'.join(REASONS)})\b")
"""A script's error has the code inside of its text."""
_OF_REPLICA: Final = frozenset({"READONLY", "MASTERDOWN"})
_ENDED_WAIT: Final = "UNBLOCKED"
"""The code for a blocking command when its server becomes a replica."""


def code_of(error: Exception) -> str:
    """Return the code with which Redis refused a command, "" without a known one."""
    given = getattr(error, "status_code", None)  # the library takes it out of the text
    if given in REASONS:
        return str(given)
    found = _CODE.search(str(error))
    return found[1] if found else ""


def unavailable(error: Exception) -> StoreUnavailable:
    """Return the error for callers, with the next step where Redis refuses the command."""
    text = str(error) or type(error).__name__
    code = code_of(error)
    return StoreUnavailable(f"Redis: {REASONS[code]} ({code})" if code else f"Redis: {text}", REDIS)


def is_of_replica(error: Exception) -> bool:
    """Return True if the server at the other end became a replica: the address may lead to another
    server by now."""
    return code_of(error) in _OF_REPLICA or str(error).startswith(_ENDED_WAIT)
