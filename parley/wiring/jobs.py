"""Builds the background jobs of a process: deletion of old data, expiry, status, consolidation,
vectors and the index of turns."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.extensions import ExtensionRegistry
from gateway.inbound.conversation_queues import ConversationQueues
from gateway.inbound.crash_loop_guard import Quarantine
from gateway.llm.calibration import PersistentCalibrations
from gateway.outbound.expiring_buttons import EVERY as BUTTONS_EVERY
from gateway.ports import Clock, Counter
from gateway.turn.access_notices import AccessNotices
from gateway.turn.due_appointments import Accept
from gateway.turn.proactive import ProactiveNotices, ProactiveSender
from gateway.turn.services import Services
from memory.commands.handoffs import HandoffNotices
from memory.commands.invitations import InvitationNotices
from memory.commands.link import expired
from memory.embeddings.backfill import EmbeddingBackfill
from memory.service.links import Links
from parley.config import Settings
from parley.runtime import Role
from parley.runtime.appointments import Appointments
from parley.runtime.background import Background, BackgroundJob
from parley.runtime.heartbeats import Heartbeats
from parley.runtime.housekeeping import Chore, Housekeeping
from parley.wiring.agents import webhook_delivery
from parley.wiring.appointments import wire_appointments
from parley.wiring.heartbeats import wire_heartbeats
from parley.wiring.knowledge import ProgramIndex, chunk_embedding
from parley.wiring.live_configuration import LiveConfiguration
from parley.wiring.memory import WiredMemory
from parley.wiring.recall import RecallModels
from parley.wiring.retention import storage_chores
from parley.wiring.storage import Storage

ACCESS_EVERY: Final = 3.0
"""Seconds until owners and approvals of other processes count, and people are told."""
HANDOFFS_EVERY: Final = 3.0
"""Seconds until a task of an agent is offered to a person, or ends."""
WEBHOOKS_EVERY: Final = 2.0
"""Seconds between two checks for agent events to send."""
PROACTIVE_EVERY: Final = 5.0
"""Seconds between two checks for messages that have waited long enough."""
LINKS_EVERY: Final = 20.0
"""Seconds between two checks for expired links."""


class Jobs(Struct, frozen=True):
    """The jobs of one process; a job is None where it is off or belongs to other processes."""

    housekeeping: Housekeeping
    button_expiry: Housekeeping
    access: Housekeeping
    proactive: Housekeeping | None = None
    link_expiry: Housekeeping | None = None
    handoffs: Housekeeping | None = None
    webhooks: Housekeeping | None = None
    heartbeats: Heartbeats | None = None
    consolidation: Background | None = None
    embedding: Background | None = None
    chunk_embedding: Background | None = None
    turn_index: Background | None = None
    appointments: Appointments | None = None

    @property
    def active(self) -> list[BackgroundJob]:
        """The jobs of this process, in the order in which they start and stop."""
        jobs = (
            self.housekeeping,
            self.button_expiry,
            self.access,
            self.proactive,
            self.link_expiry,
            self.handoffs,
            self.webhooks,
            self.heartbeats,
            self.consolidation,
            self.embedding,
            self.chunk_embedding,
            self.turn_index,
            self.appointments,
        )
        return [job for job in jobs if job is not None]


class JobParts(Struct, frozen=True):
    """The parts of the program that jobs use."""

    settings: Settings
    storage: Storage
    memory: WiredMemory
    models: RecallModels
    services: Services
    queues: ConversationQueues
    calibrations: PersistentCalibrations
    guard: Quarantine
    count: Counter
    clock: Clock
    configuration: LiveConfiguration
    accept: Accept
    repositories: ProgramIndex | None = None


def build_jobs(parts: JobParts, role: Role, extensions: ExtensionRegistry) -> Jobs:
    """The jobs of a process with this role."""
    guard, clock, deliverer = parts.guard, parts.clock, parts.services.deliverer
    chores = {
        "quarantine": guard.refresh,
        **storage_chores(parts.storage, parts.settings, clock),
        **parts.memory.chores,
        "counting": parts.calibrations.save,
    }
    housekeeping = Housekeeping(chores, clock, guard)
    buttons = {"buttons": deliverer.expiring.remove_expired}
    button_expiry = Housekeeping(buttons, clock, guard, every=BUTTONS_EVERY)
    heartbeats = wire_heartbeats(
        parts.settings, parts.storage, parts.memory.sync, extensions, clock, guard
    )
    if role == "adapter":
        return Jobs(housekeeping, button_expiry, _access(parts, notices=False))
    return Jobs(
        housekeeping,
        button_expiry,
        _access(parts, notices=True),
        _proactive(parts),
        _link_expiry(parts),
        _handoffs(parts),
        _webhooks(parts),
        heartbeats,
        _consolidation(parts),
        _embedding(parts),
        _chunk_embedding(parts),
        _turn_index(parts),
        wire_appointments(parts.services, parts.storage, parts.accept),
    )


def _access(parts: JobParts, *, notices: bool) -> Housekeeping:
    """Reads the stored owners and the overrides of the configuration again, and with `notices`
    tells people about requests and approvals; a process for one platform cannot reach the
    others."""
    services = parts.services
    chores = {
        "owners": _single(services.admissions.refresh),
        "overrides": _single(parts.configuration.refresh),
    }
    if notices and services.policies.access.admission == "approved":
        due = AccessNotices(services, parts.storage.admissions)
        chores["access_notices"] = _single(due.send_due)
    return Housekeeping(chores, parts.clock, parts.guard, every=ACCESS_EVERY)


def _proactive(parts: JobParts) -> Housekeeping:
    """Decides again about what the assistant writes first, and what waits."""
    chores = {"proactive": _single(ProactiveSender(parts.services).release)}
    return Housekeeping(chores, parts.clock, parts.guard, every=PROACTIVE_EVERY)


def _single(step: Callable[[], Awaitable[object]]) -> Chore:
    """A chore that has done its work after one step. It says nothing about an unavailable store,
    which health and every message report, because it runs every few seconds."""

    async def once() -> int:
        with suppress(StoreUnavailable):
            await step()
        return 0

    return once


def _link_expiry(parts: JobParts) -> Housekeeping | None:
    if parts.memory.links is None:
        return None
    notices = ProactiveNotices(parts.services)
    chores = {"links": _expire_links(parts.memory.links, notices)}
    return Housekeeping(chores, parts.clock, parts.guard, every=LINKS_EVERY)


def _expire_links(links: Links, notices: ProactiveNotices) -> Chore:
    """A chore that ends links which were not confirmed in time, and notifies both sides."""

    async def expire() -> int:
        requests = await links.expire()
        for request in requests:
            await notices.send(f"link-{request.id}-expired", expired(request))
        return len(requests)

    return expire


def _handoffs(parts: JobParts) -> Housekeeping | None:
    """Offers tasks of agents to people, ends those whose time is over, and tells people of
    invitations of their agents."""
    agents, services = parts.memory.agents, parts.services
    if agents is None:
        return None
    stores = parts.storage.memory
    notices = ProactiveNotices(services)
    reach = (
        stores.direct_places,
        agents.people.served,
        notices.send,
        parts.clock,
        parts.storage.people_names.of,
    )
    offers = HandoffNotices(stores.handoffs, *reach)
    invitations = InvitationNotices(stores.invitations, *reach)
    chores = {
        "pool_invitations": _single(invitations.send_due),
        "handoff_offers": _single(offers.send_due),
        "handoff_expiry": _single(agents.handoffs.expire),
    }
    return Housekeeping(chores, parts.clock, parts.guard, every=HANDOFFS_EVERY)


def _webhooks(parts: JobParts) -> Housekeeping | None:
    """Sends agent events to the configured webhooks."""
    delivery = webhook_delivery(parts.settings, parts.storage.memory, parts.clock)
    if delivery is None:
        return None
    chores = {"webhooks": delivery.step}
    return Housekeeping(chores, parts.clock, parts.guard, every=WEBHOOKS_EVERY)


def _consolidation(parts: JobParts) -> Background | None:
    consolidation = parts.memory.consolidation
    return _background(parts, consolidation.step, "consolidating") if consolidation else None


def _embedding(parts: JobParts) -> Background | None:
    models, memories = parts.models, parts.storage.memory.memories
    if models.behind is None:
        return None
    work = EmbeddingBackfill(
        memories, models.behind, parts.clock, parts.count, models.warm, parts.guard
    )
    return _background(parts, work.step, "embedding")


def _chunk_embedding(parts: JobParts) -> Background | None:
    index = parts.repositories
    if index is None:
        return None
    step = chunk_embedding(
        parts.settings, index, parts.models, parts.clock, parts.count, parts.guard
    )
    return _background(parts, step, "embedding chunks") if step else None


def _turn_index(parts: JobParts) -> Background | None:
    """Indexes new turns in SQLite; PostgreSQL does it itself."""
    if parts.settings.database.url.startswith("postgresql://"):
        return None
    return _background(parts, parts.storage.conversation_views.index, "indexing turns")


def _background(parts: JobParts, step: Callable[[], Awaitable[int]], name: str) -> Background:
    queues = parts.queues
    return Background(step, parts.clock, name, lambda: queues.waiting, lambda: queues.running)
