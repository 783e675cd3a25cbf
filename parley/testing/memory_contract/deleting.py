"""A deletion takes effect at the next question."""

from pathlib import Path
from typing import Final

from gateway.people import Role
from memory.model.record import Draft, Kind, Scope, Tier
from parley.testing.case import MemoryCase
from parley.testing.memory_stage import ROOM, MemoryStage, opened_memory

STATEMENT: Final = "My locker has number twelve."
QUESTION: Final = "Which number has my locker?"


async def is_gone(memory: MemoryStage) -> bool:
    """True if no question, list, prompt and export has the statement."""
    texts = (
        *await memory.recalled(QUESTION),
        *await memory.listed(),
        await memory.prompted(),
        await memory.exported(),
    )
    return not any("locker" in text for text in texts)


async def test_a_deleted_statement_is_gone_at_once(memory: MemoryStage) -> None:
    stored = await memory.remember(STATEMENT, kind=Kind.PREFERENCE)
    assert "locker" in await memory.prompted()
    handle = await memory.handle()
    assert await handle.erasure.delete([stored.memory_id]) == [stored.memory_id]
    assert await is_gone(memory)
    assert await handle.erasure.delete([stored.memory_id]) == []


async def test_a_deleted_statement_is_gone_after_a_restart(
    memory: MemoryStage, memory_case: MemoryCase, tmp_path: Path
) -> None:
    stored = await memory.remember(STATEMENT)
    await (await memory.handle()).erasure.delete([stored.memory_id])
    async with opened_memory(memory_case, tmp_path) as again:
        assert await is_gone(again)


async def test_a_topic_is_found_and_deleted(memory: MemoryStage) -> None:
    await memory.remember(STATEMENT)
    await memory.remember("The library closes at nine.")
    erasure = (await memory.handle()).erasure
    matches = await erasure.matches("locker")
    assert [one.record.content for one in matches.items if one.record] == [STATEMENT]
    await erasure.forget([one.refs for one in matches.items], erasure.hashed("locker"))
    assert await is_gone(memory)
    assert await memory.listed() == ["The library closes at nine."]


async def test_a_deleted_message_takes_what_was_derived_from_it(memory: MemoryStage) -> None:
    caller = memory.caller(message="m-17", words=STATEMENT)
    await (await memory.handle(caller)).write.infer(Draft(STATEMENT, Kind.FACT, quote=STATEMENT))
    assert await memory.listed() == [STATEMENT]
    elsewhere = memory.caller("bob", ROOM)
    await memory.wired.remembering.deleted("default", elsewhere.place, ["m-17"])
    assert await memory.listed() == [STATEMENT]
    await memory.wired.remembering.deleted("default", caller.place, ["m-17"])
    assert await is_gone(memory)


async def test_an_undone_statement_is_gone(memory: MemoryStage) -> None:
    handle = await memory.handle(memory.caller(words=STATEMENT))
    await handle.write.infer(Draft(STATEMENT, Kind.FACT, quote=STATEMENT))
    undone = await handle.write.undo()
    assert [record.content for record in undone.gone] == [STATEMENT]
    assert await is_gone(memory)


async def test_everything_of_a_tier_is_cleared(memory: MemoryStage) -> None:
    await memory.remember(STATEMENT)
    await memory.remember("The locker is green.", memory.caller("ada", ROOM))
    bob = memory.caller("bob")
    await memory.remember("Bob reads at night.", bob)
    assert await (await memory.handle()).erasure.clear([Tier.SEMANTIC]) == 2
    assert await is_gone(memory)
    assert await memory.listed(bob) == ["Bob reads at night."]


async def test_an_export_contains_every_statement(memory: MemoryStage) -> None:
    await memory.remember(STATEMENT)
    await memory.remember("Ich mag Äpfel.", memory.caller("ada", ROOM))
    exported = await memory.exported()
    assert STATEMENT in exported
    assert "Ich mag Äpfel." in exported


async def test_an_erasure_leaves_nothing_of_the_person(
    memory: MemoryStage, memory_case: MemoryCase, tmp_path: Path
) -> None:
    bob = memory.caller("bob")
    await memory.remember(STATEMENT)
    await memory.remember("The locker is green.", memory.caller("ada", ROOM))
    await memory.remember("Bob reads at night.", bob)
    deleted, _ = await (await memory.handle()).erasure.erase_all()
    assert deleted >= 2
    assert await is_gone(memory)
    assert await memory.listed(bob) == ["Bob reads at night."]
    async with opened_memory(memory_case, tmp_path) as again:
        assert await is_gone(again)


async def test_an_erasure_leaves_shared_statements_without_the_person(memory: MemoryStage) -> None:
    olga = memory.caller("olga", ROOM, role=Role.OPERATOR)
    await memory.remember("The office has forty chairs.", olga, scope=Scope.PROJECT)
    await (await memory.handle(olga)).erasure.erase_all()
    assert "chairs" not in await memory.exported(memory.caller("olga", ROOM))
    shared = await memory.listed(memory.caller("bob", ROOM))
    assert shared == ["The office has forty chairs."]
