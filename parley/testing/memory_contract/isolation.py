"""Nobody reads or changes what belongs to another person, room or tenant, and secrets are removed
before a text is stored."""

from typing import Final

from gateway.people import Role
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, Scope
from parley.testing.memory_stage import ELSEWHERE, OTHER_ROOM, ROOM, MemoryStage

TOKEN: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRET_PLAN: Final = "The surprise party for Bob is on Friday."
QUESTION: Final = "When is the surprise party?"


async def test_a_statement_is_hidden_from_other_people(memory: MemoryStage) -> None:
    await memory.remember(SECRET_PLAN)
    bob = memory.caller("bob")
    assert await memory.recalled(QUESTION, bob) == []
    assert await memory.listed(bob) == []
    assert "party" not in await memory.prompted(bob)
    assert "party" not in await memory.exported(bob)


async def test_a_statement_is_hidden_from_the_same_id_in_another_tenant(
    memory: MemoryStage,
) -> None:
    await memory.remember(SECRET_PLAN)
    same_id = memory.caller("ada", tenant="globex")
    assert await memory.recalled(QUESTION, same_id) == []
    assert await memory.listed(same_id) == []
    assert "party" not in await memory.exported(same_id)


async def test_a_private_statement_stays_out_of_rooms(memory: MemoryStage) -> None:
    await memory.remember(SECRET_PLAN)
    in_room = memory.caller("ada", ROOM)
    assert await memory.recalled(QUESTION, in_room) == []
    assert await memory.listed(in_room) == []
    assert "party" not in await memory.prompted(in_room)


async def test_a_statement_from_a_room_is_shown_there_and_in_private_alone(
    memory: MemoryStage,
) -> None:
    await memory.remember(SECRET_PLAN, memory.caller("ada", ROOM))
    assert await memory.recalled(QUESTION, memory.caller("ada", ROOM)) == [SECRET_PLAN]
    assert await memory.recalled(QUESTION) == [SECRET_PLAN]
    assert await memory.recalled(QUESTION, memory.caller("ada", OTHER_ROOM)) == []
    assert await memory.recalled(QUESTION, memory.caller("bob", ROOM)) == []


async def test_a_statement_of_a_project_is_shared_within_it_alone(memory: MemoryStage) -> None:
    operator = memory.caller("olga", ROOM, role=Role.OPERATOR)
    await memory.remember("The party room has forty chairs.", operator, scope=Scope.PROJECT)
    question = "How many chairs does the party room have?"
    assert len(await memory.recalled(question, memory.caller("bob", OTHER_ROOM))) == 1
    assert await memory.recalled(question, memory.caller("bob", ELSEWHERE)) == []
    assert await memory.recalled(question, memory.caller("bob", ROOM, tenant="globex")) == []


async def test_another_person_cannot_delete_a_statement(memory: MemoryStage) -> None:
    stored = await memory.remember(SECRET_PLAN)
    for caller in (memory.caller("bob"), memory.caller("ada", tenant="globex")):
        handle = await memory.handle(caller)
        assert await handle.erasure.delete([stored.memory_id]) == []
        assert await handle.read.get(stored.memory_id) is None
    assert await memory.listed() == [SECRET_PLAN]


async def test_another_person_cannot_replace_a_statement(memory: MemoryStage) -> None:
    stored = await memory.remember(SECRET_PLAN)
    handle = await memory.handle(memory.caller("bob"))
    draft = Draft("The party is cancelled.", Kind.FACT, supersedes=stored.memory_id)
    assert (await handle.write.remember(draft)).outcome is Outcome.REFUSED
    assert await memory.listed() == [SECRET_PLAN]


async def test_the_same_statement_of_two_people_is_stored_for_both(memory: MemoryStage) -> None:
    bob = memory.caller("bob")
    assert (await memory.remember(SECRET_PLAN)).outcome is Outcome.STORED
    assert (await memory.remember(SECRET_PLAN, bob)).outcome is Outcome.STORED
    assert await memory.listed(bob) == [SECRET_PLAN]


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
