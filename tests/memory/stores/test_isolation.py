"""The stores' queries have the same results as `memory/model/scope.py`, for arbitrary records and
access scopes."""

import itertools
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.immutable import replace
from memory.model.record import Embedding, Record, Scope
from memory.model.scope import AccessScope, may_change, sees
from memory.ports.memories import Filter, MemoryStore
from memory.stores.search import RecallStore
from tests.memory.stores.records import record
from tests.support.property_cases import cases

PERSONS: Final = ("test:main:ada", "test:main:bob", "other:main:ada")
ROOMS: Final = ("", "test:main:W1:C1", "test:main:W1:C2")
PROJECTS: Final = ("", "p", "q")
VECTOR: Final = Embedding("m", (1.0, 0.0))
NUMBERS: Final = itertools.count()
CONTROLLED: Final = settings(
    deadline=None,
    max_examples=cases(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
"""Every example has tenants of its own, so that they can share a database."""


@st.composite
def records(draw: st.DrawFn) -> Record:
    return record(
        f"tea {draw(st.integers(0, 10**9))}",
        draw(st.sampled_from(PERSONS)),
        room=draw(st.sampled_from(ROOMS)),
        tenant=draw(st.sampled_from(("t", "u"))),
        scope=draw(st.sampled_from(list(Scope))),
        project=draw(st.sampled_from(PROJECTS)),
        role=draw(st.sampled_from(("", "user", "assistant"))),
        conversation=draw(st.sampled_from(("", "g"))),
        from_repository=draw(st.booleans()),
        embedding=VECTOR,
    )


@st.composite
def reaches(draw: st.DrawFn) -> AccessScope:
    person = draw(st.sampled_from(PERSONS))
    linked = draw(st.sets(st.sampled_from(PERSONS)))
    return AccessScope(
        draw(st.sampled_from(("t", "u"))),
        person,
        tuple(sorted({person, *linked})),
        draw(st.sampled_from(ROOMS)),
        draw(st.sampled_from(PROJECTS)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def writer(of: Record) -> AccessScope:
    """Somebody who may write this record."""
    person = of.provenance.person
    return AccessScope(of.tenant, person, (person,), "", of.project, True, True)


async def stored(memories: MemoryStore, some: list[Record], example: str) -> list[Record]:
    own = [replace(one, tenant=f"{one.tenant}{example}") for one in some]
    own = [one for one in own if may_change(writer(one), one)]
    for one in own:
        await memories.insert(writer(one), one, threshold=1.0, quota=None)
    return own


async def recalled(recall: RecallStore, by: AccessScope, there: list[Record]) -> list[set[str]]:
    """Return the matches of each search, and their neighbours."""
    by_words = await recall.lexical(by, "tea", Filter(), 100)
    by_meaning = await recall.nearest(by, VECTOR, Filter(), 100)
    around = await recall.neighbours(by, [one.id for one in there], 3)
    return [{hit.id for hit in by_words}, {hit.id for hit in by_meaning}, {m.id for m in around}]


@pytest.mark.parametrize("text", ["", "tea"])
@CONTROLLED
@given(some=st.lists(records(), max_size=12), asking=st.lists(reaches(), min_size=1, max_size=4))
async def test_only_visible_memories_are_found(
    memories: MemoryStore,
    recall: RecallStore,
    text: str,
    some: list[Record],
    asking: list[AccessScope],
) -> None:
    example = str(next(NUMBERS))
    own = await stored(memories, some, example)
    there = [one for one in own if await memories.get(writer(one), one.id)]
    for by in (replace(one, tenant=f"{one.tenant}{example}") for one in asking):
        visible = {one.id for one in there if sees(by, one)}
        matches = await memories.find(by, Filter(text=text, limit=100))
        assert {match.record.id for match in matches} == visible
        assert {one.id for one in there if await memories.get(by, one.id)} == visible
        if text:
            assert await recalled(recall, by, there) == [visible] * 3
        mine = await memories.find(by, Filter(text=text, own_only=True, limit=100))
        assert {match.record.id for match in mine} == {
            one.id
            for one in there
            if one.id in visible and one.scope is Scope.USER and one.provenance.person in by.persons
        }


@CONTROLLED
@given(some=st.lists(records(), max_size=12), by=reaches())
async def test_only_changeable_memories_are_deleted(
    memories: MemoryStore, some: list[Record], by: AccessScope
) -> None:
    example = str(next(NUMBERS))
    there = await stored(memories, some, example)
    kept = [one for one in there if await memories.get(writer(one), one.id)]
    by = replace(by, tenant=f"{by.tenant}{example}")
    gone = await memories.delete(by, [one.id for one in kept])
    assert set(gone) == {one.id for one in kept if may_change(by, one)}
    for one in kept:
        assert (await memories.get(writer(one), one.id) is None) == (one.id in gone)


@CONTROLLED
@given(some=st.lists(records(), max_size=6), by=reaches())
async def test_only_visible_and_changeable_memories_are_superseded(
    memories: MemoryStore, some: list[Record], by: AccessScope
) -> None:
    example = str(next(NUMBERS))
    there = await stored(memories, some, example)
    by = replace(by, tenant=f"{by.tenant}{example}")
    for number, old in enumerate(there):
        new = record(f"rum {number}", by.person, tenant=by.tenant, supersedes=old.id)
        there_still = await memories.get(writer(old), old.id) is not None
        result = await memories.insert(by, new, threshold=1.0, quota=None)
        allowed = there_still and sees(by, old) and may_change(by, old)
        assert (result.stored, result.missing) == (allowed, "" if allowed else old.id)
