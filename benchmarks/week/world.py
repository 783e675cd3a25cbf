"""The program of the week, its clock, its scripted model, and the places where people write."""

import asyncio
import json
import re
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from gateway.ports.clock import SystemClock
from parley.app import App
from parley.config import from_mapping
from simulators.anthropic import Answer, AnthropicSimulator, UseTool, text_of
from simulators.base import Shown, ShownButton
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, configuration, simulated
from tests.e2e.test_memory import Talk
from tests.support.patience import PATIENCE
from tests.support.program import running_app
from tests.support.waiting import eventually

MONDAY: Final = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
TABLES: Final = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
        AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\'
"""
SHORT: Final = {"context": {"ttl_hours": 8}}
"""What was said yesterday is in no conversation any more: only memory brings it back."""
NOTED: Final = "Noted."
"""What the model says after its tools were run."""
ANSWERED: Final = "I see."
ID: Final = re.compile(r"mem-[0-9a-f]{8}")


class MovedClock(SystemClock):
    """Implements `AlarmClock`: the real pace, at a moment of the week."""

    def __init__(self) -> None:
        self._ahead = MONDAY - SystemClock().now()

    def now(self) -> datetime:
        """Return the moment of the week."""
        return SystemClock().now() + self._ahead

    def move_to(self, moment: datetime) -> None:
        """Let time pass until a moment; the past stays."""
        self._ahead += max(timedelta(), moment - self.now())


def system_text(body: Mapping[str, Any]) -> str:
    """Return the system part of a request as one text."""
    return text_of(body.get("system") or "")


def read_text(body: Mapping[str, Any]) -> str:
    """Return everything that the model reads in a request, apart from the tools."""
    messages = (text_of(one["content"]) for one in body["messages"])
    return "\n".join((system_text(body), *messages))


@dataclass
class ScriptedModel:
    """The replies of the simulated service. `calls` are the tools of the next answer, made of the
    request; after their results it says one word."""

    calls: Callable[[Mapping[str, Any]], tuple[UseTool, ...]] = lambda _: ()
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)
    """The results of tools since `forget_results`, parsed."""

    def __call__(self, body: Mapping[str, Any]) -> Answer:
        """Answer one request."""
        self.bodies.append(body)
        last = body["messages"][-1]["content"]
        given = (
            [one for one in last if isinstance(one, dict) and one.get("type") == "tool_result"]
            if isinstance(last, list)
            else []
        )
        if given:
            self.results += [_parsed(text_of(one.get("content"))) for one in given]
            return Answer(NOTED)
        return Answer(tools=calls) if (calls := self.calls(body)) else Answer(ANSWERED)


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {"error": text}
    return parsed if isinstance(parsed, dict) else {"error": text}


class Talking(Protocol):
    """A place where one person writes; each method returns the answer of the assistant."""

    async def say(self, text: str) -> Shown:
        """Write something to the assistant."""

    async def command(self, name: str, arguments: str = "") -> Shown:
        """Use a command."""

    async def press(self, under: Shown, label: str) -> Shown:
        """Press a button under a message."""

    async def shown(self) -> list[Shown]:
        """Return the messages of the assistant here, oldest first."""


class WebPage:
    """Implements `Talking`: one browser on the web page, by the requests of the page's script."""

    def __init__(self, app: App, http: aiohttp.ClientSession) -> None:
        self._app, self._http = app, http
        self._url = f"{app.local.base_url}/chat"

    async def open(self) -> None:
        """Load the page, which gives the browser its session."""
        async with self._http.get(f"{self._url}/") as page:
            page.raise_for_status()

    async def say(self, text: str) -> Shown:
        return await self._act({"type": "message", "text": text})

    async def command(self, name: str, arguments: str = "") -> Shown:
        return await self.say(f"/{name} {arguments}".rstrip())

    async def press(self, under: Shown, label: str) -> Shown:
        value = next(one.value for one in under.buttons if one.label == label)
        about = {"message_id": under.id, "value": value, "label": label}
        return await self._act({"type": "button", **about})

    async def shown(self) -> list[Shown]:
        async with self._http.get(f"{self._url}/api/history") as answer:
            lines = (await answer.json())["lines"]
        return [
            Shown(
                *(one["id"], "web", "", "", True, one["text"]),
                buttons=tuple(ShownButton(b["label"], b["value"]) for b in one["buttons"]),
            )
            for one in lines
            if one["by"] == "assistant" and not (one["deleted"] or one["live"])
        ]

    async def _act(self, action: Mapping[str, object]) -> Shown:
        before = len(await self.shown())
        sent = {**action, "id": secrets.token_hex(8)}
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": self._app.local.base_url}
        url = f"{self._url}/api/actions"
        async with self._http.post(url, json=sent, headers=headers) as answer:
            answer.raise_for_status()

        async def answered() -> bool:
            return len(await self.shown()) > before and self._app.settled()

        await eventually(answered, PATIENCE)
        return (await self.shown())[-1]


@dataclass(frozen=True)
class World:
    """The running program and the places of the week, by person and place."""

    app: App
    clock: MovedClock
    model: ScriptedModel
    places: Mapping[tuple[str, str], Talking]

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the stores."""

        def read(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return db.execute(sql).fetchall()

        await eventually(self.app.settled)
        return await self.app.storage.long_lived.run_job(read)

    async def stored(self) -> str:
        """Return every row of the stores as one text, without the indexes of words."""
        names = await self.rows(TABLES)
        rows = [row for (name,) in names for row in await self.rows(f'SELECT * FROM "{name}"')]
        return "\n".join(str(row) for row in rows)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[World]:
    """The program with Ada and Ben on Telegram, in private and in one group, and Ada's web page."""
    await asyncio.to_thread(import_module, "anthropic")  # not within the time limit of an answer
    clock, script = MovedClock(), ScriptedModel()
    telegram = TelegramSimulator(clock=lambda: clock.now().timestamp())
    async with AsyncExitStack() as stack:
        model = AnthropicSimulator(reply=script)
        await model.start()
        stack.push_async_callback(model.stop)
        section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        port = await stack.enter_async_context(simulated({"telegram": telegram}))
        whole = configuration({"telegram": telegram}, folder, port, {"model": section, **SHORT})
        platforms = whole["platforms"]
        assert isinstance(platforms, dict)
        platforms["web"] = {"enabled": True}
        app = App(from_mapping(whole), clock=clock)
        await stack.enter_async_context(running_app(app))
        await telegram.wait_connected()
        lab, room = Lab(app, telegram), telegram.room("kitchen")
        jar = aiohttp.CookieJar(unsafe=True)
        http = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=jar))
        page = WebPage(app, http)
        await page.open()
        places: dict[tuple[str, str], Talking] = {("ada", "web"): page}
        for name in ("ada", "ben"):
            person = telegram.person(name.title())
            places[name, "direct"] = Talk(lab, person, telegram.direct(person))
            places[name, "room"] = Talk(lab, person, room)
        yield World(app, clock, script, places)
