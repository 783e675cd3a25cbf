"""One half of the result of `PeopleStore.start_turn`."""

from datetime import datetime

from memory.ports.people import MemorySession, PersonChoices
from memory.stores.people import PeopleStore
from tests.memory.stores.records import AT


async def known(people: PeopleStore, tenant: str, person: str) -> PersonChoices:
    """Return the person."""
    return (await people.start_turn(tenant, person, "a conversation", AT)).who


async def session(
    people: PeopleStore, tenant: str, person: str, conversation: str, now: datetime
) -> MemorySession:
    """The session of a turn."""
    return (await people.start_turn(tenant, person, conversation, now)).session
