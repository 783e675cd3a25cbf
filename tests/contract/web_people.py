"""People who use the web page: real HTTP, as the page's script speaks it."""

import asyncio
import json
import re
from collections.abc import Mapping
from html import unescape
from uuid import uuid4

import aiohttp

from gateway.ports import PlatformAdapter
from gateway.ports.http_routes import CanServePages
from parley.http.local_listener import LocalListener
from parley.testing import DirectPeople
from simulators.base import ApiCall, Shown, ShownButton, SimFile, SimPerson, SimRoom

NAMES = ("Ada", "Ben")


class WebPeople(DirectPeople):
    """Implements `PlatformSimulator`: a browser for everybody."""

    platform = "web"

    def __init__(self) -> None:
        super().__init__()
        self._browsers: dict[str, aiohttp.ClientSession] = {}
        self._people: dict[str, SimPerson] = {}
        self._listener: LocalListener | None = None
        self._url = ""
        self._again = 0

    def settings(self) -> dict[str, object]:
        return {"enabled": True}

    async def host(self, adapter: PlatformAdapter) -> None:
        """Serve the page, and open it in everybody's browser."""
        assert isinstance(adapter, CanServePages)
        self._listener = LocalListener()
        self._listener.add_routes(adapter.routes())
        await self._listener.start()
        self._url = self._listener.base_url
        for name in NAMES:
            await self._open(name)

    async def _open(self, name: str) -> None:
        browser = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        async with browser.get(f"{self._url}/chat/") as page:
            assert page.status == 200
        async with browser.get(f"{self._url}/chat/api/history") as page:
            me = str((await page.json())["me"])
        self._people[name], self._browsers[me] = SimPerson(me, name), browser
        self.reading.append(asyncio.create_task(self._watch(me, browser)))

    async def stop(self) -> None:
        await self.stop_reading()
        for browser in self._browsers.values():
            await browser.close()
        if self._listener is not None:
            await self._listener.stop()

    def person(self, name: str) -> SimPerson:
        return self._people[name]

    # --- what people do -------------------------------------------------------------------------

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
        """Write a message; one that the page could not store counts as refused."""
        uploaded = [await self._upload(person, file) for file in files]
        action: dict[str, object] = {"type": "message", "text": text, "files": uploaded}
        return await self._act(person, action | ({"reply_to": reply_to} if reply_to else {}))

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        await self._act(person, {"type": "edit", "message_id": message_id, "text": text})

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        await self._act(person, {"type": "delete", "message_id": message_id})

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        await self.say(person, room, f"/{name} {arguments}".strip())

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        message = self.seen[room.id][message_id]
        value = next(button.value for button in message.buttons if button.label == label)
        await self._act(person, {"type": "button", "message_id": message_id, "value": value})

    def duplicate_next(self, times: int = 1) -> None:
        self._again = times

    async def _act(self, person: SimPerson, action: Mapping[str, object]) -> str:
        body = {"id": uuid4().hex, **action}
        again, self._again = self._again, 0
        for _ in range(1 + again):
            async with self._browsers[person.id].post(
                f"{self._url}/chat/api/actions", json=body, headers={"Origin": self._url}
            ) as answer:
                if answer.status >= 500:
                    self.refuse()
                else:
                    assert answer.status == 200, await answer.text()
        return str(body["id"])

    async def _upload(self, person: SimPerson, file: SimFile) -> str:
        headers = {"Origin": self._url, "X-File-Name": file.name, "Content-Type": file.mime}
        async with self._browsers[person.id].post(
            f"{self._url}/chat/api/files", data=file.data, headers=headers
        ) as answer:
            assert answer.status == 200, await answer.text()
            return str((await answer.json())["id"])

    # --- what people see ------------------------------------------------------------------------

    async def _watch(self, me: str, browser: aiohttp.ClientSession) -> None:
        """Follow the page's stream, as an open tab does."""
        event = ""
        async with browser.get(f"{self._url}/chat/api/events") as stream:
            async for raw in stream.content:
                field, _, value = raw.decode().rstrip("\n").partition(": ")
                if field == "event":
                    event = value
                elif field == "data" and event == "line":
                    self.show(me, await self._line(me, browser, json.loads(value)))
                elif field == "data" and event == "typing" and json.loads(value)["on"]:
                    now = asyncio.get_running_loop().time()
                    self.calls.append(ApiCall("typing", {}, 200, now))
                    self.changed.notify()

    async def _line(
        self, me: str, browser: aiohttp.ClientSession, line: Mapping[str, object]
    ) -> Shown:
        links, marked = line["files"], line["buttons"]
        assert isinstance(links, list)
        assert isinstance(marked, list)
        html = str(line["html"])
        return Shown(
            id=str(line["id"]),
            room_id=me,
            thread_id="",
            author_id="parley" if line["by"] == "assistant" else me,
            by_bot=line["by"] == "assistant",
            text=unescape(re.sub(r"<[^>]+>", " ", html)) if html else str(line["text"]),
            html=html,
            payload={"html": html},
            buttons=tuple(ShownButton(one["label"], one["value"]) for one in marked),
            files=tuple([await self._download(browser, link) for link in links]),
            reply_to_id=str(line["reply_to"]),
            edited=bool(line["edited"]),
            deleted=bool(line["deleted"]),
        )

    async def _download(
        self, browser: aiohttp.ClientSession, link: Mapping[str, object]
    ) -> SimFile:
        async with browser.get(f"{self._url}/chat/api/files/{link['id']}") as answer:
            return SimFile(str(link["name"]), str(link["mime"]), await answer.read())
