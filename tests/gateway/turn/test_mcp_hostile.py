"""What a hostile MCP server sends is bounded: the call fails, the other tools work, the event loop
turns, and the operator sees the reason."""

import asyncio
import json
import sys
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import StdioServerParameters
from structlog.testing import capture_logs

from gateway.errors import ToolError
from gateway.ports import text_of_answer
from gateway.turn import mcp_bounds, mcp_stdio
from gateway.turn.external_mcp_server import McpServer, probe
from gateway.turn.mcp_connection import McpTools
from tests.attacks.spying import watched_loop
from tests.gateway.turn.hostile_mcp_server import (
    Answer,
    HostileServer,
    bombs,
    endless,
    head,
    plain,
    result_of,
)
from tests.support.clock import HurriedClock
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

PROGRAM = Path(__file__).with_name("hostile_mcp_program.py")
MB = 1 << 20
HELD_SECONDS = 0.3
"""Of processor time; three times the guaranteed one, because other tests share the processor."""
SIGNS = mcp_bounds.MAX_SIGNS


async def connected(server: McpServer) -> McpTools:
    tools = McpTools(server, HurriedClock())
    await tools.start()
    await eventually(lambda: tools.connected, LAUNCH)
    return tools


@pytest.fixture
async def web() -> AsyncIterator[tuple[HostileServer, McpTools]]:
    async with HostileServer.started() as server:
        tools = await connected(McpServer("bad", url=server.url))
        yield server, tools
        await tools.close()


def notifications(text: str, count: int = 1) -> bytes:
    params = {"level": "info", "data": text}
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    return b"data: %s\n\n" % json.dumps(message).encode() * count


