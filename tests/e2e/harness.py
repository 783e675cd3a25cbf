"""A whole Parley in this process, its real client libraries connected to simulated platforms."""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from parley.app import App
from parley.config import from_mapping
from simulators.base import PlatformSimulator, Shown, SimRoom
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.program import running_app
from tests.support.waiting import eventually

Platforms: TypeAlias = Mapping[str, PlatformSimulator]
"""By account: "telegram" for the main one, "telegram/second" for another."""

LIFTED = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}
FAST = {"chat_per_second": 500, "platform_per_second": 1000}


@dataclass(frozen=True, slots=True)
class Lab:
    """A running gateway and the platform it is connected to."""

    app: App
    platform: PlatformSimulator

    async def answer(self, room: SimRoom, *, after: int = 0, timeout: float = PATIENCE) -> Shown:
        """The first message of the bot in the room beyond the first `after` ones."""
        shown = await self.platform.wait_for(
            room, lambda messages: len(by_bot(messages)) > after, timeout
        )
        return by_bot(shown)[after]

    async def answers(self, room: SimRoom, count: int, timeout: float = PATIENCE) -> list[Shown]:
        """The bot's messages in the room, once there are `count`."""
        shown = await self.platform.wait_for(
            room, lambda messages: len(by_bot(messages)) >= count, timeout
        )
        return by_bot(shown)

    async def answered(self, method: str, status: int, timeout: float = PATIENCE) -> None:
        """Return once the platform answered a request of this method with this status."""
        await eventually(
            lambda: status in [c.status for c in self.platform.calls if c.method == method], timeout
        )

    async def waits(self, *kinds: str) -> None:
        """Return once exactly these events are accepted and not answered, in any order."""
        inbox = self.app.services.stores.inbox

        async def as_expected() -> bool:
            waiting = await inbox.unfinished(100)
            return sorted(entry.event.kind for entry in waiting) == sorted(kinds)

        await eventually(as_expected)

    async def quiet(self, room: SimRoom) -> list[Shown]:
        """The bot's messages in the room once the gateway has nothing left to do."""
        await self.idle()
        return by_bot(self.platform.shown(room))

    async def idle(self, timeout: float = PATIENCE) -> None:
        """Return once everything that was accepted is answered and sent."""
        await eventually(self.app.settled, timeout)

    async def stored(self) -> list[str]:
        """Everything people said that is stored, of all conversations, oldest first."""

        def read(db: sqlite3.Connection) -> list[str]:
            rows = db.execute("SELECT text FROM turns WHERE role = 'user' ORDER BY id")
            return [str(text) for (text,) in rows]

        return await self.app.storage.long_lived.run_job(read)

    async def until_stored(self, expected: list[str], timeout: float = PATIENCE) -> None:
        """Return once exactly this is stored of what people said."""

        async def as_expected() -> bool:
            return await self.stored() == expected

        await eventually(as_expected, timeout)

    async def reasons(self, message_id: str, timeout: float = PATIENCE) -> list[str]:
        """Reason codes of the decisions about a message, once they are made and carried out."""
        reasons: list[str] = []

        async def decided() -> bool:
            traces = [t for t in await self.app.decisions(500) if t.message_id == message_id]
            reasons[:] = [decision.reason for trace in traces[:1] for decision in trace.decisions]
            return bool(traces)

        await eventually(decided, timeout)
        await self.idle()
        return reasons


def by_bot(messages: list[Shown]) -> list[Shown]:
    """Return the messages of the bot that it did not delete."""
    return [message for message in messages if message.by_bot and not message.deleted]


@asynccontextmanager
async def simulated(platforms: Platforms) -> AsyncIterator[int]:
    """Started platforms that call webhooks at the port given back."""
    port = free_port()
    async with AsyncExitStack() as stack:
        for name, simulator in platforms.items():
            await simulator.start()
            stack.push_async_callback(simulator.stop)
            simulator.attach(f"http://127.0.0.1:{port}")
            assert name.partition("/")[0] == simulator.platform
        yield port


def configuration(
    platforms: Platforms, folder: Path, port: int, overrides: Mapping[str, object] | None = None
) -> dict[str, object]:
    """The whole configuration of a gateway that is connected to these platforms."""
    sections: dict[str, dict[str, object]] = {}
    for name, simulator in platforms.items():
        platform, _, account = name.partition("/")
        if account:
            accounts = sections.setdefault(platform, {}).setdefault("accounts", {})
            assert isinstance(accounts, dict)
            accounts[account] = simulator.settings()
        else:
            sections.setdefault(platform, {}).update(simulator.settings())
    return {
        "model": {"provider": "offline"},
        "platforms": sections,
        "limits": LIFTED,
        "delivery": FAST,
        "database": {"url": f"sqlite:///{folder}/parley.db"},
        "webhooks": {"port": port},
        "server": {"port": 0},
        **(overrides or {}),
    }


@asynccontextmanager
async def app_on(
    platforms: Platforms, folder: Path, port: int, overrides: Mapping[str, object] | None = None
) -> AsyncIterator[App]:
    """A gateway on platforms that run already; its database stays in `folder` when it ends."""
    settings = from_mapping(configuration(platforms, folder, port, overrides))
    async with running_app(App(settings)) as app:
        assert not app.supervisor.errors, app.supervisor.errors
        for simulator in platforms.values():
            await simulator.wait_connected()
        yield app


@asynccontextmanager
async def running_as_processes(
    roles: Sequence[Literal["adapter", "worker"]],
    simulator: PlatformSimulator,
    folder: Path,
    overrides: Mapping[str, object],
) -> AsyncIterator[None]:
    """An application for each role, as if each were a process, behind one platform."""
    platforms = {simulator.platform: simulator}
    async with simulated(platforms) as port, AsyncExitStack() as stack:
        settings = from_mapping(configuration(platforms, folder, port, overrides))
        for role in roles:
            await stack.enter_async_context(running_app(App(settings, role=role), drain=1))
        await simulator.wait_connected()
        yield


@asynccontextmanager
async def running(
    platforms: Platforms, folder: Path, overrides: Mapping[str, object] | None = None
) -> AsyncIterator[App]:
    """A gateway connected to these platforms, which are started and stopped as well."""
    async with simulated(platforms) as port, app_on(platforms, folder, port, overrides) as app:
        yield app
