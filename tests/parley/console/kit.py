"""The whole program with its console, and people who are signed in to it."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp

from gateway.message import Outbound
from parley.app import App
from parley.config import Settings
from parley.console.security import NAME
from parley.console.sessions import PREFIX, csrf_of
from parley.console.viewer import LOCAL_OPERATOR
from tests.parley.http.api.kit import ApiResponse, Program, settings_in
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.program import running_app
from tests.support.servers import PostgresServer

CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
Sections: TypeAlias = Mapping[str, Mapping[str, object]]
OWNER, OPERATOR, PERSON, OTHER = "oona", "olga", "ada", "eve"


@dataclass(frozen=True, slots=True)
class Page:
    """An answer of the console."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def location(self) -> str:
        """The address to which it leads."""
        return self.headers.get("Location", "")


@dataclass(slots=True)
class Visitor:
    """A browser without a screen: cookies, pages and forms. `person` is empty for nobody."""

    base: str
    http: aiohttp.ClientSession
    person: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    zone: str = "UTC"

    async def get(self, path: str, **headers: str) -> Page:
        """Open a page; redirects are not followed."""
        return await self.request("GET", path, headers=_named(headers))

    async def post(
        self, path: str, fields: Mapping[str, str] | None = None, **headers: str
    ) -> Page:
        """Send a form with the token of this session."""
        token = csrf_of(self.secret) if self.secret else ""  # what `csrf` reads from a page
        return await self.request(
            "POST", path, data={"csrf": token, **(fields or {})}, headers=_named(headers)
        )

    async def csrf(self) -> str:
        """The token of the forms of this session, from the account page; empty for nobody."""
        found = CSRF.search((await self.get("/account")).text)
        return found[1] if found else ""

    async def request(
        self,
        method: str,
        path: str,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """Send a request with the cookies of this browser."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items() if value)
        sent = {**({"Cookie": cookie} if cookie else {}), **(headers or {})}
        url = f"{self.base}{PREFIX}{path}"
        async with self.http.request(
            method, url, data=data, headers=sent, allow_redirects=False
        ) as answer:
            for given in answer.headers.getall("Set-Cookie", []):
                name, _, value = given.partition(";")[0].partition("=")
                self.cookies[name] = value
            return Page(answer.status, dict(answer.headers), await answer.text())

    async def use(self, link: str) -> Page:
        """Open a login link and press its button; keep the cookie."""
        sent = {"link": link.partition("#")[2], "zone": self.zone}
        return await self.request("POST", "/sign-in", data=sent)

    @property
    def secret(self) -> str:
        """The secret of the session."""
        return self.cookies.get(NAME, "")


@dataclass(slots=True)
class SignedIn:
    """The console as JSON for a person who is signed in; nobody for the empty name. It signs in
    with the first request."""

    console: "Console"
    name: str
    tenant: str
    visitor: Visitor | None = None

    async def __call__(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> ApiResponse:
        """Ask. `body` goes as JSON."""
        if self.visitor is None:
            self.visitor = await self.console.visitor(self.name, self.tenant)
        secret = self.visitor.secret
        session = {"Cookie": f"{NAME}={secret}", "X-CSRF-Token": csrf_of(secret)} if secret else {}
        headers = {**session, **more.pop("headers", {})}
        nobody = self.console.program.api_client(self.name, "")
        return await nobody(method, path, body, headers=headers, **more)


@dataclass(frozen=True, slots=True)
class Console:
    """A running program with its console."""

    program: Program
    people: dict[tuple[str, str], SignedIn] = field(default_factory=dict)

    @property
    def app(self) -> App:
        """The program."""
        return self.program.app

    def stranger(self) -> Visitor:
        """A browser that is not signed in."""
        return Visitor(self.app.local.base_url, self.program.http)

    def signed_in(self, name: str, tenant: str = "default") -> SignedIn:
        """The console as JSON for a person who is signed in, always the same session."""
        return self.people.setdefault((name, tenant), SignedIn(self, name, tenant))

    async def link(self, name: str, tenant: str = "default") -> str:
        """A login link of a person, as `/console` sends it."""
        return await self.app.console_sessions.link(tenant, person_named(name))

    async def visitor(self, name: str, tenant: str = "default", zone: str = "UTC") -> Visitor:
        """A browser in a time zone that is signed in as this person; the empty name is nobody."""
        visitor = self.stranger()
        visitor.zone = zone
        if name:
            assert (await visitor.use(await self.link(name, tenant))).status == 303
            visitor.person = name
        return visitor


def person_named(name: str) -> str:
    """Return the `str(PersonId)` of a name; "local" is the operator of the command line."""
    return str(LOCAL_OPERATOR) if name == "local" else f"web:main:{name}"


def console_settings(folder: Path, **sections: Mapping[str, object]) -> Settings:
    """A configuration with an owner (oona), an operator (olga), and two persons (ada, eve)."""
    access = {"owners": ["web:oona"], "operators": ["web:olga"]}
    return settings_in(folder, **{"access": access, **sections})


def on_postgres(server: PostgresServer, folder: Path) -> Sections:
    """The sections for a database of its own on a server."""
    return {
        "database": {"url": migrated_database(server)},
        "storage": {"url": f"sqlite:///{folder}/hot.db"},
        "server": {"port": 0, "token_key": "k" * 40},
    }


@asynccontextmanager
async def console_in(settings: Settings) -> AsyncIterator[Console]:
    """The program with its console, from its start to its end."""
    async with running_app(App(settings), drain=0) as app, aiohttp.ClientSession() as http:
        yield Console(Program(app, http, settings))


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def followed(visitor: Visitor, turn: str) -> AsyncIterator[aiohttp.ClientResponse]:
    """The live updates of a conversation, after the first topic if it may be followed."""
    url = f"{visitor.base}/console/events?follow={turn}"
    cookies = {"Cookie": f"{NAME}={visitor.secret}"} if visitor.secret else {}
    async with visitor.http.get(url, headers=cookies) as response:
        if response.status == 200:  # the page may be older than the stream
            assert await topic(response) == "conversation"
        yield response


async def topic(response: aiohttp.ClientResponse) -> str:
    """The next topic of a stream; empty at its end."""
    async with asyncio.timeout(PATIENCE):
        while line := (await response.content.readline()).decode():
            if line.startswith("event: "):
                return line.removeprefix("event: ").strip()
    return ""


async def sent(console: Console) -> Sequence[Outbound]:
    """Everything that was queued, whatever became of it."""
    box = console.app.storage.hot.outbox
    letters = [one.entry.outbound for one in await box.dead_letters(100)]
    return [one.outbound for one in await box.waiting(100)] + letters


async def page_of(console: Console, name: str, path: str) -> Page:
    """The page of a conversation for a person."""
    return await (await console.visitor(name)).get(f"/conversations/{path}")


async def text_of(console: Console, name: str, path: str) -> str:
    """The text of this page."""
    return (await page_of(console, name, path)).text
