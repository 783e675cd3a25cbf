"""The whole program with its HTTP interface, and people with tokens of their own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Principal, Role
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from memory.service.handle import MemoryHandle
from parley.app import App
from parley.config import Settings, from_mapping
from parley.http.api import PREFIX
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue, person_of
from tests.support.databases import migrated_database
from tests.support.program import running_app
from tests.support.servers import PostgresServer

ROOM = Place("web", "main", "general", Audience.PUBLIC_ROOM, "guild")
PROJECT = "web:main:guild"


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    json: Any

    @property
    def code(self) -> str:
        """The code of the refusal."""
        return str(self.json["error"]["code"])

    @property
    def where(self) -> str:
        """The part of the request that is wrong."""
        return str(self.json["error"]["where"])


@dataclass(frozen=True, slots=True)
class ApiClient:
    """Somebody who calls the interface with a token, an empty one for none."""

    program: "Program"
    name: str
    token: str

    async def __call__(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> ApiResponse:
        """Ask. `body` goes as JSON; `data` and `headers` are as aiohttp takes them."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= more.pop("headers", {})
        if body is not None:
            more["json"] = body
        url = self.program.app.local.base_url + PREFIX + path
        async with self.program.http.request(method, url, headers=headers, **more) as answer:
            held = await answer.json() if answer.content_type == "application/json" else None
            return ApiResponse(answer.status, answer.headers, held)

    @property
    def principal(self) -> Principal:
        """Return the person."""
        return Principal("default", person_of(f"web:main:{self.name}"), Role.MEMBER)

    async def in_room(self) -> MemoryHandle:
        """Their memory in the room: once there, they were seen in the room's project."""
        assert self.program.app.memory.memory is not None
        return await self.program.app.memory.memory.for_principal(self.caller(ROOM))

    async def in_private(self) -> MemoryHandle:
        """Their memory in a direct conversation."""
        assert self.program.app.memory.memory is not None
        place = replace(ROOM, audience=Audience.DIRECT, workspace_id="", channel_id=self.name)
        return await self.program.app.memory.memory.for_principal(self.caller(place))

    def caller(self, place: Place) -> Caller:
        at = SystemClock().now()
        return Caller("turn", self.principal, self.name, place, place.channel_id, at)


@dataclass(frozen=True, slots=True)
class Program:
    """A running one."""

    app: App
    http: aiohttp.ClientSession
    settings: Settings

    def token(
        self,
        name: str,
        *,
        days: float = 1,
        tenant: str = "default",
        known: str = "",
        agent: str = "",
        scopes: frozenset[TokenScope] = EVERY_SCOPE,
    ) -> str:
        """Return the output of `parley token`."""
        until = SystemClock().now() + timedelta(days=days)
        key = token_key(self.settings).get_or_create()
        person = person_of(f"web:main:{name}")
        return issue(key, TokenClaims(person, tenant, until, known, scopes, agent))

    def api_client(self, name: str, token: str | None = None) -> ApiClient:
        """Somebody with this token, or one of their own."""
        return ApiClient(self, name, self.token(name) if token is None else token)


def settings_in(folder: Path, **sections: Mapping[str, object]) -> Settings:
    """A configuration with its database in `folder`; olga is an operator."""
    document: dict[str, Mapping[str, object]] = {
        "model": {"provider": "offline"},
        "platforms": {"web": {"enabled": True}},
        "database": {"url": f"sqlite:///{folder}/parley.db"},
        "server": {"port": 0},
        "webhooks": {"port": 0},
        "limits": {"api_per_minute": 0, "agent_per_minute": 0},
        "access": {"operators": ["web:olga"]},
    }
    return from_mapping({**document, **sections})


def postgres_settings_in(folder: Path, server: PostgresServer) -> Settings:
    """The same with a database of its own on a PostgreSQL server."""
    return settings_in(
        folder,
        database={"url": migrated_database(server)},
        storage={"url": f"sqlite:///{folder}/hot.db"},
        server={"port": 0, "token_key": "k" * 40},
    )


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Program]:
    """The program, from its start to its end."""
    async with running_app(App(settings), drain=0) as app, aiohttp.ClientSession() as http:
        yield Program(app, http, settings)
