"""Messages of a thread that nobody addressed to the assistant leave nothing in memory."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.authorship import Material
from gateway.ports.memory import TurnMemory
from parley.wiring.storage import MemoryStores
from tests.memory.rig import Rig, memories_about, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

MARK = Material("thread", "")
"""An earlier answer that was made from a thread."""
OVERHEARD = Material("thread", "Bob earns 90 thousand since May", "Bob")
WORDING = {"type": "fact", "content": "Bob earns 90 thousand since May"}


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    clock, database = FakeClock(), sqlite_database(tmp_path / "test.db")
    await database.start()
    yield rig_on(MemoryStores(database, clock), database, clock)
    await database.stop()


@pytest.fixture(params=["in_this_turn", "in_an_earlier_turn"])
async def overheard(request: pytest.FixtureRequest, rig: Rig) -> TurnMemory:
    """A turn in whose prompt are messages of a thread, or an answer made from them."""
    turn = await rig.remembrance.turn(rig.caller(says="We prefer short names. Who earns what?"))
    turn.reads([OVERHEARD if request.param == "in_this_turn" else MARK])
    return turn


async def test_the_answer_is_not_remembered_and_marked_for_later_turns(
    overheard: TurnMemory,
) -> None:
    footer = await overheard.finish("Bob earns 90 thousand.", [])
    assert footer.turn is not None
    assert "90 thousand" not in footer.turn.body
    assert "short names" in footer.turn.body
    assert footer.derived == (MARK,)


@pytest.mark.parametrize("quote", ["", "Bob earns 90 thousand since May"])
async def test_nothing_of_it_becomes_a_memory_of_the_model(
    overheard: TurnMemory, quote: str
) -> None:
    stored = json.loads(await overheard.tools.call("memory_store", {**WORDING, "quote": quote}))
    assert (stored["success"], "earlier messages of a thread" in stored["error"]) == (False, True)


async def test_the_persons_own_sentence_is_stored_without_the_models_words(
    rig: Rig, overheard: TurnMemory
) -> None:
    given = {**WORDING, "quote": "We prefer short names", "tags": ["90-thousand"]}
    assert json.loads(await overheard.tools.call("memory_store", given))["success"]
    (record,) = await memories_about(await rig.handle(), "short names")
    assert (record.content, record.tags) == ("We prefer short names.", ())


@pytest.mark.parametrize("target", ["soul", "bible", "memory"])
async def test_it_does_not_become_a_document(overheard: TurnMemory, target: str) -> None:
    given = {"target": target, "content": WORDING["content"]}
    written = json.loads(await overheard.tools.call("update_customer_brain", given))
    assert (written["success"], "earlier messages of a thread" in written["error"]) == (False, True)
