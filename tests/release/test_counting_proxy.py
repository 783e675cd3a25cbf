"""The proxy that counts the bytes of a new user's downloads."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from release.counting_proxy import CountingProxy
from tests.support.ports import free_port

BODY = b"x" * 100_000


class Downloads(BaseHTTPRequestHandler):
    """Sends `BODY` for every address."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name
        """Print nothing."""


@contextmanager
def a_server() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Downloads)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def loaded_through(proxy: CountingProxy, port: int) -> bytes:
    connection = HTTPConnection(proxy.url.removeprefix("http://"))
    connection.set_tunnel("127.0.0.1", port)
    connection.request("GET", "/file")
    body = connection.getresponse().read()
    connection.close()
    return body


async def test_it_counts_what_comes_in() -> None:
    with a_server() as port, CountingProxy() as proxy:
        bodies = await asyncio.gather(
            *(asyncio.to_thread(loaded_through, proxy, port) for _ in range(3))
        )
    assert bodies == [BODY] * 3
    assert 3 * len(BODY) < proxy.received < 3 * len(BODY) + 3_000


def test_a_server_that_cannot_be_reached_is_an_error_of_the_client() -> None:
    with CountingProxy() as proxy, pytest.raises(OSError, match="502"):
        loaded_through(proxy, free_port())
    assert proxy.received == 0
