"""An address in front of servers, as a load balancer is: a failover changes its target."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Relay:
    """Carries connections to the port `target`; those that are open stay where they are."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until an end closes it."""
        with suppress(OSError):
            inner, outer = await asyncio.open_connection("127.0.0.1", self.target)
            await asyncio.gather(_copy(reader, outer), _copy(inner, writer))
        writer.close()


@asynccontextmanager
async def relay(target: int) -> AsyncIterator[Relay]:
    """An open relay."""
    opened = Relay(target)
    server = await asyncio.start_server(opened.carry, "127.0.0.1", 0)
    opened.port = server.sockets[0].getsockname()[1]
    try:
        yield opened
    finally:
        server.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    sink.close()
