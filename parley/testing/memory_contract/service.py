"""Stored statements of a person are found again, by that person alone and without secrets; a
deletion takes effect at the next question."""

import asyncio
from pathlib import Path
from typing import Final

from gateway.people import Role
from gateway.ports.memory_backend import MAX_PAGE
from memory.model.outcome import Outcome
from memory.model.record import MAX_MEMORY, Draft, Kind, Scope, Tier
from parley.testing.case import MemoryCase
from parley.testing.memory_stage import ELSEWHERE, OTHER_ROOM, ROOM, MemoryStage, opened_memory

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
TOKEN: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PARTY: Final = "The surprise party for Bob is on Friday."
PARTY_QUESTION: Final = "When is the surprise party?"
LOCKER: Final = "My locker has number twelve."
LOCKER_QUESTION: Final = "Which number has my locker?"


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


async def test_a_statement_is_hidden_from_other_people(memory: MemoryStage) -> None:
    await memory.remember(PARTY)
    bob = memory.caller("bob")
    assert await memory.recalled(PARTY_QUESTION, bob) == []
    assert await memory.listed(bob) == []
    assert "party" not in await memory.prompted(bob)
    assert "party" not in await memory.exported(bob)


async def test_a_statement_is_hidden_from_the_same_id_in_another_tenant(
    memory: MemoryStage,
) -> None:
    await memory.remember(PARTY)
    same_id = memory.caller("ada", tenant="globex")
    assert await memory.recalled(PARTY_QUESTION, same_id) == []
    assert await memory.listed(same_id) == []
    assert "party" not in await memory.exported(same_id)


async def test_a_private_statement_stays_out_of_rooms(memory: MemoryStage) -> None:
    await memory.remember(PARTY)
    in_room = memory.caller("ada", ROOM)
    assert await memory.recalled(PARTY_QUESTION, in_room) == []
    assert await memory.listed(in_room) == []
    assert "party" not in await memory.prompted(in_room)


async def test_a_statement_from_a_room_is_shown_there_and_in_private_alone(
    memory: MemoryStage,
) -> None:
    await memory.remember(PARTY, memory.caller("ada", ROOM))
    assert await memory.recalled(PARTY_QUESTION, memory.caller("ada", ROOM)) == [PARTY]
    assert await memory.recalled(PARTY_QUESTION) == [PARTY]
    assert await memory.recalled(PARTY_QUESTION, memory.caller("ada", OTHER_ROOM)) == []
    assert await memory.recalled(PARTY_QUESTION, memory.caller("bob", ROOM)) == []


async def test_a_statement_of_a_project_is_shared_within_it_alone(memory: MemoryStage) -> None:
    operator = memory.caller("olga", ROOM, role=Role.OPERATOR)
    await memory.remember("The party room has forty chairs.", operator, scope=Scope.PROJECT)
    question = "How many chairs does the party room have?"
    assert len(await memory.recalled(question, memory.caller("bob", OTHER_ROOM))) == 1
    assert await memory.recalled(question, memory.caller("bob", ELSEWHERE)) == []
    assert await memory.recalled(question, memory.caller("bob", ROOM, tenant="globex")) == []


async def test_another_person_cannot_delete_a_statement(memory: MemoryStage) -> None:
    stored = await memory.remember(PARTY)
    for caller in (memory.caller("bob"), memory.caller("ada", tenant="globex")):
        handle = await memory.handle(caller)
        assert await handle.erasure.delete([stored.memory_id]) == []
        assert await handle.read.get(stored.memory_id) is None
    assert await memory.listed() == [PARTY]


async def test_another_person_cannot_replace_a_statement(memory: MemoryStage) -> None:
    stored = await memory.remember(PARTY)
    handle = await memory.handle(memory.caller("bob"))
    draft = Draft("The party is cancelled.", Kind.FACT, supersedes=stored.memory_id)
    assert (await handle.write.remember(draft)).outcome is Outcome.REFUSED
    assert await memory.listed() == [PARTY]


