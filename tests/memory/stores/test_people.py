"""Linked identities, projects, choices, sessions: the contract on both engines."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from db.sqlite import SqliteDatabase
from memory.model.record import Scope
from memory.ports.documents import Document
from memory.ports.memories import MemoryStore
from memory.ports.people import MemorySession, PersonChoices
from memory.stores.documents import DocumentStore
from memory.stores.links import LinkStore
from memory.stores.people import PeopleStore
from tests.memory.stores.arrivals import known, session
from tests.memory.stores.linking import link
from tests.memory.stores.records import ADA, AT, BOB, access, record, store
from tests.support.clock import FakeClock
from tests.support.databases import Engine

EVE = "other:main:eve"
NEVER = datetime.fromtimestamp(0, UTC)


async def test_a_new_person_is_unknown(people: PeopleStore) -> None:
    assert await known(people, "t", ADA) == PersonChoices((ADA,))


async def test_a_choice_applies_to_all_linked_identities(
    people: PeopleStore, links: LinkStore
) -> None:
    await people.show_private("t", ADA, True)
    await people.choose_project("t", ADA, "p")
    assert await known(people, "t", ADA) == PersonChoices((ADA,), "p", True)
    await link(links, ADA, BOB)
    assert not (await known(people, "t", ADA)).shows_private
    await people.show_private("t", BOB, True)
    await people.choose_project("t", BOB, "q")
    assert await known(people, "t", ADA) == PersonChoices((ADA, BOB), "q", True)
    await links.unlink("t", ADA)
    await people.show_private("t", ADA, False)
    assert (await known(people, "t", BOB)).shows_private
    assert not (await known(people, "u", BOB)).shows_private


async def test_the_latest_hundred_projects_are_stored(
    people: PeopleStore, clock: FakeClock
) -> None:
    for number in range(103):
        await people.note_seen("t", ADA, f"p{number}", f"Project {number}")
        await clock.advance(1)
    await people.note_seen("t", BOB, "p102", "Newer title")
    await clock.advance(1)
    await people.note_seen("t", ADA, "p3", "Seen again")
    result = await people.projects("t", (ADA, BOB), NEVER)
    assert result[:3] == [("p3", "Seen again"), ("p102", "Newer title"), ("p101", "Project 101")]
    assert len(result) == 100
    assert ("p2", "Project 2") not in result
    assert await people.projects("u", (ADA,), NEVER) == []


async def test_the_last_visit_of_each_identity_to_the_chosen_project_is_known(
    people: PeopleStore, links: LinkStore, clock: FakeClock
) -> None:
    await link(links, ADA, BOB)
    await people.choose_project("t", ADA, "p")
    assert (await known(people, "t", ADA)).seen == ()
    await people.note_seen("t", BOB, "p", "P")
    first = clock.now()
    await clock.advance(60)
    await people.note_seen("t", ADA, "p", "P")
    await people.note_seen("t", ADA, "q", "Q")
    there = ((BOB, first), (ADA, clock.now()))
    assert sorted((await known(people, "t", ADA)).seen) == sorted(there)
    assert sorted(await people.seen_identities("t", (ADA, BOB), "p")) == sorted(there)
    assert await people.seen_identities("t", (EVE,), "p") == ()
    assert await people.seen_identities("u", (ADA, BOB), "p") == ()
    in_room = await people.start_turn("t", ADA, "a conversation", AT, "q")
    assert in_room.who.seen == ((ADA, clock.now()),)
    assert (await people.start_turn("t", ADA, "a conversation", AT, "")).who.seen == ()


async def test_departed_people_and_rooms_without_the_bot_have_no_visits(
    people: PeopleStore,
) -> None:
    for person in (ADA, BOB):
        for project in ("p", "q"):
            await people.note_seen("t", person, project, project)
    await people.note_seen("u", ADA, "p", "p")
    assert await people.forget_seen("t", "p", ADA) == 1
    assert await people.forget_seen("t", "p", ADA) == 0
    assert await people.projects("t", (ADA,), NEVER) == [("q", "q")]
    assert len(await people.projects("t", (BOB,), NEVER)) == 2
    await people.note_seen("t", ADA, "p", "p")
    assert await people.forget_seen("t", "p") == 2
    assert await people.projects("t", (ADA, BOB), NEVER) == [("q", "q")]
    assert await people.projects("u", (ADA,), NEVER) == [("p", "p")]


async def test_old_visits_do_not_count_and_are_deleted(
    people: PeopleStore, clock: FakeClock
) -> None:
    await people.note_seen("t", ADA, "p", "P")
    long_ago = clock.now()
    await clock.advance(60)
    await people.note_seen("t", ADA, "q", "Q")
    assert await people.projects("t", (ADA,), long_ago) == [("q", "Q")]
    assert await people.prune_seen(long_ago - timedelta(seconds=1)) == 0
    assert await people.prune_seen(long_ago) == 1
    assert await people.prune_seen(long_ago) == 0
    assert await people.projects("t", (ADA,), NEVER) == [("q", "Q")]


async def test_a_session_ends_after_half_an_hour_without_messages(people: PeopleStore) -> None:
    first = await session(people, "t", ADA, "c", AT)
    assert await people.use(first.id, "stores", 20)
    soon, late = AT + timedelta(minutes=29), AT + timedelta(minutes=59)
    assert await session(people, "t", ADA, "c", soon) == MemorySession(first.id)
    second = await session(people, "t", ADA, "c", late)
    assert second == MemorySession(second.id)
    assert second.id != first.id
    assert await people.use(second.id, "stores", 1), "the count begins anew"
    assert not await people.use(first.id, "stores", 20)
    others = [
        await session(people, *who, late)
        for who in (("t", BOB, "c"), ("t", ADA, "d"), ("u", ADA, "c"))
    ]
    assert len({second.id, *(one.id for one in others)}) == 4


@pytest.mark.parametrize("what", ["stores", "supersedes", "deletes"])
async def test_concurrent_uses_never_exceed_the_limit(people: PeopleStore, what: str) -> None:
    one = await session(people, "t", ADA, "c", AT)
    used = await asyncio.gather(*(people.use(one.id, what, 5) for _ in range(12)))  # type: ignore[arg-type]
    assert sum(used) == 5
    assert await people.use(one.id, what, 6), "five are counted"  # type: ignore[arg-type]
    assert not await people.use(one.id, what, 6)  # type: ignore[arg-type]


async def test_the_first_brief_of_a_session_is_kept_with_its_time(
    people: PeopleStore,
) -> None:
    first = await session(people, "t", ADA, "c", AT)
    assert first.brief_at is None
    later = AT + timedelta(minutes=5, microseconds=7)
    assert await people.freeze_brief(first.id, AT, None) == AT
    assert await people.freeze_brief(first.id, later, None) == AT, "another process was faster"
    assert (await session(people, "t", ADA, "c", later)).brief_at == AT
    assert await people.freeze_brief(first.id, later, AT) == later
    assert (await session(people, "t", ADA, "c", later)).brief_at == later
    assert (await session(people, "t", ADA, "c", later + timedelta(hours=1))).brief_at is None
    assert await people.freeze_brief("ses-none", AT, None) == AT


async def test_old_sessions_are_deleted(people: PeopleStore) -> None:
    await session(people, "t", ADA, "c", AT)
    assert await people.prune(AT) == 0
    assert await people.prune(AT + timedelta(hours=1)) == 1
    assert await people.prune(AT + timedelta(hours=1)) == 0


async def test_a_turn_starts_with_the_soul_and_the_documents_of_the_chosen_project(
    people: PeopleStore, brain: DocumentStore, links: LinkStore
) -> None:
    await link(links, ADA, BOB)
    operator = access(BOB, ADA, project="p", operates=True)
    await brain.write(operator, "soul", "an older soul", BOB, AT)
    await brain.write(operator, "soul", "a newer soul", BOB, AT)
    await brain.write(operator, "bible", "the bible of p", BOB, AT)
    await brain.write(operator, "heartbeat", "the pulse of p", "system", AT, synced_at=AT)
    await brain.write(access(EVE), "soul", "Eve's", EVE, AT)
    assert await told(people, None) == {"soul": "a newer soul"}
    await people.choose_project("t", ADA, "p")
    both = {"bible": "the bible of p", "heartbeat": "the pulse of p"}
    assert await told(people, None) == {"soul": "a newer soul"} | both


async def test_in_a_room_the_soul_is_read_only_if_all_linked_identities_allow_it(
    people: PeopleStore, brain: DocumentStore, links: LinkStore
) -> None:
    await brain.write(access(ADA, project="p"), "soul", "Ada's", ADA, AT)
    await brain.write(access(BOB, project="p", operates=True), "bible", "the bible", BOB, AT)
    await people.choose_project("t", ADA, "another")
    assert await told(people, "p") == {"bible": "the bible"}
    await people.show_private("t", ADA, True)
    assert await told(people, "p") == {"soul": "Ada's", "bible": "the bible"}
    await link(links, ADA, BOB)
    assert await told(people, "p") == {"bible": "the bible"}
    assert await told(people, "") == {}


async def told(people: PeopleStore, project: str | None) -> dict[Document, str]:
    arrival = await people.start_turn("t", ADA, "c", AT, project)
    return {name: version.content for name, version in arrival.documents.items()}


async def test_an_active_session_continues_and_is_not_written_every_time(
    people: PeopleStore,
) -> None:
    first = await session(people, "t", ADA, "c", AT)
    for minutes in (0.5, 20, 49, 78):
        assert await session(people, "t", ADA, "c", AT + timedelta(minutes=minutes)) == first
    assert (await session(people, "t", ADA, "c", AT + timedelta(minutes=109))).id != first.id


async def test_without_memory_nothing_is_read(
    people: PeopleStore, memories: MemoryStore, engine: Engine, links: LinkStore
) -> None:
    async def remembers(person: str = ADA, project: str | None = None) -> bool:
        return (await people.start_turn("t", person, "c", AT, project)).remembers

    assert await remembers() is not isinstance(engine, SqliteDatabase)
    assert await remembers(project="p")
    await store(memories, record("a fact", BOB))
    assert await remembers() is not isinstance(engine, SqliteDatabase)
    await link(links, ADA, BOB)
    assert await remembers()
    assert await remembers(EVE) is not isinstance(engine, SqliteDatabase)
    await people.choose_project("t", "x:main:zoe", "p")
    assert await remembers("x:main:zoe"), "the project's memories may be there"
    everybody = record("for all", "root", scope=Scope.GLOBAL)
    await store(memories, everybody, access("root", operates=True))
    assert await remembers(EVE)
