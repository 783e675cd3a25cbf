"""The address of PostgreSQL leads to another server, or to a pooler."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest

from db import Statement
from db.errors import StoreUnavailable
from db.postgres import PostgresDatabase
from tests.db.conftest import PATIENT, THINGS
from tests.support.databases import new_database, started
from tests.support.relay import relay
from tests.support.servers import PostgresServer, postgres_server

pytestmark = pytest.mark.xdist_group("databases")
ADD = Statement("INSERT INTO things (id) VALUES (:id)")
COUNT = Statement("SELECT count(*) FROM things")
ENCRYPTION = (80_877_103, 80_877_104)
"""The codes of the requests that come before a connection with TLS or GSS."""
HEAD = struct.Struct("!cI")


async def read_only(url: str) -> None:
    """Let the server refuse changes, as a standby does."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        await connection.execute("SELECT pg_reload_conf()")
        async with asyncio.timeout(PATIENT.statement):
            while await setting(url) != "on":
                await asyncio.sleep(0.05)


async def setting(url: str) -> str:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        row = await (await connection.execute("SHOW default_transaction_read_only")).fetchone()
        assert row is not None
        return str(row[0])


async def test_after_a_failover_behind_one_address_no_write_fails() -> None:
    with postgres_server() as old, postgres_server() as new:
        async with started(PostgresDatabase(new.url, (THINGS,), PATIENT)) as direct:
            async with relay(old.port) as address:
                url = f"postgresql://postgres@127.0.0.1:{address.port}/postgres"
                async with started(PostgresDatabase(url, (THINGS,), PATIENT)) as database:
                    writes = (database.change(ADD, {"id": f"old {n}"}) for n in range(8))
                    await asyncio.gather(*writes)
                    await read_only(old.url)
                    address.target = new.port
                    for number in range(20):
                        await database.change(ADD, {"id": f"new {number}"})
                    assert await database.fetch(COUNT) == [(20,)]
            assert await direct.fetch(COUNT) == [(20,)]


async def test_a_read_only_server_is_named_and_keeps_its_connections() -> None:
    with postgres_server() as server:
        async with started(PostgresDatabase(server.url, (THINGS,), PATIENT)) as database:
            await read_only(server.url)
            for _ in range(3):
                with pytest.raises(StoreUnavailable, match=r"read-only.*primary"):
                    await database.change(ADD, {"id": "x"})
            first = await database.fetch_raw("SELECT pg_backend_pid()")
            with pytest.raises(StoreUnavailable):
                await database.change(ADD, {"id": "x"})
            assert await database.fetch_raw("SELECT pg_backend_pid()") == first


class Pooler:
    """Gives one session to all connections by turns, as poolers of transactions do."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._greeting = b""
        self._turn = asyncio.Lock()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends."""
        with suppress(asyncio.IncompleteReadError, OSError):
            writer.write(await self._greeted(await self._begin(reader, writer)))
            batch = b""
            while (message := await one_message(reader))[:1] != b"X":
                batch += message
                if message[:1] in (b"Q", b"S"):
                    writer.write(await self._asked(batch))
                    batch = b""
        writer.close()

    async def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        while True:
            (size,) = struct.unpack("!I", head := await reader.readexactly(4))
            body = await reader.readexactly(size - 4)
            if struct.unpack("!I", body[:4])[0] not in ENCRYPTION:
                return head + body
            writer.write(b"N")

    async def _greeted(self, beginning: bytes) -> bytes:
        async with self._turn:
            if self._server is None:
                self._server = await asyncio.open_connection("127.0.0.1", self._port)
                self._server[1].write(beginning)
                messages = [one async for one in until_ready(self._server[0])]
                key = HEAD.pack(b"K", 12) + struct.pack("!II", 2_000_000_000, 1)
                self._greeting = b"".join(
                    key if message[:1] == b"K" else message for message in messages
                )
        return self._greeting

    async def _asked(self, batch: bytes) -> bytes:
        assert self._server is not None
        async with self._turn:
            self._server[1].write(batch)
            return b"".join([message async for message in until_ready(self._server[0])])

    def close(self) -> None:
        """End the session."""
        if self._server is not None:
            self._server[1].close()


async def one_message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(HEAD.size)
    return head + await reader.readexactly(HEAD.unpack(head)[1] - 4)


async def until_ready(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        yield (message := await one_message(reader))
        if message[:1] == b"Z":
            return


@asynccontextmanager
async def pooled(server: PostgresServer, url: str) -> AsyncIterator[str]:
    """The URL of the same database through a pooler."""
    pooler = Pooler(server.port)
    listener = await asyncio.start_server(pooler.carry, "127.0.0.1", 0)
    try:
        yield url.replace(f":{server.port}/", f":{listener.sockets[0].getsockname()[1]}/")
    finally:
        listener.close()
        pooler.close()


async def test_a_pooler_that_shares_sessions_is_refused_before_anything_is_written(
    server: PostgresServer,
) -> None:
    url = new_database(server)
    async with pooled(server, url) as through:
        with pytest.raises(StoreUnavailable, match="pool_mode = session"):
            await PostgresDatabase(through, (THINGS,), PATIENT).start()
    async with await psycopg.AsyncConnection.connect(url) as connection:
        row = await (await connection.execute("SELECT to_regclass('things')")).fetchone()
        assert row == (None,)
