"""SOUL, BIBLE, HEARTBEAT: the contract on both engines."""

import asyncio
from datetime import timedelta

import pytest

from gateway.errors import BadInput
from memory.ports.documents import Version
from memory.stores.documents import DocumentStore
from tests.memory.stores.records import ADA, AT, BOB, access, operator


async def test_the_newest_version_is_read_and_all_versions_are_stored(brain: DocumentStore) -> None:
    assert await brain.read(access(), "soul") is None
    first = await brain.write(access(), "soul", "I am terse. \0 🙂", ADA, AT)
    second = await brain.write(access(), "soul", "I am kind.", ADA, AT + timedelta(seconds=1))
    assert first == Version("soul", 1, "I am terse. \N{REPLACEMENT CHARACTER} 🙂", ADA, AT)
    assert await brain.read(access(), "soul") == second
    assert await brain.versions(access(), "soul", 10) == [second, first]
    assert await brain.versions(access(), "soul", 1) == [second]


async def test_a_soul_is_read_by_its_person_where_private_memory_is_allowed(
    brain: DocumentStore,
) -> None:
    await brain.write(access(), "soul", "mine", ADA, AT)
    for other in (access(BOB), access(tenant="u"), access(private=False, room="r"), operator()):
        assert await brain.read(other, "soul") is None
        assert await brain.versions(other, "soul", 10) == []
    assert await brain.read(access(BOB, ADA), "soul") is not None


async def test_linked_identities_share_one_soul(brain: DocumentStore) -> None:
    await brain.write(access(ADA), "soul", "one", ADA, AT)
    both = access(BOB, ADA)
    second = await brain.write(both, "soul", "two", BOB, AT, based_on=1)
    assert second is not None
    assert second.number == 2
    newest = await brain.read(access(ADA, BOB), "soul")
    assert newest is not None
    assert newest.content == "two"
    own = await brain.read(access(ADA), "soul")
    assert own is not None
    assert own.content == "one"


async def test_a_write_to_an_outdated_version_is_refused(brain: DocumentStore) -> None:
    tries = await asyncio.gather(
        *(brain.write(access(), "soul", f"{n}", ADA, AT, based_on=0) for n in range(8))
    )
    assert sum(one is not None for one in tries) == 1
    assert await brain.write(access(), "soul", "late", ADA, AT, based_on=0) is None
    assert await brain.write(access(), "soul", "next", ADA, AT, based_on=1) is not None


async def test_the_documents_of_a_project_belong_to_the_project(brain: DocumentStore) -> None:
    synced = AT - timedelta(minutes=5)
    await brain.write(operator(project="p"), "bible", "we sell tea", BOB, AT)
    await brain.write(access(project="p"), "heartbeat", "busy", "system", AT, synced_at=synced)
    for by in (access(project="p"), access(BOB, project="p", private=False, room="r")):
        bible, heartbeat = await brain.read(by, "bible"), await brain.read(by, "heartbeat")
        assert bible == Version("bible", 1, "we sell tea", BOB, AT)
        assert heartbeat == Version("heartbeat", 1, "busy", "system", AT, synced)
    for other in (access(), access(project="q"), access(project="p", tenant="u")):
        assert await brain.read(other, "bible") is None


async def test_only_permitted_people_write(brain: DocumentStore) -> None:
    with pytest.raises(BadInput, match="written by operators"):
        await brain.write(access(project="p"), "bible", "x", ADA, AT)
    with pytest.raises(BadInput, match="by the program alone"):
        await brain.write(operator(project="p"), "heartbeat", "x", ADA, AT)
    with pytest.raises(BadInput, match="belongs to a project"):
        await brain.write(operator(), "bible", "x", ADA, AT)


async def test_at_most_200_versions_are_stored(brain: DocumentStore) -> None:
    for number in range(203):
        await brain.write(access(), "soul", str(number), ADA, AT)
    kept = await brain.versions(access(), "soul", 1_000)
    assert [kept[0].number, kept[-1].number, len(kept)] == [203, 4, 200]
