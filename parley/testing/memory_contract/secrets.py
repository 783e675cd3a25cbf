"""Secrets are removed before a text is stored, wherever it is stored."""

from typing import Final

from memory.model.outcome import Outcome
from parley.testing.memory_stage import MemoryStage

TOKEN: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def test_a_secret_in_a_statement_is_not_stored(memory: MemoryStage) -> None:
    stored = await memory.remember(f"The deployment of the bridge uses the token {TOKEN} daily.")
    assert stored.outcome is Outcome.STORED
    assert TOKEN not in stored.content
    assert TOKEN not in await memory.exported()
    assert all(TOKEN not in text for text in await memory.listed())


async def test_a_statement_that_is_only_a_secret_is_refused(memory: MemoryStage) -> None:
    assert (await memory.remember(TOKEN)).outcome is Outcome.REFUSED
    assert await memory.listed() == []


async def test_a_secret_in_a_tag_is_not_stored(memory: MemoryStage) -> None:
    await memory.remember("The bridge is deployed daily.", tags=(f"{TOKEN}",))
    assert TOKEN not in await memory.exported()


async def test_a_question_with_a_secret_leaves_nothing(memory: MemoryStage) -> None:
    await memory.remember("The bridge is deployed daily.")
    await memory.recalled(f"Is the bridge deployed with {TOKEN}?")
    assert TOKEN not in await memory.exported()
