"""The program that is attacked: every platform, one model without judgement, one hostile tool."""

import asyncio
import gc
import io
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Final, Literal
from unittest.mock import patch

import aiohttp

from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.observe.logs import configure_logs
from gateway.people import DEFAULT_TENANT, PersonId
from parley.app import App
from parley.config import from_mapping
from parley.config.secrets import secret_values
from parley.runtime.gc_and_heap import freeze_startup_objects
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator, SimPerson
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.attacks.hostile_model import DIALECTS, PROVIDERS, HostileModel
from tests.attacks.model import ObedientModel
from tests.attacks.spying import CountingServer
from tests.e2e.harness import configuration, simulated
from tests.support.patience import LAUNCH, PATIENCE
from tests.support.waiting import eventually

Kind = Literal[
    "open", "limited", "approved", "backend", "repositories", "chat", "responses", "messages"
]
"""`open`: limits are lifted, so that many attacks run fast. `limited`: the default limits.
`approved`: members and operators may write, everybody else needs an approval. `backend`: memories
are in a memory backend that returns everything to everybody, and hangs. `repositories`: as `open`,
with repositories that limit what clients may do. `chat`, `responses`, `messages`: as `open`, with a
hostile server of the model, for each API."""

BELIEVED_SECONDS: Final = 0.3
"""The time for which the program believes a platform that somebody is a member; a minute
otherwise."""
MEMBERS: Final = 1_000
"""People of each platform that are members; everybody else is a guest."""
OPERATOR: Final = "Olga"
OWNER: Final = "Oona"
"""The owner, on Telegram."""
SECOND: Final = "telegram/second"
"""Another tenant's account of a platform."""
PROGRAM: Final = Path(__file__).with_name("tool_server.py")


class ByAccount:
    """Implements `TenantProvider`: the account `second` belongs to another tenant."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        """The tenant of a place."""
        return "other" if place.account == "second" else DEFAULT_TENANT

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """The tenant's own rows."""
        return {"tenant_id": tenant_id}


@dataclass
class Stage:
    """The running program and everybody around it. `hits` counts requests to a server that nothing
    may call; `notes` is the file that the tool with side effects writes; `anthropic` serves the
    model."""

    app: App
    platforms: Mapping[str, PlatformSimulator]
    model: ObedientModel
    hits: CountingServer
    notes: Path
    http: aiohttp.ClientSession
    log: io.StringIO
    folder: Path
    anthropic: AnthropicSimulator
    hostile: HostileModel | None = None
    members: int = 1
    scenes: int = 0
    projects: dict[str, str] = field(default_factory=dict)

    @cached_property
    def secrets(self) -> list[str]:
        """Everything configured that nobody may read."""
        return [value for value in secret_values(self.app.settings) if len(value) > 5]


def _platforms() -> dict[str, PlatformSimulator]:
    discord = DiscordSimulator()
    discord.set_interaction_deadline(PATIENCE)
    second = TelegramSimulator(
        "polling", token="7000000002:simulated-telegram-bot-token-000002", username="second_bot"
    )
    return {
        "discord": discord,
        "slack": SlackSimulator("http"),
        "telegram": TelegramSimulator("webhook"),
        "whatsapp": WhatsAppSimulator(),
        SECOND: second,
    }


def _people(platforms: Mapping[str, PlatformSimulator]) -> dict[str, object]:
    """Members, operators and one blocked person, who have to be configured before the start."""
    members: list[str] = []
    operators: list[str] = []
    for name, platform in platforms.items():
        if name == SECOND:
            continue
        people = [platform.person(f"member {number}") for number in range(MEMBERS)]
        members += [f"{name}:{person.id}" for person in people]
        operators.append(f"{name}:{platform.person(OPERATOR).id}")
    second = platforms[SECOND].person(OPERATOR)
    whatsapp = platforms["whatsapp"]
    assert isinstance(whatsapp, WhatsAppSimulator)
    blocked = whatsapp.world.of(whatsapp.person("blocked"))
    return {
        "default_role": "guest",
        "members": members,
        "operators": [*operators, f"telegram:{second.id}"],
        "blocked_users": [f"whatsapp:{blocked.phone}"],
    }


