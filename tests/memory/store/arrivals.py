"""One half of what `PeopleStore.arrive` tells."""

from datetime import datetime

from memory.store.ports import PeopleStore, Self, Session
from tests.memory.store.records import AT


async def known(people: PeopleStore, tenant: str, person: str) -> Self:
    """Who this is."""
    return (await people.arrive(tenant, person, "a conversation", AT)).who


async def session(
    people: PeopleStore, tenant: str, person: str, conversation: str, now: datetime
) -> Session:
    """The session of a turn."""
    return (await people.arrive(tenant, person, conversation, now)).session
