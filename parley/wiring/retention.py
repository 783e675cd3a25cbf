"""The periods for which data is kept, and the chores that delete it afterwards.

Two kinds of data have their periods elsewhere: that of the hot state (`gateway/ports/queues.py`,
`gateway/inbound/crash_loop_guard.py`), and that of agents (`memory/agents/`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.ports import Clock
from gateway.stores.usage import SUM_AFTER
from memory.stores.audit import Audit
from parley.config import Settings
from parley.runtime.housekeeping import Chore
from parley.wiring.storage import MemoryStores, Storage

KEEP_TRACES: Final = timedelta(days=30)
"""Also for archived conversations."""
KEEP_REFUSALS: Final = timedelta(days=1)
KEEP_FEEDBACK: Final = timedelta(days=90)
KEEP_READING: Final = timedelta(days=365)
"""For the records of who read somebody's private text or took their conversation over."""
KEEP_LANGUAGES: Final = timedelta(days=365)
"""Since a person wrote last, within a month."""
KEEP_ENDED: Final = timedelta(days=30)
"""For appointments whose last time is over, and paused ones."""
KEEP_COUNTS: Final = timedelta(days=3)
"""For the counts of a day, which may be another day in the zone of a person."""
KEEP_USAGE: Final = timedelta(days=400)
"""A year, and the month with which it is compared. Budgets cover a month at most."""
NEVER: Final = datetime.fromtimestamp(0, UTC)
"""A time before any memory expired or was replaced."""


def storage_chores(storage: Storage, settings: Settings, clock: Clock) -> Mapping[str, Chore]:
    """The chores that delete expired data of all stores except memories, by the name of the store.
    Usage is summed by day before anything of it is deleted."""
    stores = storage.stores
    conversations_for = timedelta(hours=settings.context.ttl_hours)
    caught_up_for = timedelta(days=settings.catchup.keep_days)
    calls_for = timedelta(days=settings.budgets.detail_days)
    return {
        **storage.hot.chores,
        "usage_days": lambda: storage.usage_days.sum_up(clock.now() - SUM_AFTER),
        "conversations": lambda: stores.conversations.prune(clock.now() - conversations_for),
        "conversation_index": storage.conversation_views.maintain,
        "archive": lambda: storage.conversation_views.prune(clock.now() - KEEP_TRACES),
        "traces": lambda: stores.traces.prune(
            clock.now() - KEEP_TRACES, clock.now() - KEEP_REFUSALS
        ),
        "feedback": lambda: stores.feedback.prune(clock.now() - KEEP_FEEDBACK),
        "usage": lambda: stores.usage.prune(clock.now() - calls_for, clock.now() - KEEP_USAGE),
        "old_usage": lambda: storage.usage_days.prune(clock.now() - KEEP_USAGE),
        "people_names": lambda: storage.people_names.prune(clock.now() - KEEP_USAGE),
        "first_contacts": lambda: storage.first_contacts.prune(clock.now() - KEEP_USAGE),
        "people_languages": lambda: storage.people_languages.prune(clock.now() - KEEP_LANGUAGES),
        "appointments": lambda: storage.appointments.prune(clock.now() - KEEP_ENDED),
        "catchup": lambda: storage.catchup.prune(clock.now() - caught_up_for),
        "proactive": lambda: storage.proactive.prune(clock.now()),
        "proactive_sent": lambda: storage.proactive.prune_sent(clock.now() - KEEP_COUNTS),
        "admissions": lambda: storage.admissions.prune(clock.now()),
        "console_sessions": lambda: storage.console_sessions.prune(clock.now()),
        "text_grants": lambda: storage.text_grants.prune(clock.now() - KEEP_READING),
        "long_lived_states": storage.long_lived_states.prune,
        "hot_losses": lambda: storage.hot_losses.prune(clock.now()),
        "takeovers": lambda: storage.takeovers.prune(clock.now() - KEEP_READING),
        "long_documents": storage.long_documents.clean,
        **storage.memory.chores,
    }


def memory_chores(
    settings: Settings, stores: MemoryStores, audit: Audit, clock: Clock
) -> Mapping[str, Chore]:
    """The chores that delete expired and replaced memories, and old memberships of projects."""
    purge_after = timedelta(days=settings.memory.purge_superseded_days)
    seen_for = timedelta(days=settings.memory.seen_in_days)
    return {
        "memories": _deletion_of_old_memories(stores, audit, purge_after, clock),
        "seen in projects": lambda: stores.people.prune_seen(clock.now() - seen_for),
    }


def _deletion_of_old_memories(
    stores: MemoryStores, audit: Audit, purge_after: timedelta, clock: Clock
) -> Chore:
    async def delete() -> int:
        now = clock.now()
        expired = len(await stores.memories.prune(now, NEVER))
        replaced = len(await stores.memories.prune(NEVER, now - purge_after))
        if expired or replaced:
            await audit.append(
                "memory_ttl_cleanup",
                "",
                "",
                deleted=expired + replaced,
                expired=expired,
                superseded=replaced,
            )
        return expired + replaced

    return delete
