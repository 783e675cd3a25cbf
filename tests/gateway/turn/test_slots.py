"""A turn that waits for its model makes room for others, and works on when there is room again."""

import asyncio

import pytest

from gateway.turn.slots import Slots, StorePlaces
from tests.support.clock import settle


class Turns:
    """Turns that wait as long as they are told, and new ones that wait for their first slot."""

    def __init__(self, size: int, most_aside: int = 10, held: int = 0) -> None:
        self.slots = Slots(size, most_aside, most_bytes=10)
        self.held = held
        self.slots.begin = self._begin
        self.new: list[str] = []
        self.working: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def _begin(self) -> bool:
        if not self.new:
            return False
        self.slots.take()
        self.start(self.new.pop(0))
        return True

    def submit(self, name: str) -> None:
        self.new.append(name)
        self.slots.offer()

    def start(self, name: str) -> None:
        """A turn that waits once for its gate, and then works on."""
        self.gates[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._run(name))

    async def _run(self, name: str) -> None:
        async def wait() -> None:
            await self.gates[name].wait()

        await self.slots.without(wait(), self.held)
        self.working.append(name)

    async def open(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()
            await settle()

    def end(self, name: str) -> None:
        self.working.remove(name)
        self.slots.give()


async def test_a_waiting_turn_releases_its_slot() -> None:
    turns = Turns(1)
    for name in ("a", "b"):
        turns.submit(name)
        await settle()
    assert list(turns.tasks) == ["a", "b"]
    assert (turns.slots.taken, turns.slots.aside) == (0, 2)


async def test_a_waiting_turn_continues_when_a_slot_is_free_in_order() -> None:
    turns = Turns(1)
    for name in ("a", "b", "c"):
        turns.submit(name)
    await settle()
    await turns.open("b", "a", "c")
    assert turns.working == ["b"]
    turns.end("b")
    await settle()
    assert turns.working == ["a"]
    turns.end("a")
    await settle()
    assert (turns.working, turns.slots.taken, turns.slots.aside) == (["c"], 1, 0)


async def test_new_and_returning_turns_alternate() -> None:
    turns = Turns(1)
    for name in ("a", "b", "c"):
        turns.submit(name)
    await settle()
    await turns.open("a", "b", "c")
    turns.new += ["new"]
    turns.end("a")
    await settle()
    assert "new" in turns.tasks, "it does not wait for all that come back"
    assert turns.working == ["b"], "the new one waits for its model now"


async def test_returning_turns_get_every_second_slot() -> None:
    turns = Turns(1)
    for name in ("a", "b", "c", "d"):
        turns.submit(name)
        await settle()
    await turns.open("a", "b", "c", "d")
    turns.new += [f"new{number}" for number in range(20)]
    for number, name in enumerate(("a", "b", "c", "d")):
        assert turns.working == [name]
        assert len(turns.tasks) == 4 + number, "one new turn began before each of them"
        turns.end(name)
        await settle()


async def test_without_free_space_a_waiting_turn_keeps_its_slot() -> None:
    turns = Turns(1, most_aside=1)
    for name in ("a", "b", "c"):
        turns.submit(name)
        await settle()
    assert list(turns.tasks) == ["a", "b"]
    assert (turns.slots.taken, turns.slots.aside) == (1, 1)
    await turns.open("b")
    assert turns.working == ["b"]


async def test_a_turn_with_too_many_bytes_keeps_its_slot() -> None:
    turns = Turns(1, held=4)
    for name in ("a", "b", "c", "d"):
        turns.submit(name)
        await settle()
    assert list(turns.tasks) == ["a", "b", "c"]
    assert (turns.slots.taken, turns.slots.aside) == (1, 2)
    turns.tasks["a"].cancel()
    await turns.open("c")
    turns.slots.give()  # a is over
    turns.end("c")
    await settle()
    assert (turns.slots.taken, turns.slots.aside) == (0, 2), "what a held counts no more"


@pytest.mark.parametrize("when", ["waiting", "coming back", "let back"])
async def test_a_cancelled_turn_leaves_the_counts_correct(when: str) -> None:
    turns = Turns(1)
    for name in ("a", "b"):
        turns.submit(name)
        await settle()
    await turns.open("a")
    if when != "waiting":
        turns.gates["b"].set()
        await settle()
    if when == "let back":
        turns.end("a")  # its slot is promised to b, which has not run yet
    turns.tasks["b"].cancel()
    await settle()
    assert turns.slots.aside == 0
    turns.slots.give()  # b is over
    if when != "let back":
        assert turns.slots.taken == 1
        turns.end("a")
    assert turns.slots.taken == 0
    turns.submit("c")
    assert "c" in turns.tasks


@pytest.mark.parametrize(("connections", "at_once"), [(10, 30), (0, 100)])
async def test_a_few_stages_use_the_stores_at_a_time(connections: int, at_once: int) -> None:
    places, running, most = StorePlaces.for_connections(connections), 0, 0

    async def stage() -> None:
        nonlocal running, most
        async with places.waiting():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(stage() for _ in range(100)))
    assert most == at_once


async def test_a_stage_goes_on_without_a_place_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.turn.slots.WAIT_SECONDS", 0.01)
    places = StorePlaces(1)
    async with places.waiting(), places.waiting():
        pass
    async with places.waiting():
        pass
