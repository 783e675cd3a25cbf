"""Filing memories under their words: one that processes die of does not hold the others up."""

from collections.abc import Sequence

from gateway.crash_loop.deaths import MAX_DEATHS
from gateway.ports.work_guard import WorkItem
from memory.filing import AT_ONCE, MAX_PASSED, Filing
from tests.support.work import suspected


class Shelf:
    """Holds memories that are not filed, the newest first."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.left = list(ids)
        self.batches: list[list[str]] = []

    async def unfiled(self, limit: int, passed: Sequence[str]) -> list[str]:
        return [one for one in self.left if one not in passed][:limit]

    async def file(self, ids: Sequence[str]) -> int:
        self.batches.append(list(ids))
        self.left = [one for one in self.left if one not in ids]
        return len(ids)


async def finish(filing: Filing) -> int:
    """All steps; how many."""
    steps = 0
    while await filing.step():
        steps += 1
    return steps


async def test_a_deadly_memory_is_left_out_and_a_suspect_is_filed_alone() -> None:
    shelf, guard = Shelf(["a", "b", "c", "d"]), suspected("filing", {"b": MAX_DEATHS, "c": 1})
    await finish(Filing(shelf, guard))
    assert shelf.batches == [["a", "d"], ["c"]]
    assert shelf.left == ["b"]
    marked = [[item.id for item in items] for items in guard.marked]
    assert marked == shelf.batches
    assert {item.kind for items in guard.marked for item in items} == {"filing"}
    assert guard.in_work == []


async def test_a_page_of_deadly_ones_does_not_hide_the_next() -> None:
    bad = [f"bad{number}" for number in range(AT_ONCE)]
    shelf = Shelf([*bad, "good"])
    await finish(Filing(shelf, suspected("filing", dict.fromkeys(bad, MAX_DEATHS))))
    assert shelf.batches == [["good"]]


async def test_it_ends_whatever_is_left() -> None:
    bad = [f"bad{number}" for number in range(2 * MAX_PASSED)]
    filing = Filing(Shelf(bad), suspected("filing", dict.fromkeys(bad, MAX_DEATHS)))
    assert await finish(filing) <= MAX_PASSED // AT_ONCE
    assert await filing.step() == 0


async def test_without_suspects_everything_goes_in_pages() -> None:
    shelf = Shelf([str(number) for number in range(AT_ONCE + 1)])
    assert await finish(Filing(shelf)) == 2
    assert [len(batch) for batch in shelf.batches] == [AT_ONCE, 1]
    assert WorkItem("filing", "1").key == "filing:1"
