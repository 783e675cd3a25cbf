"""Deciding which of two memories is true, and restoring what was replaced."""

import pytest

from gateway.errors import BadInput, NotFound
from gateway.people import Role
from memory.model.plans import Plan, Plans
from memory.model.record import Draft, Kind, Scope, short_id
from memory.ports.memories import Filter
from memory.service.contradictions import Answer
from memory.service.handle import MemoryHandle
from tests.memory.rig import ROOM, Rig, memory_rig

OLD, NEW = "My name is Jon", "My name is John"


async def two(rig: Rig, old: str = OLD, new: str = NEW) -> tuple[str, str]:
    """Return the ids of two memories of Ada."""
    ada = await rig.handle("ada")
    first = await ada.write.remember(Draft(old, Kind.FACT))
    await rig.clock.advance(60)
    second = await (await rig.handle("ada")).write.remember(Draft(new, Kind.FACT))
    return first.memory_id, second.memory_id


async def texts(handle: MemoryHandle) -> list[str]:
    found = await handle.read.search(Filter(own_only=True))
    return sorted(match.record.content for match in found)


@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize(("true", "kept"), [("one", [OLD]), ("other", [NEW]), ("both", [NEW, OLD])])
async def test_what_is_not_true_is_replaced(
    true: Answer, kept: list[str], turned: bool, short: bool
) -> None:
    async with memory_rig() as rig:
        ids = await two(rig)
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        assert await ada.contradictions.marks() == {ids[0]: (ids[1],), ids[1]: (ids[0],)}
        assert await bob.contradictions.marks() == {}
        one, other = (short_id(id_) for id_ in ids) if short else ids
        if turned and true != "both":
            one, other, true = other, one, "other" if true == "one" else "one"
        with pytest.raises(NotFound):
            await bob.contradictions.settle(one, other, true)
        decided = await ada.contradictions.settle(one, other, true)
        assert sorted(record.content for record in decided.true) == kept
        assert (decided.replaced is None) == (true == "both")
        assert await texts(ada) == kept
        assert await ada.contradictions.marks() == {}
        with pytest.raises(NotFound):
            await ada.contradictions.settle(one, other, true)
        (entry,) = [one for one in rig.noted.entries if one.action == "memory_conflict"]
        kept_one = {1: "older" if kept == [OLD] else "newer", 2: "both"}[len(kept)]
        assert dict(entry.details) == {"decision": kept_one, "older": ids[0], "newer": ids[1]}


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        ("The server has 4 cores", "The server has 8 cores", True),
        ("Mein Fahrrad ist am Bahnhof", "Mein Fahrrad ist im Keller", True),
        ("Mon vélo est à la gare", "J'ai vendu mon vélo", True),
        ("我叫李明", "我叫李名", True),
        ("The server has 8 cores", "The server has 64 GB of memory", False),
        ("Mein Fahrrad ist am Bahnhof", "Mein Auto ist in der Garage", False),
        ("Mon vélo est à la gare", "Mon frère a vendu son vélo", False),
    ],
)
async def test_another_number_or_place_or_name_is_asked_about_and_replaces_nothing(
    old: str, new: str, asked: bool
) -> None:
    async with memory_rig() as rig:
        first, second = await two(rig, old, new)
        ada = await rig.handle("ada")
        assert await texts(ada) == sorted((old, new))
        assert await ada.contradictions.marks() == (
            {first: (second,), second: (first,)} if asked else {}
        )


async def test_a_restored_memory_stands_beside_its_successor_and_is_asked_about() -> None:
    async with memory_rig() as rig:
        old, new = await two(rig, "My phone number is 12", "My phone number is 34 now")
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        assert await texts(ada) == ["My phone number is 34 now"]
        for handle, name in ((bob, old), (ada, new), (ada, "mem-none")):
            with pytest.raises(NotFound):
                await handle.contradictions.restore(name)
        restored = await ada.contradictions.restore(old)
        assert (restored.id, restored.current) == (old, True)
        assert len(await texts(ada)) == 2
        assert await ada.contradictions.marks() == {old: (new,), new: (old,)}
        entry = next(one for one in rig.noted.entries if one.action == "memory_restore")
        assert dict(entry.details) == {"ids": old, "beside": new}
        with pytest.raises(NotFound):
            await ada.write.undo_replacement(new)
        assert len(await texts(ada)) == 2


async def test_a_memory_is_restored_after_the_newer_one_was_erased() -> None:
    async with memory_rig() as rig:
        old, new = await two(rig, "My phone number is 12", "My phone number is 34 now")
        ada = await rig.handle("ada")
        assert await ada.erasure.delete([new])
        await ada.contradictions.restore(old)
        assert await texts(ada) == ["My phone number is 12"]
        assert await ada.contradictions.marks() == {}


async def test_nothing_is_restored_beyond_the_plan_or_twice() -> None:
    plans = Plans("two", {"two": Plan(memories=2)})
    async with memory_rig(plans=plans) as rig:
        old, new = await two(rig, "My phone number is 12", "My phone number is 34 now")
        ada = await rig.handle("ada")
        other = await ada.write.remember(Draft("I drink tea", Kind.PREFERENCE))
        with pytest.raises(BadInput, match="Memory limit reached"):
            await ada.contradictions.restore(old)
        await ada.erasure.delete([other.memory_id, new])
        await ada.write.remember(Draft("My phone number is 12", Kind.FACT))
        with pytest.raises(BadInput, match="stored already"):
            await ada.contradictions.restore(old)


async def test_an_operator_restores_what_a_project_shares_and_others_do_not() -> None:
    project = "test:main:guild"
    async with memory_rig() as rig:
        olga = (await rig.handle("olga", role=Role.OPERATOR)).for_operator(project)
        old = await olga.write.remember(Draft("We sell tea", Kind.FACT, scope=Scope.PROJECT))
        draft = Draft("We sell cake", Kind.FACT, scope=Scope.PROJECT, supersedes=old.memory_id)
        assert (await olga.write.remember(draft)).replaced_id == old.memory_id
        with pytest.raises(NotFound):
            await (await rig.handle("ada")).contradictions.restore(old.memory_id)
        await olga.contradictions.restore(old.memory_id)
        found = await olga.read.search(Filter(scopes=(Scope.PROJECT,)))
        assert len(found) == 2
        assert await olga.contradictions.marks() == {}


async def test_a_question_is_asked_once_a_day_and_never_in_a_room() -> None:
    async with memory_rig() as rig:
        await two(rig)
        room = await rig.handle("ada", at=ROOM)
        assert await room.contradictions.question() is None
        assert await room.contradictions.first() is None
        asked = await (await rig.handle("ada")).contradictions.question()
        assert asked is not None
        assert (asked.older.content, asked.newer.content) == (OLD, NEW)
        await rig.clock.advance(3_600)
        again = await rig.handle("ada")
        assert await again.contradictions.question() is None
        assert await again.contradictions.first() == asked
        assert await (await rig.handle("bob")).contradictions.first() is None
