"""The parts of the program that views and actions of the console use."""

import uuid
from datetime import UTC, timedelta
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.message import Place
from gateway.outbound.pictures import Pictures
from gateway.outbound.room_names import RoomNames
from gateway.people import Audience
from gateway.ports.memory import Caller
from gateway.stores.usage import SpendingReader
from gateway.text import text
from gateway.turn.services import Services
from gateway.zones import zone_named
from memory.actions.call import MemoryCall
from memory.service.handle import MemoryHandle
from parley.config import Settings
from parley.console.jobs import ConsoleJobs
from parley.console.playgrounds import Playgrounds
from parley.console.sessions import Sessions
from parley.console.viewer import Viewer
from parley.http.api.authentication import PLATFORM
from parley.http.api.errors import CallRefused
from parley.runtime.health import HealthMonitor, RecentActivity
from parley.runtime.heartbeats import Heartbeats
from parley.runtime.restart import Restart
from parley.wiring.heartbeats import wire_heartbeats
from parley.wiring.live_configuration import LiveConfiguration
from parley.wiring.memory import WiredMemory
from parley.wiring.observe import AuditSink
from parley.wiring.storage import Storage

WRITTEN: Final = timedelta(seconds=1)
MEMORY_OFF: Final = text("Memory is off: the operator set memory.enabled.")


class ConsoleServices(Struct, frozen=True):
    """The running program as the console sees it. `gateway` are the services of turns (clock,
    policies, stores, pairing, admissions), `storage` every store, `memory` the memory with its
    agents; `audit` appends to the audit log, `playgrounds` and `jobs` are those of this process,
    `configuration` has the overrides, `rooms` asks the platforms for the names of rooms,
    `pictures` for pictures; `restart` starts this process anew, where that is possible."""

    settings: Settings
    gateway: Services
    storage: Storage
    memory: WiredMemory
    health: HealthMonitor
    activity: RecentActivity
    sessions: Sessions
    audit: AuditSink
    playgrounds: Playgrounds
    configuration: LiveConfiguration
    jobs: ConsoleJobs
    rooms: RoomNames
    pictures: Pictures
    restart: Restart | None = None

    @property
    def spending(self) -> SpendingReader:
        """Reads what people and models cost."""
        parts = self.gateway
        budgets = parts.policies.budgets
        return SpendingReader(parts.stores.usage, parts.identities, lambda: budgets, parts.clock)

    @property
    def heartbeats(self) -> Heartbeats | None:
        """The sources of the status of projects; None without memory."""
        parts = self.gateway
        return wire_heartbeats(
            self.settings, self.storage, self.memory.sync, parts.extensions, parts.clock
        )

    async def check_sending(self) -> None:
        """Raise `StoreUnavailable` while no message can be queued. Called before an action that is
        recorded first and sent afterwards: refused here, it has no effect and no entry in the
        audit, however often it is repeated."""
        await self.storage.hot.buckets.claim("console:sending", WRITTEN)

    async def memory_of(self, viewer: Viewer) -> MemoryHandle:
        """Return the viewer's memory, as in a direct conversation. Raises `CallRefused` (404) where
        memory is off, and `StoreUnavailable`."""
        if self.memory.memory is None:
            raise CallRefused("memory_off", MEMORY_OFF)
        return await self.memory.memory.for_principal(self.caller_of(viewer))

    async def call_of(self, viewer: Viewer) -> MemoryCall:
        """Return a call of the viewer, raising as `memory_of` does."""
        return MemoryCall(viewer.proof, await self.memory_of(viewer))

    async def caller_at_home(self, viewer: Viewer) -> Caller:
        """Return the viewer as a caller in their own direct conversation with the assistant, where
        it is known. Raises `StoreUnavailable`."""
        caller = self.caller_of(viewer)
        places = self.storage.memory.direct_places
        place = (await places.contact(viewer.tenant, viewer.person)).place
        return caller if place is None else replace(caller, place=place)

    def caller_of(self, viewer: Viewer) -> Caller:
        """Return the viewer as a caller in a direct conversation."""
        person = viewer.principal.person
        return Caller(
            id=str(uuid.uuid4()),
            principal=viewer.principal,
            name="",
            place=Place(PLATFORM, person.account, str(person), Audience.DIRECT),
            conversation=f"{PLATFORM}/{person}",
            at=self.gateway.clock.now(),
            client=not viewer.session,
            zone=zone_named(viewer.zone) or UTC,
            languages=(viewer.language, self.gateway.policies.languages.default),
        )
