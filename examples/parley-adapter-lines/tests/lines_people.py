"""People who talk to the adapter over TCP, a line at a time."""

import asyncio
from itertools import count

from parley_lines.manifest import MANIFEST

from gateway.ports import PlatformAdapter
from parley.testing import AdapterCase, DirectPeople
from simulators.base import NotSupported, Shown, SimFile, SimPerson, SimRoom

PASSWORD = "correct-horse-battery"
NAMES = ("Ada", "Ben")
REFUSED = "That could not be stored; write it again."


class LinesPeople(DirectPeople):
    """Implements `PlatformSimulator`: everybody has a TCP connection to the adapter."""

    platform = "lines"

    def __init__(self) -> None:
        super().__init__()
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._numbers = count(1)

    def settings(self) -> dict[str, object]:
        return {"port": 0, "password": PASSWORD}

    async def host(self, adapter: PlatformAdapter) -> None:
        """Let everybody in."""
        for name in NAMES:
            port: int = adapter.port  # type: ignore[attr-defined]  # of this adapter
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{name.lower()} {PASSWORD}\n".encode())
            assert b"Hello" in await reader.readline()
            self._writers[name.lower()] = writer
            self.reading.append(asyncio.create_task(self._read(name.lower(), reader)))

    async def stop(self) -> None:
        await self.stop_reading()
        for writer in self._writers.values():
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        mention: bool = False,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        """Write one line."""
        if files or reply_to:
            raise NotSupported("lines are text")
        writer = self._writers[person.id]
        writer.write(f"{text}\n".encode())
        await writer.drain()
        return str(next(self._numbers))

    async def _read(self, person_id: str, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            text = line.decode().rstrip("\n")
            if text == REFUSED:
                self.refuse()
                continue
            number = str(next(self._numbers))
            self.show(person_id, Shown(number, person_id, "", "parley", by_bot=True, text=text))


CASE = AdapterCase(
    "lines",
    MANIFEST,
    lambda account: LinesPeople(),
    repetition="person",
    replies=False,
    repeatable=False,
    edits=False,
    deletions=False,
    whole_parts=False,
)
