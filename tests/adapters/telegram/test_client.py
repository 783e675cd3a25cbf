"""python-telegram-bot over aiohttp: requests, responses and errors."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from telegram import Bot, InputFile
from telegram.error import BadRequest, InvalidToken, NetworkError, TelegramError, TimedOut

from adapters.telegram.client import (
    AiohttpRequest,
    NotSent,
    RateLimited,
    RawBot,
    ServerFailed,
    make_bot,
)
from adapters.telegram.errors import delivery_error, is_unmodified, start_error
from gateway.errors import (
    Ambiguous,
    BadInput,
    FormatRejected,
    Permanent,
    PlatformFailed,
    Transient,
)
from simulators.base import Fault
from simulators.telegram import TelegramSimulator


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    simulator = TelegramSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def bot(sim: TelegramSimulator) -> AsyncIterator[RawBot]:
    made = make_bot(sim.token, sim.url)
    await made.initialize()
    yield made
    await made.shutdown()


async def test_the_methods_of_the_library_work_with_this_client(sim: TelegramSimulator) -> None:
    room = sim.direct(sim.person("Ann"))
    request = AiohttpRequest()
    async with Bot(sim.token, f"{sim.url}/bot", f"{sim.url}/file/bot", request=request) as bot:
        sent = await bot.send_message(int(room.id), "<b>hi 😀</b>", parse_mode="HTML")
        assert sent.text == "hi 😀"
        document = await bot.send_document(int(room.id), b"x" * 10, filename="ä.bin")
        assert document.document is not None
        file = await bot.get_file(document.document.file_id)
        assert bytes(await file.download_as_bytearray()) == b"x" * 10


async def test_requests_are_json(sim: TelegramSimulator, bot: RawBot) -> None:
    room = sim.direct(sim.person("Ann"))
    answer = await bot.call("sendMessage", {"chat_id": int(room.id), "text": "ä\n\"'&=%"})
    assert answer["text"] == "ä\n\"'&=%"
    assert isinstance(sim.calls[-1].body["chat_id"], int)


async def test_proxies_of_the_environment_are_not_used(
    sim: TelegramSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    bot = make_bot(sim.token, sim.url)
    await bot.initialize()
    await bot.shutdown()


async def test_a_large_upload_arrives_completely(sim: TelegramSimulator, bot: RawBot) -> None:
    room = sim.direct(sim.person("Ann"))
    data = bytes(range(256)) * 4 * 1024 * 12
    upload = InputFile(data, filename='big file "1".bin')
    await bot.upload("sendDocument", {"chat_id": int(room.id), "document": upload})
    (file,) = sim.shown(room)[-1].files
    assert file.data == data
    assert sim.shown(room)[-1].payload["chat_id"] == room.id


async def test_a_slow_response_times_out(sim: TelegramSimulator) -> None:
    request = AiohttpRequest(read_timeout=2.0)
    bot = RawBot(sim.token, f"{sim.url}/bot", request=request, get_updates_request=request)
    await bot.initialize()
    sim.faults.add(Fault("getMe", "slow", delay=60))
    with pytest.raises(TimedOut) as caught:
        # The connect timeout is part of the bound, so a small one is passed.
        await bot.get_me(connect_timeout=2.0)
    assert isinstance(delivery_error(caught.value), Ambiguous)
    await bot.shutdown()


def test_an_answer_that_cannot_be_read_may_follow_a_delivery() -> None:
    with pytest.raises(TelegramError) as unreadable:
        AiohttpRequest.parse_json_payload(b'{"ok": true, "resu')
    assert isinstance(delivery_error(unreadable.value), Ambiguous)


def test_a_server_error_leaves_open_if_a_message_was_sent() -> None:
    failed = ServerFailed(502)
    assert isinstance(delivery_error(failed), PlatformFailed)
    assert isinstance(delivery_error(failed, repeatable=True), Transient)


async def test_failures_have_distinct_error_types(sim: TelegramSimulator, bot: RawBot) -> None:
    sim.faults.add(Fault("getMe", "server_error"))
    with pytest.raises(ServerFailed):
        await bot.call("getMe", {})
    sim.faults.add(Fault("getMe", "rate_limit", retry_after=13938))
    with pytest.raises(RateLimited) as limited:
        await bot.call("getMe", {})
    assert limited.value.seconds == 13938
    sim.faults.add(Fault("getMe", "drop_before"))
    with pytest.raises(NetworkError) as dropped:
        await bot.call("getMe", {})
    assert isinstance(delivery_error(dropped.value), Ambiguous)
    await sim.stop()
    with pytest.raises(NotSent) as refused:
        await bot.call("getMe", {})
    assert isinstance(delivery_error(refused.value), Transient)
    assert sim.token not in str(refused.value)


async def test_a_closed_session_sends_nothing() -> None:
    bot = make_bot("1:x", "http://127.0.0.1:9")
    with pytest.raises(NotSent):
        await bot.call("getMe", {})


async def test_a_download_has_a_limit_with_and_without_a_declared_length() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 5000)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/f"
    request = AiohttpRequest()
    await request.initialize()
    assert await request.download(url, 5000) == (200, b"x" * 5000)
    with pytest.raises(BadInput):
        await request.download(url, 4999)
    await request.shutdown()
    await request.shutdown()
    server.close()
    await server.wait_closed()


@asynccontextmanager
async def bot_answered_with(status: int, body: bytes) -> AsyncIterator[RawBot]:
    """A bot whose requests are answered with this status and body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    bot = make_bot("1:x", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await bot.request.initialize()
    try:
        yield bot
    finally:
        await bot.request.shutdown()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("answer", [b"{}", b"", b"<html>", b"[" * 100_000, b'{"parameters":[]}'])
async def test_a_429_without_a_time_means_one_second(answer: bytes) -> None:
    async with bot_answered_with(429, answer) as bot:
        with pytest.raises(RateLimited) as caught:
            await bot.call("getMe", {})
    assert caught.value.seconds == 1


def test_errors_are_mapped_to_error_types() -> None:
    parse_error = BadRequest("Can't parse entities: unsupported start tag")
    assert isinstance(delivery_error(parse_error), FormatRejected)
    assert isinstance(delivery_error(BadRequest("Message is too long")), Permanent)
    assert isinstance(delivery_error(InvalidToken("x")), Permanent)
    assert is_unmodified(BadRequest("Message is not modified: same"))
    assert not is_unmodified(NetworkError("message is not modified"))
    assert start_error(InvalidToken("the token 123:abc")).permanent
    assert "123:abc" not in str(start_error(InvalidToken("the token 123:abc")))


async def test_a_migrated_group_reports_its_new_id() -> None:
    body = json.dumps(
        {
            "ok": False,
            "error_code": 400,
            "description": "Bad Request: group chat was upgraded",
            "parameters": {"migrate_to_chat_id": -100777},
        }
    ).encode()
    async with bot_answered_with(400, body) as bot:
        with pytest.raises(Exception, match="migrated") as caught:
            await bot.call("sendMessage", {"chat_id": 1, "text": "x"})
    assert "-100777" in str(delivery_error(caught.value))  # type: ignore[arg-type]
