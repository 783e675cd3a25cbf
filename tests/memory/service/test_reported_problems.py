"""Problems with replacement, contradiction and duplicates that users of other memories reported."""

import asyncio

import pytest

from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.ports.recall import Query
from tests.memory.rig import Rig, memory_rig

NOBODY = 0
BOTH = 2


async def said(rig: Rig, *texts: str) -> list[str]:
    """Store statements of Ada one after the other; return the codes of the results."""
    codes = []
    for text in texts:
        ada = await rig.handle("ada", says=text)
        codes.append((await ada.write.remember(Draft(text, Kind.FACT))).code)
        await rig.clock.advance(60)
    return codes


async def current(rig: Rig) -> list[str]:
    ada = await rig.handle("ada")
    found = await ada.read.search(Filter(own_only=True, limit=1_000))
    return [match.record.content for match in reversed(found)]


@pytest.mark.parametrize(
    ("texts", "left", "marked"),
    [
        # A contradiction deleted the old statement and did not store the new one.
        (("I love Chinese food", "I hate Chinese food"), slice(None), BOTH),
        (("I own a blue bicycle", "I no longer own a blue bicycle"), slice(1, None), NOBODY),
        # A repetition deleted the statement.
        (("The dog descends from the wolf", "The dog descends from the wolf"), slice(1), NOBODY),
        # Both values stayed, and nothing said that they contradict each other.
        (("My favourite colour is green", "My favourite colour is blue"), slice(None), BOTH),
        (("My manager is Alice", "My manager is Bob"), slice(None), BOTH),
        (("I work at Google", "I work at Meta now"), slice(None), BOTH),
        # The old value survived where the new one replaces it.
        (("I use Jina for search", "I use Exa for search now, not Jina"), slice(1, None), NOBODY),
        (("Our deploy day is Friday", "Our deploy day is Tuesday now"), slice(1, None), NOBODY),
        # A statement that mentions the same person retired another one.
        (
            ("Nora works at Initech", "Nora administers the repositories of Initech now"),
            slice(None),
            BOTH,
        ),
        (("I am vegetarian", "I had steak for dinner"), slice(None), NOBODY),
        # The first value, said again, stood beside the second.
        (
            ("My number is 12", "My number is 34 now", "My number is 12 now"),
            slice(2, None),
            NOBODY,
        ),
        (("My name is Alice", "My name is Bob", "My name is Alice"), slice(2), BOTH),
    ],
)
async def test_a_reported_case_loses_nothing_and_asks_where_both_may_contradict(
    texts: tuple[str, ...], left: slice, marked: int
) -> None:
    async with memory_rig() as rig:
        await said(rig, *texts)
        assert await current(rig) == list(texts[left])
        ada = await rig.handle("ada")
        assert len(await ada.contradictions.marks()) == marked
        every = await ada.read.search(Filter(own_only=True, superseded=True, limit=100))
        assert {match.record.content for match in every} == set(texts), "nothing is lost"


async def test_what_was_replaced_is_not_recalled() -> None:
    """It came back by another way: with the results of a search, or by a turn."""
    async with memory_rig() as rig:
        await said(rig, "Our deploy day is Friday", "Our deploy day is Tuesday now")
        ada = await rig.handle("ada")
        recalled = await ada.read.recall(Query("What is our deploy day?", rig.clock.now(), 20))
        contents = [one.record.content for one in recalled.results]
        assert contents == ["Our deploy day is Tuesday now"]


async def test_an_old_statement_is_replaced_among_many_newer_ones() -> None:
    """Only the ten newest statements were candidates for a replacement."""
    async with memory_rig() as rig:
        await said(rig, "My phone number is 12")
        ada = await rig.handle("ada")
        for number in range(400):
            room, thing = ("office", "kitchen", "garden")[number % 3], number % 7
            text = (
                f"The phone of the {room} rang {number} times on day {thing}, says my number list"
            )
            await ada.write.remember(Draft(text, Kind.FACT))
        await said(rig, "My phone number is 34 now")
        kept = await current(rig)
        assert "My phone number is 12" not in kept
        assert len(kept) == 401


async def test_the_same_statement_of_several_writers_is_stored_once() -> None:
    """Every memory was there two or three times."""
    async with memory_rig() as rig:
        handles = [await rig.handle("ada") for _ in range(8)]
        draft = Draft("The Reddit scanner is in the marketing repository", Kind.FACT)
        results = await asyncio.gather(*(ada.write.remember(draft) for ada in handles))
        assert sorted(result.code for result in results) == ["duplicate"] * 7 + ["stored"]
        assert len(await current(rig)) == 1


async def test_a_brief_that_comes_back_is_not_stored_again() -> None:
    """What the model recalled was stored again after every turn."""
    async with memory_rig() as rig:
        texts = ["Ida plays the cello", "The cat is called Milo", "The rent is due on Mondays"]
        await said(rig, *texts)
        for _ in range(3):
            assert await said(rig, *(await current(rig))) == ["duplicate"] * 3
        assert await current(rig) == texts
