"""First contacts of people, in both databases."""

from datetime import timedelta

import pytest

from gateway.stores.first_contacts import FirstContacts
from gateway.stores.personal_data import SqlPersonalData
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB = "test:main:ada", "test:main:bob"


@pytest.fixture
def contacts(engine: Engine) -> FirstContacts:
    return FirstContacts(engine)


async def test_one_turn_of_a_person_in_a_room_is_the_first(contacts: FirstContacts) -> None:
    assert await contacts.is_first("t", ADA, "room", "turn", AT)
    assert await contacts.is_first("t", ADA, "room", "turn", AT), "a repeated turn"
    assert not await contacts.is_first("t", ADA, "room", "later", AT)
    assert await contacts.is_first("t", ADA, "other", "later", AT)
    assert await contacts.is_first("t", BOB, "room", "later", AT)
    assert await contacts.is_first("u", ADA, "room", "later", AT)


async def test_old_contacts_are_deleted(contacts: FirstContacts) -> None:
    await contacts.is_first("t", ADA, "room", "turn", AT)
    await contacts.is_first("t", ADA, "other", "turn", AT + timedelta(days=1))
    assert await contacts.prune(AT + timedelta(hours=1)) == 1
    assert not await contacts.is_first("t", ADA, "other", "later", AT)


async def test_they_are_exported_and_erased_with_their_person(
    contacts: FirstContacts, engine: Engine
) -> None:
    personal = SqlPersonalData(engine, FakeClock())
    await contacts.is_first("t", ADA, "room", "turn", AT)
    await contacts.is_first("t", BOB, "room", "turn", AT)
    (row,) = await personal.export("t", (ADA,))
    assert (row["table"], row["person"], row["room"]) == ("first_contacts", ADA, "room")
    assert await personal.erase("t", (ADA,)) == 1
    assert await contacts.is_first("t", ADA, "room", "later", AT)
    assert not await contacts.is_first("t", BOB, "room", "later", AT)
