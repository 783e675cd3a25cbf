"""The local listener, over raw connections: requests that proxies and servers read differently."""

import asyncio
import socket
import time
from contextlib import suppress

from tests.attacks.scene import Scene, hold
from tests.attacks.spying import watched_loop
from tests.attacks.steps import does, plants
from tests.attacks.table import Attack
from tests.support.waiting import eventually

SMUGGLE = "pass a request by the checks of a proxy"
KEEP_OUT = "keep the operator from the pages of the program"
ONE = ("telegram",)
ANSWER_SECONDS = 20.0
PROMPT_SECONDS = 3.0
"""Within what the operator is answered while others are held open."""
HELD_SECONDS = 0.3
"""The limit of uninterrupted processor time of a request: three times the guaranteed one, because
other tests share the processor's caches with this one."""

HOST = b"Host: localhost\r\n"
START = b"POST /chat/api/actions HTTP/1.1\r\n" + HOST
HIDDEN = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


async def _asked(scene: Scene, sent: bytes, *, ends: bool = False) -> bytes:
    """Everything that is answered until the connection is closed, or half closed by us."""
    reader, writer = await asyncio.open_connection("127.0.0.1", scene.stage.app.local.port)
    answer = b""
    try:
        writer.write(sent)
        if ends:
            writer.write_eof()
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                while piece := await reader.read(65_536):
                    answer += piece
    finally:
        writer.close()
    return answer


async def _smuggled(scene: Scene) -> None:
    """A second request hides where one of two readers sees a body."""
    length = str(len(HIDDEN)).encode()
    for fields in (
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: " + length + b"\r\n\r\n",
        b"Content-Length: " + length + b"\r\nContent-Length: 0\r\n\r\n",
        b"Content-Length: 0, " + length + b"\r\n\r\n",
        b"Content-Length: +0\r\n\r\n",
        b"Content-Length : " + length + b"\r\n\r\n",
        b"X: a\r\n Content-Length: " + length + b"\r\n\r\n",
        b"X: a\nContent-Length: " + length + b"\r\n\r\n",
        b"X: a\rContent-Length: " + length + b"\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n1;\n" + length + b"\r\na\r\n0\r\n\r\n",
        b"Content-Length: 0\r\n\n",
    ):
        answer = await _asked(scene, START + fields + HIDDEN)
        hold(b"loop_lag" not in answer, f"a request was hidden behind {fields!r}")
        hold(answer.count(b"HTTP/1.1 ") <= 1, f"two answers to {fields!r}")
    old = START.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN
    hold(b"loop_lag" not in await _asked(scene, old), "chunks in HTTP/1.0 hide a request")


async def _odd_requests(scene: Scene) -> None:
    """Targets, hosts, versions and methods that no page of ours uses."""
    for head in (
        b"GET http://evil.example/healthz HTTP/1.1\r\n" + HOST,
        b"GET http://localhost/healthz HTTP/1.1\r\n" + HOST,
        b"GET localhost/healthz HTTP/1.1\r\n" + HOST,
        b"GET * HTTP/1.1\r\n" + HOST,
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n" + HOST,
        b"GET /healthz HTTP/1.1\r\nHost: localhost, evil.example\r\n",
        b"GET /healthz HTTP/1.1\r\n",
        b"GET /healthz\r\n",
        b"GET /healthz HTTP/0.9\r\n" + HOST,
        b"GET /healthz HTTP/2.0\r\n" + HOST,
        b"GET\t/healthz HTTP/1.1\r\n" + HOST,
        b"GET /healthz\x00 HTTP/1.1\r\n" + HOST,
        b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST,
        b"CONNECT /healthz HTTP/1.1\r\n" + HOST,
        b"TRACE /healthz HTTP/1.1\r\n" + HOST,
        b"PRI * HTTP/2.0\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 60_000 + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: 1\r\n" * 5_000,
        b"GET /healthz?" + b"a" * 60_000 + b" HTTP/1.1\r\n" + HOST,
    ):
        answer = await _asked(scene, head + b"Connection: close\r\n\r\n")
        hold(answer[:10] == b"HTTP/1.1 4", f"{head[:80]!r} is answered with {answer[:40]!r}")
        hold(b"loop_lag" not in answer, f"{head[:80]!r} reached a page")
    for expected in (b"websocket", b"h2c"):
        upgrade = b"Upgrade: " + expected + b"\r\nConnection: Upgrade\r\n"
        answer = await _asked(
            scene, b"GET /healthz HTTP/1.1\r\n" + HOST + upgrade + b"\r\n" + HIDDEN
        )
        hold(b" 101 " not in answer, "the protocol of the connection was changed")