async def test_the_same_statement_of_two_people_is_stored_for_both(memory: MemoryStage) -> None:
    bob = memory.caller("bob")
    assert (await memory.remember(PARTY)).outcome is Outcome.STORED
    assert (await memory.remember(PARTY, bob)).outcome is Outcome.STORED
    assert await memory.listed(bob) == [PARTY]


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


async def is_gone(memory: MemoryStage) -> bool:
    """True if no question, list, prompt and export has the statement."""
    texts = (
        *await memory.recalled(LOCKER_QUESTION),
        *await memory.listed(),
        await memory.prompted(),
        await memory.exported(),
    )
    return not any("locker" in text for text in texts)


async def test_a_deleted_statement_is_gone_at_once(memory: MemoryStage) -> None:
    stored = await memory.remember(LOCKER, kind=Kind.PREFERENCE)
    assert "locker" in await memory.prompted()
    handle = await memory.handle()
    assert await handle.erasure.delete([stored.memory_id]) == [stored.memory_id]
    assert await is_gone(memory)
    assert await handle.erasure.delete([stored.memory_id]) == []


async def test_a_deleted_statement_is_gone_after_a_restart(
    memory: MemoryStage, memory_case: MemoryCase, tmp_path: Path
) -> None:
    stored = await memory.remember(LOCKER)
    await (await memory.handle()).erasure.delete([stored.memory_id])
    async with opened_memory(memory_case, tmp_path) as again:
        assert await is_gone(again)


async def test_a_topic_is_found_and_deleted(memory: MemoryStage) -> None:
    await memory.remember(LOCKER)
    await memory.remember("The library closes at nine.")
    erasure = (await memory.handle()).erasure
    matches = await erasure.matches("locker")
    assert [one.record.content for one in matches.items if one.record] == [LOCKER]
    await erasure.forget([one.refs for one in matches.items], erasure.hashed("locker"))
    assert await is_gone(memory)
    assert await memory.listed() == ["The library closes at nine."]


async def test_a_deleted_message_takes_what_was_derived_from_it(memory: MemoryStage) -> None:
    caller = memory.caller(message="m-17", words=LOCKER)
    await (await memory.handle(caller)).write.infer(Draft(LOCKER, Kind.FACT, quote=LOCKER))
    assert await memory.listed() == [LOCKER]
    elsewhere = memory.caller("bob", ROOM)
    await memory.wired.remembering.deleted("default", elsewhere.place, ["m-17"])
    assert await memory.listed() == [LOCKER]
    await memory.wired.remembering.deleted("default", caller.place, ["m-17"])
    assert await is_gone(memory)


async def test_an_undone_statement_is_gone(memory: MemoryStage) -> None:
    handle = await memory.handle(memory.caller(words=LOCKER))
    await handle.write.infer(Draft(LOCKER, Kind.FACT, quote=LOCKER))
    undone = await handle.write.undo()
    assert [record.content for record in undone.gone] == [LOCKER]
    assert await is_gone(memory)


async def test_everything_of_a_tier_is_cleared(memory: MemoryStage) -> None:
    await memory.remember(LOCKER)
    await memory.remember("The locker is green.", memory.caller("ada", ROOM))
    bob = memory.caller("bob")
    await memory.remember("Bob reads at night.", bob)
    assert await (await memory.handle()).erasure.clear([Tier.SEMANTIC]) == 2
    assert await is_gone(memory)
    assert await memory.listed(bob) == ["Bob reads at night."]


async def test_an_export_contains_every_statement(memory: MemoryStage) -> None:
    await memory.remember(LOCKER)
    await memory.remember("Ich mag Äpfel.", memory.caller("ada", ROOM))
    exported = await memory.exported()
    assert LOCKER in exported
    assert "Ich mag Äpfel." in exported


async def test_an_erasure_leaves_nothing_of_the_person(
    memory: MemoryStage, memory_case: MemoryCase, tmp_path: Path
) -> None:
    bob = memory.caller("bob")
    await memory.remember(LOCKER)
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
