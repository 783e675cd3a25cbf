"""Choices about memory and its notes, and waiting notes: the contract on both engines."""

import asyncio

from memory.stores.links import LinkStore
from memory.stores.people import PeopleStore
from tests.memory.stores.arrivals import known
from tests.memory.stores.linking import link
from tests.memory.stores.records import ADA, AT, BOB

HERE = ("room", "room:thread")


async def remembered(people: PeopleStore, person: str, *here: str) -> bool:
    return (await people.start_turn("t", person, "c", AT, None, here)).who.remembered


async def test_without_a_choice_memory_is_on_and_no_note_waits(people: PeopleStore) -> None:
    ada = await known(people, "t", ADA)
    assert (ada.remembered, ada.notes, ada.waiting_notices) == (True, None, ())


async def test_memory_off_for_one_identity_applies_to_all_linked_identities(
    people: PeopleStore, links: LinkStore
) -> None:
    await people.turn_memory("t", BOB, False)
    assert await remembered(people, ADA)
    await link(links, ADA, BOB)
    assert not await remembered(people, ADA)
    assert (await people.start_turn("u", BOB, "c", AT)).who.remembered
    await people.turn_memory("t", ADA, True)
    assert await remembered(people, BOB)


async def test_with_memory_off_no_session_is_stored(people: PeopleStore) -> None:
    assert (await people.start_turn("t", ADA, "before", AT)).session.id
    await people.turn_memory("t", ADA, False)
    for conversation in ("before", "after"):
        arrival = await people.start_turn("t", ADA, conversation, AT)
        assert (arrival.session.id, arrival.remembers, arrival.documents) == ("", False, {})
    await people.turn_memory("t", ADA, True)
    assert (await people.start_turn("t", ADA, "after", AT)).session.id


async def test_memory_can_be_off_for_one_person_in_one_conversation(people: PeopleStore) -> None:
    assert await people.turn_memory_in("t", ADA, "room", False, 2)
    assert await people.turn_memory_in("t", ADA, "room", False, 2), "it is off already"
    assert not await remembered(people, ADA, *HERE)
    assert await remembered(people, ADA, "another", "another:thread")
    assert await remembered(people, BOB, *HERE)
    assert (await people.start_turn("t", ADA, "c", AT, None, HERE)).session.id == ""
    assert await people.turn_memory_in("t", ADA, "room", True, 2)
    assert await people.turn_memory_in("t", BOB, "room", True, 2), "nobody chose anything"
    assert await remembered(people, ADA, *HERE)


async def test_the_number_of_conversations_with_memory_off_is_limited(people: PeopleStore) -> None:
    assert await people.turn_memory_in("t", ADA, "one", False, 2)
    assert await people.turn_memory_in("t", ADA, "two", False, 2)
    assert not await people.turn_memory_in("t", ADA, "three", False, 2)
    assert [await remembered(people, ADA, one) for one in ("one", "two", "three")] == [
        *(False, False),
        True,
    ]


async def test_the_choice_about_notes_applies_to_all_linked_identities(
    people: PeopleStore, links: LinkStore
) -> None:
    await link(links, ADA, BOB)
    await people.show_notes("t", ADA, False)
    assert [(await known(people, "t", one)).notes for one in (ADA, BOB)] == [False, False]
    await people.show_notes("t", BOB, True)
    assert (await known(people, "t", ADA)).notes is True


async def test_waiting_notes_are_limited_and_removed_when_shown(
    people: PeopleStore,
) -> None:
    await people.add_notices("t", ADA, ["1", "2"], 3)
    await people.add_notices("t", ADA, ["3", "4"], 3)
    assert (await known(people, "t", ADA)).waiting_notices == ("2", "3", "4")
    assert (await known(people, "t", BOB)).waiting_notices == ()
    await people.remove_notices("t", ADA, ["3", "unknown"])
    await people.remove_notices("t", BOB, ["2"])
    assert (await known(people, "t", ADA)).waiting_notices == ("2", "4")
    await people.add_notices("t", BOB, [str(number) for number in range(9)], 3)
    assert (await known(people, "t", BOB)).waiting_notices == ("6", "7", "8")


async def test_concurrent_additions_to_waiting_notes_are_all_stored(
    people: PeopleStore,
) -> None:
    added = [f"entry {number}" for number in range(12)]
    places = [f"room {number}" for number in range(12)]
    await asyncio.gather(
        *(people.add_notices("t", ADA, [entry], 20) for entry in added),
        *(people.turn_memory_in("t", ADA, place, False, 20) for place in places),
    )
    assert sorted((await known(people, "t", ADA)).waiting_notices) == sorted(added)
    assert not any([await remembered(people, ADA, place) for place in places])


async def test_one_choice_changes_no_other(people: PeopleStore) -> None:
    await people.show_private("t", ADA, True)
    await people.turn_memory("t", ADA, False)
    await people.turn_memory_in("t", ADA, "room", False, 5)
    await people.show_notes("t", ADA, False)
    await people.add_notices("t", ADA, ["1"], 5)
    await people.turn_memory("t", ADA, True)
    ada = (await people.start_turn("t", ADA, "c", AT, None, HERE)).who
    assert (ada.shows_private, ada.memory_off, ada.off_here) == (True, False, True)
    assert (ada.notes, ada.waiting_notices) == (False, ("1",))
