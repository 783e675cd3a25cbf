"""Everything of a person is given out, and erased, from every table of memory."""

import json
from datetime import timedelta

import pytest

from db import Statement
from gateway.immutable import replace
from gateway.text import verbatim
from memory.model.record import Embedding, Record, Scope
from memory.ports.memories import MemoryStore
from memory.ports.people import LinkSide, PersonalDataStore
from memory.stores.documents import DocumentStore
from memory.stores.links import LinkStore
from memory.stores.people import PeopleStore
from memory.stores.personal_data import SqlMemoryPersonalData
from memory.stores.reviews import ReviewItem, ReviewStore
from tests.memory.stores.arrivals import known, session
from tests.memory.stores.linking import link
from tests.memory.stores.records import ADA, AT, BOB, access, record, store, texts
from tests.support.databases import Engine

EVE = "other:main:eve"


@pytest.fixture
def personal(engine: Engine) -> PersonalDataStore:
    return SqlMemoryPersonalData(engine)


@pytest.fixture
async def filled(
    memories: MemoryStore,
    people: PeopleStore,
    links: LinkStore,
    reviews: ReviewStore,
    brain: DocumentStore,
) -> None:
    """Ada and Eve, who are linked, and Bob have something in every table."""
    for person in (ADA, BOB, EVE):
        by = replace(access(person, project="p"), operates=True)
        own = record(f"own of {person}", person, message_id="m1", embedding=Embedding("m", (1.0,)))
        await store(memories, own, by)
        shared = record(f"shared by {person}", person, scope=Scope.PROJECT, project="p")
        await store(memories, shared, by)
        await reviews.add(by, ReviewItem(f"r-{person}", _other(own), verbatim("hedged"), AT))
        await brain.write(by, "soul", f"soul of {person}", person, AT)
        await brain.write(by, "bible", f"bible by {person}", person, AT)
        await session(people, "t", person, "c", AT)
        await people.note_seen("t", person, "p", "P")
        await people.show_private("t", person, True)
    assert await link(links, ADA, EVE) == "linked"
    await links.offer("t", LinkSide(ADA), "code", AT + timedelta(minutes=1))


def _other(own: Record) -> Record:
    return replace(own, content="maybe", embedding=None)


@pytest.mark.usefixtures("filled")
async def test_all_data_is_exported_and_can_be_written_as_json(
    personal: PersonalDataStore,
) -> None:
    rows = await personal.export("t", (ADA, EVE))
    counted = dict.fromkeys((str(row["table"]) for row in rows), 0)
    for row in rows:
        counted[str(row["table"])] += 1
    assert counted == {
        "memories": 4,
        "memory_reviews": 2,
        "memory_sessions": 2,
        "people_links": 2,
        "people_projects": 2,
        "people_choices": 2,
        "link_requests": 1,
        "brain_documents": 4,
    }
    assert dict(await personal.count("t", (ADA, EVE))) == counted
    assert await personal.count("u", (ADA, EVE)) == []
    text = json.dumps(rows)
    assert "own of other:main:eve" in text
    assert BOB not in text
    assert await personal.export("u", (ADA, EVE)) == []


@pytest.mark.usefixtures("filled")
async def test_no_data_of_an_erased_person_remains(
    personal: PersonalDataStore, memories: MemoryStore, people: PeopleStore, brain: DocumentStore
) -> None:
    assert await personal.erase("u", (ADA, EVE)) == 0
    before = len(await personal.export("t", (BOB,)))
    assert await personal.erase("t", (ADA, EVE)) > 0
    assert await personal.export("t", (ADA, EVE)) == []
    assert await personal.erase("t", (ADA, EVE)) == 0
    assert len(await personal.export("t", (BOB,))) == before
    assert not await memories.knows_message("t", ("x", "y", "z"), ["m1"])
    assert (await known(people, "t", ADA)).persons == (ADA,)
    assert await brain.read(access(), "soul") is None


@pytest.mark.usefixtures("filled")
async def test_memories_for_a_project_remain_without_their_author(
    personal: PersonalDataStore, memories: MemoryStore, brain: DocumentStore
) -> None:
    await personal.erase("t", (ADA,))
    assert await personal.export("t", ("",)) == []
    assert await personal.erase("t", ("",)) == 0
    by = access(BOB, project="p")
    assert f"shared by {ADA}" in await texts(memories, by)
    kept = await brain.versions(by, "bible", 10)
    assert [version.author for version in reversed(kept)] == ["", BOB, EVE]


async def test_a_project_memory_names_no_message_of_an_erased_author(
    engine: Engine, personal: PersonalDataStore, memories: MemoryStore
) -> None:
    by = replace(access(ADA, project="p"), operates=True)
    shared = record(
        "the demo is on Friday",
        scope=Scope.PROJECT,
        project="p",
        message_id="message-1",
        derived_from=("message-1", "message-2"),
    )
    await store(memories, shared, by)
    await personal.erase("t", (ADA,))
    (row,) = await engine.fetch(Statement("SELECT * FROM memories"))
    columns = "\n".join(map(str, row))
    assert "Friday" in columns
    assert "message-" not in columns
    assert ADA not in columns


@pytest.mark.usefixtures("filled")
async def test_erasing_one_of_three_linked_accounts_leaves_two(
    personal: PersonalDataStore, people: PeopleStore, links: LinkStore
) -> None:
    assert await link(links, ADA, BOB) == "linked"
    await personal.erase("t", (ADA,))
    assert (await known(people, "t", BOB)).persons == (EVE, BOB)
