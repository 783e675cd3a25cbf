"""A real Discord adapter, its simulator, and everything it hands over."""

from collections import Counter as Tally
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from adapters.discord.connection import DiscordAdapter
from adapters.discord.manifest import DiscordSettings
from gateway.message import Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import AdapterContext, AdapterState, CommandSpec
from gateway.ports.adapter import CommandLanguages
from gateway.ports.clock import SystemClock
from gateway.ports.rights import IN_CHAT
from simulators.base import SimRoom
from simulators.discord import DiscordSimulator
from tests.support.adapter_context import EventRecorder, MemoryState, NoWebhooks
from tests.support.patience import PATIENCE

COMMANDS = (
    CommandSpec("ask", "Ask a question", takes_arguments=True, allowed=IN_CHAT),
    CommandSpec("context", "Show the conversation", allowed=IN_CHAT),
)
Event = TypeVar("Event")


class Rig:
    """One connected account."""

    def __init__(
        self,
        sim: DiscordSimulator,
        account: str = "main",
        state: AdapterState | None = None,
        languages: CommandLanguages | None = None,
        **settings: object,
    ) -> None:
        self.sim = sim
        self.inbox = EventRecorder()
        self.counted: Tally[tuple[str, str]] = Tally()
        context = AdapterContext(
            account=account,
            assistant_name="Assistant",
            clock=SystemClock(),
            state=state or MemoryState(),
            webhooks=NoWebhooks(),
            count=self._count,
            commands=COMMANDS,
            command_languages=languages,
        )
        self.settings = DiscordSettings.model_validate(sim.settings() | settings)
        self.adapter = DiscordAdapter(self.settings, context)

    def _count(self, what: str, detail: str = "") -> None:
        self.counted[what, detail] += 1

    def place(self, room: SimRoom) -> Place:
        """The place of an answer that belongs into the room."""
        audience = Audience.DIRECT if room.kind == "direct" else Audience.PUBLIC_ROOM
        return Place("discord", self.adapter.account, room.id, audience, thread_id=room.thread_id)


def text(key: str, place: Place, content: str, **more: object) -> Outbound:
    """An outbound text."""
    return Outbound(key, place, Part(content, content), **more)  # type: ignore[arg-type]  # test data


@asynccontextmanager
async def connected(
    sim: DiscordSimulator,
    account: str = "main",
    state: AdapterState | None = None,
    languages: CommandLanguages | None = None,
    **settings: object,
) -> AsyncIterator[Rig]:
    """A connected rig, and a clean end."""
    rig = Rig(sim, account, state, languages, **settings)
    await rig.adapter.connect(rig.inbox)
    try:
        yield rig
    finally:
        await rig.adapter.disconnect()


async def begun_anew(sim: DiscordSimulator, gone: str) -> None:
    """Return once a client listens in another session than the one that is gone."""

    def another() -> bool:
        sessions = (line.session for line in sim.gateway.connections)
        return any(one and one.introduced and one.id != gone for one in sessions)

    await sim.wait_until(another, PATIENCE)
