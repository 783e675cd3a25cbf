"""A proxy on loopback that counts the bytes that come in through it."""

import contextlib
import http.server
import select
import socket
import threading
from types import TracebackType
from typing import Final, Self

BLOCK: Final = 65_536
IDLE_SECONDS: Final = 120.0


class CountingProxy:
    """Forwards connections (`CONNECT`) for the time of a `with` block; `received` counts."""

    def __init__(self) -> None:
        self.received = 0
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count(self, size: int) -> None:
        """Add bytes that came in."""
        with self._lock:
            self.received += size

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self) -> None:
                host, _, port = self.path.rpartition(":")
                try:
                    upstream = socket.create_connection((host, int(port)), IDLE_SECONDS)
                except (OSError, ValueError) as error:
                    self.send_error(502, str(error))
                    return
                self.send_response(200)
                self.end_headers()
                with upstream, contextlib.suppress(OSError):
                    _relay(self.connection, upstream, proxy)
                self.close_connection = True

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name
                """Print nothing."""

        return Handler


def _relay(client: socket.socket, upstream: socket.socket, proxy: CountingProxy) -> None:
    """Pass bytes on in both directions until one side ends or both are idle."""
    other = {client: upstream, upstream: client}
    while ready := select.select([client, upstream], [], [], IDLE_SECONDS)[0]:
        for source in ready:
            block = source.recv(BLOCK)
            if not block:
                return
            if source is upstream:
                proxy.count(len(block))
            other[source].sendall(block)
