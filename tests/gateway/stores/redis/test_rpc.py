"""A worker asks the process that is connected to an account."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.errors import Ambiguous, BadInput, Permanent, PlatformFailed, Transient
from gateway.stores.redis.rpc import MAX_BYTES, RemoteFailure, RpcClient, RpcServer
from tests.gateway.stores.redis.conftest import Open
from tests.gateway.stores.redis.support import age, all_keys
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

ACCOUNT = ("discord", "main")
LONG_ENOUGH = 3.0
"""Seconds in which a call is taken, on a busy machine as well."""


async def echo(payload: bytes) -> bytes:
    return payload


async def refuse(payload: bytes) -> bytes:
    match payload:
        case b"later":
            raise Transient("later", 2.5)
        case b"failed":
            raise PlatformFailed("failed", 1.5)
        case b"never":
            raise Permanent("not allowed")
    raise ZeroDivisionError


async def hang(_: bytes) -> bytes:
    await asyncio.Event().wait()
    return b""


@pytest.fixture
async def caller(another: Open) -> RpcClient:
    return RpcClient((await another()).client, ACCOUNT)


@pytest.fixture
async def serving(another: Open) -> AsyncIterator[None]:
    handlers = {"echo": echo, "refuse": refuse, "hang": hang}
    server = RpcServer((await another()).client, ACCOUNT, handlers)
    running = asyncio.create_task(server.run())
    yield
    running.cancel()
    await asyncio.wait((running,))


@pytest.mark.usefixtures("serving")
async def test_a_call_returns_its_result(caller: RpcClient) -> None:
    payloads = [bytes([n]) * n for n in range(100)]
    answers = await asyncio.gather(*(caller.call("echo", payload, 10) for payload in payloads))
    assert answers == payloads


@pytest.mark.usefixtures("serving")
async def test_eight_megabytes_are_transferred_and_more_is_refused(caller: RpcClient) -> None:
    most = bytes(range(256)) * (MAX_BYTES // 256)
    assert await caller.call("echo", most, 20) == most
    with pytest.raises(BadInput, match="bytes"):
        await caller.call("echo", most + b"x", 20)


@pytest.mark.usefixtures("serving")
async def test_errors_keep_their_types(caller: RpcClient) -> None:
    with pytest.raises(Transient, match="later") as later:
        await caller.call("refuse", b"later", 10)
    assert later.value.retry_after == 2.5
    with pytest.raises(PlatformFailed, match="failed") as failed:
        await caller.call("refuse", b"failed", 10)
    assert failed.value.retry_after == 1.5
    with pytest.raises(Permanent, match="not allowed"):
        await caller.call("refuse", b"never", 10)
    with pytest.raises(RemoteFailure, match="refuse: ZeroDivisionError"):
        await caller.call("refuse", b"", 10)
    with pytest.raises(BadInput, match="no method"):
        await caller.call("unknown", b"", 10)


@pytest.mark.usefixtures("serving")
async def test_a_call_without_a_response_may_have_taken_effect(caller: RpcClient) -> None:
    with pytest.raises(Ambiguous, match="no answer"):
        await caller.call("hang", b"", LONG_ENOUGH)


async def test_a_call_that_nobody_received_had_no_effect(another: Open) -> None:
    state = await another()
    with pytest.raises(Transient, match="no connected process accepted it"):
        await RpcClient(state.client, ACCOUNT).call("echo", b"", 0.2)
    handled: list[bytes] = []

    async def handle(payload: bytes) -> bytes:
        handled.append(payload)
        return b""

    server = RpcServer(state.client, ACCOUNT, {"echo": handle})
    running = asyncio.create_task(server.run())
    await RpcClient(state.client, ACCOUNT).call("echo", b"fresh", 10)
    assert handled == [b"fresh"]
    running.cancel()
    await asyncio.wait((running,))


@pytest.mark.usefixtures("serving")
async def test_calls_leave_no_keys(another: Open, caller: RpcClient) -> None:
    state = await another()
    for _ in range(20):
        await caller.call("echo", b"x", 10)
    with pytest.raises(Ambiguous):
        await caller.call("hang", b"", LONG_ENOUGH)
    await age(state.client, 60)

    async def nothing_left() -> bool:
        return await all_keys(state.client) == []

    await eventually(nothing_left)


async def test_a_call_stops_when_its_caller_stops_waiting(another: Open) -> None:
    ended = asyncio.Event()

    async def long(_: bytes) -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return b""

    server = RpcServer((await another()).client, ACCOUNT, {"long": long})
    running = asyncio.create_task(server.run())
    with pytest.raises(Ambiguous):
        await RpcClient((await another()).client, ACCOUNT).call("long", b"", LONG_ENOUGH)
    async with asyncio.timeout(PATIENCE):
        await ended.wait()
    running.cancel()
    await asyncio.wait((running,))
