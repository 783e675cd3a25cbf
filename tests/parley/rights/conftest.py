"""One running program with every platform, and callers of every kind."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from gateway.people import Role
from gateway.ports.clock import SystemClock
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from memory.agents.model import Capability
from parley.app import App
from parley.config import from_mapping
from parley.console.security import NAME
from parley.console.sessions import csrf_of
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue, person_of
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import LIFTED, configuration, simulated
from tests.parley.rights.callers import CallerOf
from tests.support.program import running_app

SERVER_TOKEN = "a-token-of-the-listener-0123456789"
PEOPLE = {"gus": Role.GUEST, "ada": Role.MEMBER, "olga": Role.OPERATOR, "oona": Role.OWNER}
EVERYTHING = frozenset(Capability)
READS, WRITES = frozenset({TokenScope.READ}), frozenset({TokenScope.WRITE})


@dataclass(frozen=True, slots=True)
class Program:
    """A running one."""

    app: App
    http: aiohttp.ClientSession

    @property
    def base(self) -> str:
        """The address of the local listener."""
        return self.app.local.base_url

    def token(self, name: str, scopes: frozenset[TokenScope] = EVERY_SCOPE, agent: str = "") -> str:
        """A token of a person, or of an agent of theirs."""
        until, person = SystemClock().now() + timedelta(days=1), person_of(f"web:main:{name}")
        claims = TokenClaims(person, "default", until, scopes=scopes, agent=agent)
        return issue(token_key(self.app.settings).get_or_create(), claims)

    async def agent(self, name: str, **body: object) -> str:
        """The id of a new agent of a person."""
        url, headers = f"{self.base}/api/v1/brain/agents", _bearer(self.token(name))
        async with self.http.post(url, json=body, headers=headers) as answer:
            assert answer.status == 201, await answer.text()
            return str((await answer.json())["id"])

    async def agents(self) -> Sequence[CallerOf]:
        """Callers with the token of an agent of the owner: with every capability, with a token that
        reads or writes, and with one capability less at a time."""
        whole = await self.agent("oona", type="human")
        made = [
            CallerOf(f"agent token {told}", "agent", _bearer(self.token("oona", scopes, whole)),
                     Role.OWNER, scopes, EVERYTHING)
            for told, scopes in (("", EVERY_SCOPE), ("that reads", READS), ("that writes", WRITES))
        ]  # fmt: skip
        for one in Capability:
            left = EVERYTHING - {one}
            id_ = await self.agent("oona", type="human", capabilities=sorted(left))
            headers = _bearer(self.token("oona", agent=id_))
            name = f"agent without {one}"
            made.append(CallerOf(name, "agent", headers, Role.OWNER, EVERY_SCOPE, left))
        return made

    async def session(self, name: str) -> str:
        """The secret of a new session of a person."""
        sessions = self.app.console_sessions
        link = await sessions.link("default", f"web:main:{name}")
        made = await sessions.sign_in(link.partition("#")[2], "test", "UTC")
        assert made is not None
        return made[0]

    async def callers(self) -> Sequence[CallerOf]:
        """Callers of every kind."""
        made = [
            CallerOf("nobody", "nobody", {}),
            CallerOf("a wrong token", "wrong token", _bearer(self.token("oona") + "x")),
            CallerOf("server.token", "server.token", _bearer(SERVER_TOKEN)),
        ]
        for name, role in PEOPLE.items():
            cookie, form = await self.cookie(name)
            for told, scopes in (("token", EVERY_SCOPE), ("token that reads", READS)):
                headers = _bearer(self.token(name, scopes))
                made.append(CallerOf(f"{role} {told}", "token", headers, role, scopes))
            made.append(CallerOf(f"{role} session", "session", cookie, role, form=form))
        cookie, _ = await self.cookie("oona")
        writes = _bearer(self.token("oona", WRITES))
        both = {**_bearer(self.token("oona")), **cookie}
        return [
            *made,
            *await self.agents(),
            CallerOf("owner token that writes", "token", writes, Role.OWNER, WRITES),
            CallerOf("owner session without form", "no form", cookie, Role.OWNER),
            CallerOf("owner token and cookie", "both", both, Role.OWNER, EVERY_SCOPE),
        ]

    async def cookie(self, name: str) -> tuple[dict[str, str], str]:
        """The header of a new session of a person, and the token of its forms."""
        secret = await self.session(name)
        return {"Cookie": f"{NAME}={secret}"}, csrf_of(secret)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def program(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    folder: Path = tmp_path_factory.mktemp("rights")
    platforms: dict[str, PlatformSimulator] = {
        "discord": DiscordSimulator(),
        "slack": SlackSimulator("http"),
        "telegram": TelegramSimulator("webhook"),
        "whatsapp": WhatsAppSimulator(),
    }
    async with simulated(platforms) as port, aiohttp.ClientSession() as http:
        overrides: dict[str, object] = {
            "server": {"port": 0, "token": SERVER_TOKEN},
            "limits": {**LIFTED, "api_per_minute": 0, "agent_per_minute": 0},
            "access": {
                "owners": ["web:oona"],
                "operators": ["web:olga"],
                "members": ["web:ada"],
                "default_role": "guest",
                "admission": "approved",
                "allowed_users": ["web:gus", "web:ada"],
            },
        }
        whole = configuration(platforms, folder, port, overrides)
        sections = whole["platforms"]
        assert isinstance(sections, dict)
        sections["web"] = {"enabled": True}
        async with running_app(App(from_mapping(whole))) as app:
            assert not app.supervisor.errors, app.supervisor.errors
            for simulator in platforms.values():
                await simulator.wait_connected()
            yield Program(app, http)
