"""Remote calls to the process that is connected to an account.

For operations that only that process can do while a turn runs elsewhere: fetch an attachment, show
the typing indicator, edit a live answer. A call waits in a list of its account; its body and its
reply are keys that expire, so an untaken call leaves nothing behind.
"""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic

import structlog

from db.errors import StoreUnavailable
from gateway import errors
from gateway.background_tasks import BackgroundTasks
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    ParleyError,
    PlatformFailed,
    Transient,
)
from gateway.stores.redis.client import LONGEST_WAIT, Argument, RedisClient, Script, milliseconds
from gateway.stores.redis.keys import Keys
from gateway.stores.redis.sources import FIRST_PAUSE, LONGEST_PAUSE

MAX_BYTES = 8 * 1024 * 1024
"""Maximum size of a payload and of a result."""
MAX_CALLS = 1_000
"""Calls that may wait for one account; one more is refused."""
MAX_AT_ONCE = 16
"""Concurrent calls of one server."""
GRACE = 5.0
"""Seconds that a call is kept beyond its time, for its caller to see if it was taken."""
KEEP_REPLY = 30.0
"""Seconds that a reply waits for its caller."""
Handler = Callable[[bytes], Awaitable[bytes]]

_BY_NAME: Mapping[str, type[ParleyError | StoreUnavailable]] = {
    error.__name__: error
    for error in (
        errors.Transient,
        errors.Busy,
        errors.Permanent,
        errors.WindowClosed,
        errors.TemplateRefused,
        errors.FormatRejected,
        errors.Ambiguous,
        errors.PlatformFailed,
        errors.ToolError,
        errors.StoreUnavailable,
        errors.BadInput,
        errors.UsageError,
    )
}

CALL = Script.of("""
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('RPUSH', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
""")

TAKE = Script.of("""
local body, left = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
return {body, left}
""")
REPLY = Script.of("""
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")
log = structlog.get_logger(__name__)


class RemoteFailure(ParleyError):
    """The other process failed with an error that is unknown here; its log has details."""


class RpcClient:
    """Calls into the process that is connected to `account` (platform, account)."""

    def __init__(self, client: RedisClient, account: tuple[str, str]) -> None:
        self._client = client
        self._keys = Keys(client)
        self._account = account

    async def call(self, method: str, payload: bytes, timeout: float) -> bytes:
        """Return the result of `method`.

        Raises the error of the method, by its name in `gateway.errors`; `Transient` if no process
        took the call within `timeout` seconds; `Ambiguous` if it was taken and no reply came;
        `BadInput` above `MAX_BYTES`; `RemoteFailure`; `StoreUnavailable`.
        """
        if len(payload) > MAX_BYTES:
            raise errors.UsageError(f"{method}: {len(payload)} bytes are more than {MAX_BYTES}")
        call_id = uuid.uuid4().hex
        await self._send(call_id, method, payload, timeout)
        until = monotonic() + timeout
        while (left := until - monotonic()) > 0:
            reply = await self._client.pop(self._keys.reply(call_id), left)
            if reply is not None:
                return _result(reply)
        name = f"{':'.join(self._account)} {method}"
        if await self._client.command("DEL", self._keys.call(call_id)):
            raise Transient(f"{name}: no connected process accepted it within {timeout:g} s")
        raise Ambiguous(f"{name}: no answer within {timeout:g} s")

    async def _send(self, call_id: str, method: str, payload: bytes, timeout: float) -> None:
        keys = [self._keys.calls(self._account), self._keys.call(call_id)]
        body = _packed({"method": method}, payload)
        arguments: list[Argument] = [call_id, body, milliseconds(timeout + GRACE), MAX_CALLS]
        if not await self._client.run(CALL, keys, arguments):
            raise Transient(f"{':'.join(self._account)}: {MAX_CALLS} calls are waiting already")


class RpcServer:
    """Answers the calls to `account` (platform, account) with `handlers`, by method."""

    def __init__(
        self, client: RedisClient, account: tuple[str, str], handlers: Mapping[str, Handler]
    ) -> None:
        self._client = client
        self._keys = Keys(client)
        self._calls = self._keys.calls(account)
        self._handlers = handlers
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)
        self._tasks = BackgroundTasks("call_failed")

    async def run(self) -> None:
        """Answer calls until cancelled; continues after outages of Redis."""
        pause = FIRST_PAUSE
        try:
            while True:
                try:
                    await self._next()
                    pause = FIRST_PAUSE
                except StoreUnavailable as error:
                    log.warning("rpc_unavailable", error=str(error))
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            await self._tasks.stop()

    async def _next(self) -> None:
        async with self._slots:  # takes no call that would have to wait here
            call_id = await self._client.pop(self._calls, LONGEST_WAIT)
        if call_id is not None:
            await self._slots.acquire()
            self._tasks.spawn(self._serve(call_id.decode()))

    async def _serve(self, call_id: str) -> None:
        try:
            body, lives_on = await self._client.run(TAKE, [self._keys.call(call_id)], [])
            left = int(lives_on) / 1000 - GRACE
            if body is None or left <= 0:
                return  # its caller has given up
            reply = await self._answer(bytes(body), left)
            keys = [self._keys.reply(call_id)]
            await self._client.run(REPLY, keys, [reply, milliseconds(KEEP_REPLY)], repeatable=True)
        finally:
            self._slots.release()

    async def _answer(self, body: bytes, left: float) -> bytes:
        """Return the reply. A handler that exceeds the caller's time is cancelled: later effects
        would overtake the caller's next step."""
        header, payload = _unpacked(body)
        method = str(header.get("method", ""))
        handler = self._handlers.get(method)
        if handler is None:
            return _failure(errors.UsageError(f"there is no method {method}"))
        try:
            async with asyncio.timeout(left):
                result = await handler(payload)
        except TimeoutError:
            return _failure(Ambiguous(f"{method}: no answer in time"))
        except (ParleyError, StoreUnavailable) as error:
            return _failure(error)
        except Exception as error:  # a bug here must reach the caller as an error
            log.exception("handler_failed", method=method)
            return _failure(RemoteFailure(f"{method}: {type(error).__name__}"))
        if len(result) > MAX_BYTES:
            return _failure(
                errors.UsageError(f"{method}: its result is larger than {MAX_BYTES} bytes")
            )
        return _packed({"ok": True}, result)


def _packed(header: Mapping[str, object], payload: bytes) -> bytes:
    return json.dumps(header).encode() + b"\n" + payload


def _unpacked(body: bytes) -> tuple[dict[str, object], bytes]:
    header, _, payload = body.partition(b"\n")
    return json.loads(header), payload


def _failure(error: ParleyError | StoreUnavailable) -> bytes:
    retry_after = error.retry_after if isinstance(error, DeliveryError) else None
    return _packed(
        {"error": type(error).__name__, "text": str(error), "retry_after": retry_after}, b""
    )


def _result(reply: bytes) -> bytes:
    header, payload = _unpacked(reply)
    if header.get("ok"):
        return payload
    text, name = str(header.get("text", "")), str(header.get("error", ""))
    kind = _BY_NAME.get(name)
    if kind is None:
        raise RemoteFailure(text if name == RemoteFailure.__name__ else f"{name}: {text}")
    if issubclass(kind, Transient | PlatformFailed):
        wait = header.get("retry_after")
        raise kind(text, float(wait) if isinstance(wait, int | float) else None)
    raise kind(text)
