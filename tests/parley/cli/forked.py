"""A process that another one has forked, as asyncio shows those that it started itself."""

import asyncio
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

_MANY = 2**20
"""Bytes of a line that is read at once."""


class Forked(asyncio.SubprocessTransport):
    """Knows the pid of the process, and its status as soon as it is told."""

    def __init__(self, pid: int, pipes: Sequence[asyncio.BaseTransport]) -> None:
        super().__init__()
        self._pid = pid
        self._pipes = pipes
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(self, status: int) -> None:
        """Say how it ended; of one ended by a signal, the signal's number below zero."""
        self._ended.set_result(status)

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    def get_pipe_transport(self, fd: int) -> asyncio.BaseTransport:
        return self._pipes[fd]

    def send_signal(self, signal: int) -> None:
        if not self._ended.done():
            with suppress(ProcessLookupError):  # it ended, and that is about to be told
                os.kill(self._pid, signal)

    def kill(self) -> None:
        self.send_signal(9)

    def terminate(self) -> None:
        self.send_signal(15)

    async def _wait(self) -> int:
        return await asyncio.shield(self._ended)


@dataclass
class Streams(asyncio.SubprocessProtocol):
    """Standard input, output and error."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader


async def shown(
    told: socket.socket, keys: IO[bytes], out: IO[bytes], err: IO[bytes]
) -> tuple[asyncio.subprocess.Process, asyncio.Task[None]]:
    """The process whose pid and then status come over `told`, and the task that waits for the
    status. The other ends of its standard streams are `keys`, `out` and `err`."""
    loop = asyncio.get_running_loop()
    told.setblocking(False)
    reader, teller = await asyncio.open_connection(sock=told)
    pid = int(await reader.readline())
    stdout, reads_out = await _reading(out)
    stderr, reads_err = await _reading(err)
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, keys)
    stdin = asyncio.StreamWriter(writing, protocol, None, loop)
    transport = Forked(pid, (writing, reads_out, reads_err))

    async def wait() -> None:
        transport.end(int(await reader.readline()))
        teller.close()
        await teller.wait_closed()

    process = asyncio.subprocess.Process(transport, Streams(stdin, stdout, stderr), loop)
    return process, asyncio.create_task(wait())


async def _reading(pipe: IO[bytes]) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(_MANY)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader, transport
