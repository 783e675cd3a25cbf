"""The HTTP server of a simulator on this machine, and connections that it cuts."""

from aiohttp import web


class LocalServer:
    """A port of 127.0.0.1, from `start` to `stop`; it may start again."""

    def __init__(self) -> None:
        self._runner: web.BaseRunner | None = None
        self.port = 0
        """The port in use, also after `stop`; 0 before `start`."""

    @property
    def url(self) -> str:
        """The address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def connected(self) -> int:
        """The number of open connections."""
        return len(self._connections())

    async def start(self, runner: web.BaseRunner, port: int = 0) -> None:
        """Serve what `runner` has; port 0 takes a free one."""
        self._runner = runner
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self.port = int(runner.addresses[0][1])

    async def stop(self) -> None:
        """Close the port and its connections. Safe to call twice, and before `start`."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def drop_connections(self) -> None:
        """Cut every connection without a farewell."""
        for connection in self._connections():
            if connection.transport is not None:
                connection.transport.abort()

    def _connections(self) -> list[web.RequestHandler]:
        server = self._runner.server if self._runner is not None else None
        return server.connections if server is not None else []


def hang_up(request: web.BaseRequest) -> web.Response:
    """Cut the connection of a request without a farewell; the response is never sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=499)


async def cut_within(request: web.BaseRequest, answer: web.StreamResponse) -> web.StreamResponse:
    """Send the head of `answer` and half of its body, then close the line."""
    body = answer.body if isinstance(answer, web.Response) else b""
    whole = body if isinstance(body, bytes) else b""
    begun = web.StreamResponse(status=answer.status)
    begun.content_type = answer.content_type
    begun.content_length = max(1, len(whole))
    await begun.prepare(request)
    await begun.write(whole[: len(whole) // 2])
    if request.transport is not None:
        request.transport.close()
    return begun