def result(inner: bytes) -> Answer:
    """An answer to the request with this JSON as its result."""

    async def answer(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        number = json.dumps(message["id"]).encode()
        writer.write(head() + b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (number, inner))
        await writer.drain()

    return answer


def dripping(kind: str) -> Answer:
    """An answer that does not end: a byte each hundredth of a second."""

    async def answer(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(head(kind=kind))
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer


def chunked(first: bytes, again: bytes, kind: str) -> Answer:
    """An answer without end, in which each byte is a chunk of its own."""
    one, many = (
        b"".join(b"1\r\n%c\r\n" % byte for byte in part) for part in (first, again * 10_000)
    )
    return endless(one, many, "Transfer-Encoding: chunked", kind=kind)


RAW_DEFLATE = -zlib.MAX_WBITS
REFUSED: list[tuple[str, Answer, str]] = [
    ("a gzip bomb", bombs(64 * MB), "larger than 8 MB"),
    ("a deflate bomb", bombs(64 * MB, "deflate", zlib.MAX_WBITS), "larger than 8 MB"),
    ("an unknown encoding", bombs(MB, "br"), "unrequested encoding"),
    ("two encodings", bombs(MB, "gzip, gzip"), "unrequested encoding"),
    ("a raw deflate stream", bombs(MB, "deflate", RAW_DEFLATE), "cannot be decompressed"),
    ("no gzip", plain(b"plain", "Content-Encoding: gzip"), "cannot be decompressed"),
    ("a long body", plain(b" " * (9 * MB)), "larger than 8 MB"),
    ("a body without end", endless(b"", b" " * 65_536, kind="application/json"), "8 MB"),
    ("bytes in chunks", chunked(b"[", b" ", "application/json"), "20,000 pieces"),
    ("a stream in chunks", chunked(b"data: ", b"y", "text/event-stream"), "20,000 pieces"),
    ("many values", plain(b"[%s1]" % (b"1," * SIGNS)), "commas, colons and brackets"),
    ("deep nesting", plain(b"[" * 30_000 + b"]" * 30_000), "nested too deeply"),
    ("a long number", result(b'{"content":[],"n":%s}' % (b"9" * 4_000)), "whole number"),
    ("invalid UTF-8", result(b'{"content":[{"type":"text","text":"\xff"}]}'), "not valid JSON"),
    ("no message", plain(b'{"a":1}'), "not a message of MCP"),
    ("a notification alone", plain(b'{"jsonrpc":"2.0","method":"x"}'), "no answer"),
    ("a stream without end", endless(b"", notifications("y" * 60_000)), "16 MB"),
    ("many small events", endless(b"", notifications("y", 300)), "10,000 lines"),
    ("a line without end", endless(b"data: ", b"y" * 65_536), "larger than 8 MB"),
    ("comments without end", endless(b"", b": c\n" * 500), "10,000 lines"),
    ("a compressed stream", endless(b"", b"\n", "Content-Encoding: zstd"), "unrequested encoding"),
]


@pytest.mark.parametrize(
    ("answer", "reason"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
async def test_an_answer_outside_of_the_bounds_fails_alone(
    web: tuple[HostileServer, McpTools], answer: Answer, reason: str
) -> None:
    server, tools = web
    server.answers["tools/call"] = answer
    before = psutil.Process().memory_info().rss

    with (
        watched_loop() as watch,
        capture_logs() as logs,
        pytest.raises(ToolError, match=reason),
    ):
        await tools.call("bad__page", {})

    assert watch.longest < HELD_SECONDS
    assert psutil.Process().memory_info().rss - before < 48 * MB
    assert tools.connected
    assert reason in tools.state().refusal
    assert tools.state().refused == 1
    (line,) = [one for one in logs if one["event"] == "mcp_answer_refused"]
    assert (line["server"], reason in line["problem"]) == ("bad", True)
    assert "mcp.servers.bad" in line["advice"]
    server.answers.clear()
    assert await tools.call("bad__plain", {}) == "fine"


N = SIGNS // 2 - 30
WORST: dict[str, bytes] = {
    "lists": b'{"content":[],"structuredContent":[%s[]]}' % (b"[]," * N),
    "keys": b'{"content":[],"structuredContent":{%s"k":1}}'
    % b"".join(b'"k%d":1,' % index for index in range(N)),
    "pieces": b'{"content":[%s]}' % b",".join([b'{"type":"no","text":"x"}'] * (SIGNS // 5 - 9)),
    "escapes": b'{"content":[{"type":"text","text":"%s"}]}' % (b"\\u00e9" * 690_000),
    "tags": b'{"content":[{"type":"text","text":"%s"}]}' % (b"<" * 4_000_000),
    "a picture": b'{"content":[{"type":"image","mimeType":"image/png","data":"%s"}]}'
    % (b"A" * 6_900_000),
    "files": b'{"content":[%s]}'
    % b",".join([b'{"type":"audio","mimeType":"a/b","data":"%s"}' % (b"A" * 2_000_000)] * 4),
}


@pytest.mark.parametrize("kind", list(WORST))
async def test_the_worst_answers_within_the_bounds_do_not_hold_the_loop(
    web: tuple[HostileServer, McpTools], kind: str
) -> None:
    server, tools = web
    server.answers["tools/call"] = result(WORST[kind])

    held = []
    # A hold of ours is in each of the three, a pause of the machine in one.
    for _ in range(3):
        with watched_loop() as watch:
            text = text_of_answer(await tools.call("bad__page", {}))
        assert (0 < len(text) <= 20_000) or kind in ("a picture", "files")
        held.append(watch.longest)

    assert min(held) < HELD_SECONDS


async def test_an_answer_that_drips_ends_in_time(
    web: tuple[HostileServer, McpTools], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, tools = web
    monkeypatch.setattr("gateway.turn.mcp_http.ANSWER_SECONDS", 0.3)
    for kind in ("application/json", "text/event-stream"):
        server.answers["tools/call"] = dripping(kind)
        with pytest.raises(ToolError, match="not complete after"):
            await tools.call("bad__page", {})
    assert tools.connected


async def test_lists_without_end_are_cut(web: tuple[HostileServer, McpTools]) -> None:
    server, _ = web
    cursors = iter(range(10**6))

    async def pages(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        number = next(cursors)
        tool = {"name": f"t{number}", "inputSchema": {"type": "object"}}
        page = {"tools": [tool], "nextCursor": f"c{number}"}
        writer.write(head() + result_of(message, page))

    server.answers["tools/list"] = pages
    assert len((await probe(McpServer("bad", url=server.url))).tools) == 20
    same = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}], "nextCursor": "again"}
    server.answers["tools/list"] = result(json.dumps(same).encode())
    asked = len(server.methods)
    assert (await probe(McpServer("bad", url=server.url))).tools == ("bad__t",)
    assert server.methods[asked:].count("tools/list") == 2


async def test_refused_lists_and_openings_are_named(web: tuple[HostileServer, McpTools]) -> None:
    server, _ = web
    for method in ("tools/list", "initialize"):
        server.answers = {method: bombs(64 * MB)}
        problem = (await probe(McpServer("bad", url=server.url))).problem
        assert problem == "its answer was refused: it is larger than 8 MB"


async def test_a_schema_of_results_is_not_used(web: tuple[HostileServer, McpTools]) -> None:
    """Its expressions would take hours, and its references lead elsewhere."""
    server, _ = web
    schema = {"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}
    listed = {
        "tools": [{"name": "page", "inputSchema": {"type": "object"}, "outputSchema": schema}]
    }
    server.answers["tools/list"] = result(json.dumps(listed).encode())
    tools = await connected(McpServer("bad", url=server.url))
    content = {"content": [], "structuredContent": {"a": "a" * 60 + "!"}}
    server.answers["tools/call"] = result(json.dumps(content).encode())

    with watched_loop() as watch:
        assert "aaa" in text_of_answer(await tools.call("bad__page", {}))

    assert watch.longest < HELD_SECONDS
    await tools.close()


async def test_a_server_cannot_pose_as_the_program(web: tuple[HostileServer, McpTools]) -> None:
    server, tools = web
    error = {"code": mcp_bounds.REFUSED_CODE, "message": "visit evil.example"}
    message = {"jsonrpc": "2.0", "id": 1, "error": error}
    server.answers["tools/call"] = plain(json.dumps(message).encode())

    async def echoed(asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(head() + json.dumps({**message, "id": asked["id"]}).encode())

    server.answers["tools/call"] = echoed
    with pytest.raises(ToolError, match="the tool server says: visit evil"):
        await tools.call("bad__page", {})
    assert tools.state().refused == 0


async def test_messages_that_nobody_asked_for_cost_little(
    web: tuple[HostileServer, McpTools],
) -> None:
    """Notifications are dropped, and pings are answered up to a number."""
    server, tools = web

    async def storm(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(head(kind="text/event-stream"))
        for index in range(500):
            ping = {"jsonrpc": "2.0", "id": f"s{index}", "method": "ping"}
            writer.write(
                b"retry: 999999999999\nid: 1\ndata: " + json.dumps(ping).encode() + b"\n\n"
            )
        content = {"content": [{"type": "text", "text": "after"}]}
        writer.write(b"data: " + result_of(message, content) + b"\n\n")
        await writer.drain()

    server.answers["tools/call"] = storm
    assert await tools.call("bad__page", {}) == "after"
    await tools.call("bad__page", {})
    assert server.methods.count("answer") <= 60


async def test_a_stream_that_always_ends_early_is_continued_a_few_times(
    web: tuple[HostileServer, McpTools],
) -> None:
    server, tools = web
    early = plain(b"retry: 0\nid: 7\ndata:\n\n", kind="text/event-stream")
    server.answers |= {"tools/call": early, "GET": early}

    with pytest.raises(ToolError):
        await tools.call("bad__page", {})

    assert server.methods.count("GET") <= 25
    server.answers.clear()
    await eventually(lambda: tools.connected, LAUNCH)


async def test_huge_and_many_headers_fail_the_call_only(
    web: tuple[HostileServer, McpTools],
) -> None:
    server, tools = web
    cookies = [f"Set-Cookie: c{index}={'x' * 90}" for index in range(500)]
    server.answers["tools/call"] = plain(b"", *cookies)
    with pytest.raises(ToolError):
        await tools.call("bad__page", {})
    server.answers.clear()
    assert await tools.call("bad__plain", {}) == "fine"
    assert len(server.headers[-1].get("cookie", "")) < 4_096
    server.answers["tools/call"] = plain(b"", f"X: {'y' * 400_000}")
    with pytest.raises(ToolError):
        await tools.call("bad__page", {})
    server.answers.clear()
    await eventually(lambda: tools.connected, LAUNCH)


async def test_interim_responses_without_end_do_not_hold_the_loop(
    web: tuple[HostileServer, McpTools], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, tools = web
    monkeypatch.setattr("gateway.turn.mcp_http.ANSWER_SECONDS", 1.0)

    async def interim(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 100 C\r\n\r\n" * 3_600)
            await writer.drain()
            await asyncio.sleep(0)

    server.answers["tools/call"] = interim
    with watched_loop() as watch, pytest.raises(ToolError):
        await tools.call("bad__page", {})
    assert watch.longest < HELD_SECONDS


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("long", "larger than 8 MB"), ("endless", "larger than 8 MB"), ("messages", "6,000 messages")],
)
async def test_a_program_that_writes_too_much_fails_the_call(kind: str, reason: str) -> None:
    server = McpServer("bad", command=sys.executable, args=(str(PROGRAM), kind))
    tools = await connected(server)

    with watched_loop() as watch, pytest.raises(ToolError, match=reason):
        await tools.call("bad__page", {})

    assert watch.longest < HELD_SECONDS
    assert tools.state().refused >= 1

    async def works() -> bool:
        try:
            return await tools.call("bad__plain", {}) == "fine"
        except ToolError:
            return False

    await eventually(works, LAUNCH)
    await tools.close()


async def test_a_program_is_ended_if_its_connection_is_cancelled_while_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It leaves a process behind that keeps its pipes open."""
    monkeypatch.setattr(mcp_stdio, "_EXIT_SECONDS", 0.2)
    program = StdioServerParameters(command="/bin/sh", args=["-c", "sleep 300 & sleep 300"])

    async def connect() -> None:
        async with mcp_stdio.bounded_program(program, "bad", mcp_bounds.Refusals("bad")):
            await asyncio.Event().wait()

    before = set(psutil.Process().children(recursive=True))
    for step in range(1, 9):
        task = asyncio.create_task(connect())
        for _ in range(step):
            time.sleep(0.01)  # the program begins before the loop goes on
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
    left = set(psutil.Process().children(recursive=True)) - before
    assert [one for one in left if one.status() != psutil.STATUS_ZOMBIE] == []


async def test_what_a_program_left_behind_is_ended(tmp_path: Path) -> None:
    """As a launcher such as npx, which may end before the server that it started."""
    script = f"sleep 600 & echo $! > {tmp_path}/pid"
    await probe(McpServer("bad", command="sh", args=("-c", script)))
    left = int((tmp_path / "pid").read_text())

    def is_gone() -> bool:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(left).status() == psutil.STATUS_ZOMBIE
        return True

    await eventually(is_gone)


@pytest.mark.parametrize(
    "kind", ["requests", "stderr", "garbage", "log", "quotes", "mark", "drip", "broken"]
)
async def test_a_program_that_writes_much_else_is_answered(kind: str) -> None:
    server = McpServer("bad", command=sys.executable, args=(str(PROGRAM), kind))
    tools = await connected(server)

    with watched_loop() as watch, capture_logs() as logs:
        if kind == "broken":
            with pytest.raises(ToolError, match="not valid JSON"):
                await tools.call("bad__page", {})
        else:
            assert await tools.call("bad__page", {})

    assert watch.longest < HELD_SECONDS
    assert len(logs) < 120
    assert await tools.call("bad__plain", {}) == "fine"
    await tools.close()