async def _odd_paths(scene: Scene) -> None:
    """Paths that a server may decode, join or shorten before it checks them."""
    for path in (
        "/api%2Fv1/brain/export", "/api/v1/..%2f../chat/", "/api/v1%2fbrain/export",
        "/chat/..%2fapi/v1/brain/export", "/chat/../api/v1/brain/export", "//api/v1/brain/export",
        "/API/v1/brain/export", "/%61pi/v1/brain/export", "/healthz/../api/v1/brain/export",
        "/healthz%2f..%2fapi/v1/brain/export", "/api/v1/brain/export%00", "/api/v1;x/brain/export",
        "/chat/assets/..%2f..%2froutes.py", "/chat/assets/%2e%2e/routes.py",
        "/chat/assets/..%5c..%5croutes.py", "/chat/assets/%252e%252e%252froutes.py",
        "/chat/assets/chat.js%00.py",
    ):  # fmt: skip
        request = f"GET {path} HTTP/1.1\r\n".encode() + HOST + b"Connection: close\r\n\r\n"
        answer = await _asked(scene, request)
        hold(answer[:10] == b"HTTP/1.1 4", f"{path} is answered with {answer[:40]!r}")
        hold(scene.mark.encode() not in answer, f"{path} leads to somebody's memory")


async def _held_connections(scene: Scene) -> None:
    """Thousands of connections, of which each sends the beginning of a request or nothing."""
    for beginning in (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
        START + b"Content-Length: 1000\r\n\r\n{",
        START + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n{",
        b"",
    ):
        opened: list[socket.socket] = []
        try:
            await asyncio.to_thread(_open, opened, scene.stage.app.local.port, 600, beginning)
            began = time.monotonic()
            answer = await _asked(scene, HIDDEN)
            waited = time.monotonic() - began
            hold(b"loop_lag" in answer, f"no page is served beside {beginning[:60]!r}")
            hold(waited < PROMPT_SECONDS, f"a page took {waited:.1f} s")
        finally:
            for connection in opened:
                connection.close()

    async def served() -> bool:
        return b"loop_lag" in await _asked(scene, HIDDEN)

    await eventually(served)


def _open(opened: list[socket.socket], port: int, count: int, beginning: bytes) -> None:
    for _ in range(count):
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            opened.append(connection)
            connection.sendall(beginning)


async def _costly_requests(scene: Scene) -> None:
    """Requests that are large or intricate; the loop turns all the while."""
    chunks = START + b"Transfer-Encoding: chunked\r\n\r\n"
    for sent in (
        chunks + b"1\r\na\r\n" * 60_000 + b"0\r\n\r\n",
        chunks + b"1;" + b"x" * 200_000,
        chunks + b"0;" + b" " * 60_000 + b"\n\r\n",
        chunks + b"0\r\na:" + b" " * 60_000 + b"\x0b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b" " * 8_000 + b"\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Cookie: " + b"a=b;" * 2_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X-Forwarded-For: " + b"1," * 4_000 + b"\r\n\r\n",
        b"GET /?" + b"a&" * 4_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\n" * 15_000,
        HIDDEN.replace(b"Connection: close\r\n", b"") * 2_000,
        b"\r\n" * 100_000,
    ):
        with watched_loop() as watch:
            await _asked(scene, sent, ends=True)
        held = f"{sent[:60]!r} held the loop for {watch.longest:.2f} s of processor time"
        hold(watch.longest < HELD_SECONDS, held)
        hold(b"loop_lag" in await _asked(scene, HIDDEN), "the program does not answer any more")


LOCAL_PORT = (
    Attack("local-smuggled", "stranger", SMUGGLE, ONE, (does(_smuggled),)),
    Attack("local-odd-requests", "stranger", SMUGGLE, ONE, (does(_odd_requests),)),
    Attack("local-odd-paths", "stranger", "read another person's memory over HTTP", ONE,
           (plants("ada"), does(_odd_paths))),
    Attack("local-held", "stranger", KEEP_OUT, ONE, (does(_held_connections),)),
    Attack("local-costly", "stranger", KEEP_OUT, ONE, (does(_costly_requests),)),
)  # fmt: skip