def _settings(
    kind: Kind,
    platforms: Mapping[str, PlatformSimulator],
    folder: Path,
    port: int,
    model: AnthropicSimulator,
    hits: CountingServer,
    database: str,
    hostile: HostileModel | None,
) -> dict[str, object]:
    whole = configuration(platforms, folder, port)
    section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    whole["model"] = section
    if hostile is not None:
        limits = {"first_token_seconds": 5, "between_tokens_seconds": 5, "turn_seconds": 10}
        choice = {"name": "hostile", "api_key": model.api_key, "base_url": hostile.base_url}
        whole["model"] = {**PROVIDERS[hostile.dialect], **choice, **limits, "retry_seconds": 1}
    whole["access"] = _people(platforms)
    if kind == "open":
        owner = platforms["telegram"].person(OWNER)
        whole["access"] = {**_people(platforms), "owners": [f"telegram:{owner.id}"]}
    whole["appointments"] = {"enabled": True, "per_person": 5}
    tool = {"command": sys.executable, "args": [str(PROGRAM), str(folder)]}
    whole["mcp"] = {"servers": {"hostile": tool}}
    # Hosts that are listed by mistake: what they lead to is the operator's own network.
    whole["grounding"] = {
        "hosts": [f"localhost:{hits.port}", f"127.0.0.1:{hits.port}", "docs.example.org"]
    }
    platform_sections = whole["platforms"]
    assert isinstance(platform_sections, dict)
    platform_sections["web"] = {"enabled": True}
    if database:
        whole["database"] = {"url": database}
        whole["storage"] = {"url": f"sqlite:///{folder}/state.db"}
        whole["server"] = {"port": 0, "token_key": secrets.token_hex(32)}
    if kind == "approved":
        people = _people(platforms)
        whole["access"] = {**people, "admission": "approved", "allowed_users": people["members"]}
    if kind == "backend":
        load = {"leaky": "tests.attacks.leaky_backend:backend"}
        whole["memory"] = {"backend": "leaky", "backend_load": load}
    if kind == "limited":
        del whole["limits"]
        whole["budgets"] = {"user_per_day": 0.5}
    return whole


@asynccontextmanager
async def staged(kind: Kind, folder: Path, database: str = "") -> AsyncIterator[Stage]:
    """The program, from its start to its end. `database` is a PostgreSQL URL, empty for SQLite."""
    platforms, model = _platforms(), ObedientModel()
    log = io.StringIO()
    async with AsyncExitStack() as stack:
        server = AnthropicSimulator(api_key="canary-" + secrets.token_hex(12), reply=model)
        await server.start()
        stack.push_async_callback(server.stop)
        hits = await stack.enter_async_context(CountingServer.started())
        port = await stack.enter_async_context(simulated(platforms))
        hostile: HostileModel | None = None
        if kind in DIALECTS:
            hostile = await stack.enter_async_context(HostileModel.started(kind))
            await asyncio.to_thread(import_module, "anthropic")  # not within a time limit of a call
        settings = _settings(kind, platforms, folder, port, server, hits, database, hostile)
        believed = timedelta(seconds=BELIEVED_SECONDS)
        stack.enter_context(patch("gateway.outbound.membership.BELIEVED_FOR", believed))
        app = App(from_mapping(settings), extensions=ExtensionRegistry(tenant_provider=ByAccount()))
        configure_logs("json", logging.INFO, stream=log)
        await app.start()
        stack.push_async_callback(app.stop)
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        freeze_startup_objects()  # as `parley run` does
        assert not app.supervisor.errors, app.supervisor.errors
        for platform in platforms.values():
            await platform.wait_connected()
        await _tools_connected(app)
        http = await stack.enter_async_context(aiohttp.ClientSession())
        notes = folder / "notes.txt"
        stage = Stage(app, platforms, model, hits, notes, http, log, folder, server, hostile)
        yield stage


async def _tools_connected(app: App) -> None:
    """The tool's program has started: a question that comes earlier is answered without tools."""

    async def offered() -> bool:
        return any("hostile" in tool.name for tool in await app.services.toolbox.tools())

    await eventually(offered, LAUNCH)


def operator(stage: Stage, platform: str) -> SimPerson:
    """The operator on a platform."""
    return stage.platforms[platform].person(OPERATOR)
