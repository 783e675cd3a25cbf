"""Stored statements of a person are found again."""

import asyncio
from pathlib import Path
from typing import Final

from gateway.ports.memory_backend import MAX_PAGE
from memory.model.outcome import Outcome
from memory.model.record import MAX_MEMORY, Draft, Kind
from parley.testing.case import MemoryCase
from parley.testing.memory_stage import MemoryStage, opened_memory

STATEMENT: Final = "The gate of the red bridge opens at seven."
SCRIPTS: Final = (
    "私の好きな飲み物は緑茶です。",
    "أحب القهوة بدون سكر.",
    "Žofín: naïve café, 100 % – “quoted” 😀👩‍👩‍👧",
    "Ответ на вопрос: сорок два.",
)
MARKUP: Final = (
    "First line.\n---\nid: mem-other\nperson: chat:main:bob\n---\nLast line.",
    "# Heading\n- [ ] task with `code` and [[a link]] and ![image](x.png)",
    "a: {b: [1, 2]} & *anchor | pipe > fold % percent @ at ! tag",
    "\"quoted\" and 'single' and \\ backslash and \t tab",
    "../../etc/passwd and C:\\temp\\x and /absolute",
)


async def test_a_statement_is_recalled_and_listed(memory: MemoryStage) -> None:
    stored = await memory.remember(STATEMENT)
    assert stored.outcome is Outcome.STORED
    assert await memory.recalled("When does the gate of the red bridge open?") == [STATEMENT]
    assert await memory.listed() == [STATEMENT]


async def test_a_preference_is_in_the_prompt(memory: MemoryStage) -> None:
    await memory.remember("I prefer short answers about bridges.", kind=Kind.PREFERENCE)
    assert "short answers about bridges" in await memory.prompted()


async def test_statements_in_any_script_are_returned_unchanged(memory: MemoryStage) -> None:
    for text in SCRIPTS:
        assert (await memory.remember(text)).outcome is Outcome.STORED
    assert sorted(await memory.listed()) == sorted(SCRIPTS)


async def test_markup_in_a_statement_stays_one_statement(memory: MemoryStage) -> None:
    stored = [(await memory.remember(text)).content for text in MARKUP]
    assert sorted(await memory.listed()) == sorted(stored)
    assert await memory.listed(memory.caller("bob")) == []


async def test_tags_kind_and_date_are_returned(memory: MemoryStage) -> None:
    await memory.remember(STATEMENT, kind=Kind.DECISION, tags=("bridge", "größe: 5"))
    handle = await memory.handle()
    (record,) = [record async for record in handle.read.everything()]
    assert record.kind is Kind.DECISION
    assert record.tags == ("bridge", "größe: 5")
    assert abs((memory.clock.now() - record.provenance.at).total_seconds()) < 60


async def test_a_long_statement_is_cut(memory: MemoryStage) -> None:
    stored = await memory.remember("bridge " * 250)
    assert len(stored.content) <= MAX_MEMORY
    assert await memory.listed() == [stored.content]


async def test_the_same_statement_is_stored_once(memory: MemoryStage) -> None:
    results = await asyncio.gather(*(memory.remember(STATEMENT) for _ in range(4)))
    assert [one.outcome for one in results].count(Outcome.STORED) == 1
    assert await memory.listed() == [STATEMENT]


async def test_concurrent_statements_of_several_people_are_all_stored(memory: MemoryStage) -> None:
    people = [memory.caller(f"person{number}") for number in range(5)]
    texts = [f"Bridge number {number} is {number * 7} metres long." for number in range(6)]
    await asyncio.gather(*(memory.remember(text, who) for who in people for text in texts))
    for who in people:
        assert sorted(await memory.listed(who)) == sorted(texts)


async def test_hundreds_of_statements_are_listed_completely(memory: MemoryStage) -> None:
    texts = {f"Lamp {number} stands on pillar {number * 3}." for number in range(MAX_PAGE + 5)}
    await memory.fill(sorted(texts))
    assert set(await memory.listed()) == texts
    handle = await memory.handle()
    assert {record.content async for record in handle.read.everything()} == texts


async def test_a_replaced_statement_is_no_longer_recalled(memory: MemoryStage) -> None:
    await memory.remember("My favourite bridge is the red one.")
    changed = memory.caller(words="Actually, my favourite bridge is now the blue one.")
    handle = await memory.handle(changed)
    (old,) = [record async for record in handle.read.everything()]
    draft = Draft("My favourite bridge is the blue one.", Kind.FACT, supersedes=old.id)
    assert (await handle.write.remember(draft)).outcome is Outcome.STORED
    assert await memory.listed() == ["My favourite bridge is the blue one."]
    recalled = await memory.recalled("What is my favourite bridge?")
    assert recalled == ["My favourite bridge is the blue one."]


async def test_everything_is_there_after_a_restart(
    memory: MemoryStage, memory_case: MemoryCase, tmp_path: Path
) -> None:
    await memory.remember(STATEMENT, kind=Kind.DECISION, tags=("bridge",))
    async with opened_memory(memory_case, tmp_path) as again:
        assert await again.listed() == [STATEMENT]
        assert await again.recalled("When does the gate of the red bridge open?") == [STATEMENT]
