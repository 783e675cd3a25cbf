"""Repetitions in other words, through the whole write path."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from db.errors import StoreUnavailable
from gateway.errors import ModelUnavailable
from gateway.immutable import replace
from memory.model.outcome import Outcome
from memory.model.record import Draft, Embedding, Kind, Scope
from memory.ports.memories import Filter
from memory.write.replacement import MeaningCheck
from tests.memory.rig import ROOM, Rig, memory_rig

VECTORS = {
    "I like tea": (1.0, 0.0),
    "tea is what I enjoy": (0.99, 0.1),
    "I do not like tea": (0.999, 0.01),
    "I like 2 cups of tea": (0.999, 0.02),
    "the moon is far": (0.0, 1.0),
}


@dataclass
class Model:
    """Knows a few texts by heart."""

    model: str = "m"
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.asked += texts
        if self.error:
            raise self.error
        return [Embedding(self.model, VECTORS[text]) for text in texts]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def rig(model: Model) -> AsyncIterator[Rig]:
    async with memory_rig() as made:
        check = MeaningCheck(model, made.stores.recall, made.stores.memories)
        path = replace(made.path, meaning=check)
        made.memory._dependencies = replace(made.memory._dependencies, path=path)
        yield made


def fact(text: str, **rest: object) -> Draft:
    return replace(Draft(text, Kind.PREFERENCE), **rest)  # type: ignore[arg-type]


async def test_the_same_statement_in_other_words_is_stored_once(rig: Rig, model: Model) -> None:
    ada = await rig.handle()
    first = await ada.write.remember(fact("I like tea"))
    again = await ada.write.remember(fact("tea is what I enjoy"))
    assert (first.outcome, again.outcome) == (Outcome.STORED, Outcome.BLOCKED)
    assert again.validation is not None
    assert again.validation.conflicting_id == first.memory_id
    assert again.validation.similarity == pytest.approx(0.99, abs=0.01)
    kept = await ada.read.get(first.memory_id)
    assert kept is not None
    assert kept.embedding == Embedding("m", (1.0, 0.0))
    assert model.asked == ["I like tea", "tea is what I enjoy"]


@pytest.mark.parametrize("text", ["I do not like tea", "I like 2 cups of tea", "the moon is far"])
async def test_a_negation_or_another_number_is_not_a_duplicate(rig: Rig, text: str) -> None:
    ada = await rig.handle()
    await ada.write.remember(fact("I like tea"))
    assert (await ada.write.remember(fact(text))).outcome is Outcome.STORED


async def test_the_replaced_memory_and_memories_of_others_are_not_duplicates(rig: Rig) -> None:
    ada, bob = await rig.handle(), await rig.handle("bob")
    first = await ada.write.remember(fact("I like tea"))
    assert (await bob.write.remember(fact("tea is what I enjoy"))).outcome is Outcome.STORED
    new = await ada.write.remember(fact("tea is what I enjoy", supersedes=first.memory_id))
    assert new.outcome is Outcome.STORED
    everybody = fact("I like tea", scope=Scope.GLOBAL)
    assert (await ada.write.remember(everybody)).outcome is Outcome.REVIEW


async def test_a_duplicate_of_a_private_memory_is_found_in_a_room_and_not_shown(
    rig: Rig,
) -> None:
    private = await rig.handle()
    room = replace(ROOM, platform="telegram", account="main")
    await private.write.remember(fact("I like tea"))
    handle = await rig.handle(at=room)
    assert (await handle.write.remember(fact("tea is what I enjoy"))).outcome is Outcome.BLOCKED
    assert await handle.read.search(Filter(text="tea")) == []


async def test_what_a_client_may_have_read_in_a_repository_is_no_duplicate_of_later_words(
    rig: Rig,
) -> None:
    ada = await rig.handle()
    client = replace(ada.write, request=replace(ada.request, from_repository=True))
    await client.remember(fact("I like tea"))
    assert (await ada.write.remember(fact("tea is what I enjoy"))).outcome is Outcome.STORED
    assert (await client.remember(fact("tea is what I enjoy"))).code == "duplicate"


@pytest.mark.parametrize("error", [ModelUnavailable("busy"), StoreUnavailable("locked")])
async def test_a_failing_check_sends_to_review(rig: Rig, model: Model, error: Exception) -> None:
    ada = await rig.handle(says="the moon is far")
    model.error = error
    result = await ada.write.infer(fact("the moon is far", quote="the moon is far"))
    assert (result.outcome, result.code) == (Outcome.REVIEW, "duplicate_unchecked")
