"""People who talk to the example adapter over TCP, a line at a time."""

import asyncio
from itertools import count

from gateway.ports import PlatformAdapter
from simulators.base import NotSupported, Shown, SimFile, SimPerson, SimRoom
from tests.contract.people import DirectPeople

PASSWORD = "correct-horse-battery"
NAMES = ("Ada", "Ben")
REFUSED = "That could not be stored; write it again."


class LinesPeople(DirectPeople):
    """Implements `PlatformSimulator`: everybody's own TCP connection."""

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
            port: int = adapter.port  # type: ignore[attr-defined]  # the example's own
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{name.lower()} {PASSWORD}\n".encode())
            assert b"Hello" in await reader.readline()
            self._writers[name.lower()] = writer
            self._reading.append(asyncio.create_task(self._read(name.lower(), reader)))

    async def stop(self) -> None:
        await self.stop_reading()
        for writer in self._writers.values():
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    def person(self, name: str) -> SimPerson:
        return SimPerson(name.lower(), name)

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

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        raise NotSupported("what was written stays")

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        raise NotSupported("what was written stays")

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        await self.say(person, room, f"/{name} {arguments}".strip())

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        raise NotSupported("there are no buttons")

    def duplicate_next(self, times: int = 1) -> None:
        raise NotSupported("a line is written once")

    async def _read(self, person_id: str, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            text = line.decode().rstrip("\n")
            if text == REFUSED:
                self.refuse()
                continue
            number = str(next(self._numbers))
            self.show(person_id, Shown(number, person_id, "", "parley", by_bot=True, text=text))
