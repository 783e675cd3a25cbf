"""A plan without room: the model learns it at once, and the person is asked only about what could
still be kept."""

import asyncio
import json

import pytest

from gateway.text import ENGLISH
from memory.model.outcome import Outcome
from memory.model.plans import BUILT_IN, refusal_of
from memory.model.record import Draft, InputKind, Kind
from tests.memory.rig import Rig

FULL = "Memory limit reached (3/3). Upgrade to Pro for up to 15 memories."
OWNED = ("Has a dog", "Lives in Berlin", "Plays the violin")


async def fill(rig: Rig, count: int = 3) -> list[str]:
    ada = await rig.handle()
    return [(await ada.write.remember(Draft(text, Kind.FACT))).memory_id for text in OWNED[:count]]


async def call(rig: Rig, tool: str, **fields: str) -> tuple[dict[str, object], str]:
    """Call a tool of the model in a turn in which the person only greets."""
    turn = await rig.remembrance.turn(rig.caller(says="Good morning"))
    await turn.prompt_parts()
    answer: dict[str, object] = json.loads(await turn.tools.call(tool, fields))
    return answer, (await turn.finish("All right.", (tool,))).shown(ENGLISH).note


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("memory_store", {"type": "fact", "content": "Collects stamps"}),
        ("update_customer_brain", {"target": "memory", "content": "Collects stamps"}),
    ],
)
async def test_a_conclusion_of_the_model_is_refused_at_once(
    free_rig: Rig, tool: str, fields: dict[str, str]
) -> None:
    await fill(free_rig)
    answer, note = await call(free_rig, tool, **fields)
    assert answer == {"success": False, "error": FULL}
    assert note == ""
    assert await (await free_rig.handle()).review.waiting() == []


async def test_with_room_left_the_person_is_asked(free_rig: Rig) -> None:
    await fill(free_rig, 2)
    answer, note = await call(free_rig, "memory_store", type="fact", content="Collects stamps")
    assert answer["status"] == "waiting_for_the_person"
    assert "Keep this?" in note


async def test_a_repetition_at_the_limit_is_called_a_repetition(free_rig: Rig) -> None:
    await fill(free_rig)
    answer, _ = await call(free_rig, "memory_store", type="fact", content="Has a dog")
    assert answer == {"success": False, "error": "It is stored already."}


async def test_a_replacement_needs_no_room(free_rig: Rig) -> None:
    (dog, *_) = await fill(free_rig)
    answer, _ = await call(
        free_rig, "memory_store", type="fact", content="Has two dogs and a cat", supersedes=dog
    )
    assert answer["status"] == "waiting_for_the_person"
    ada = await free_rig.handle()
    (waiting,) = await ada.review.waiting()
    assert (await ada.review.approve(waiting.id, keep_both=True)).reason.english == FULL
    assert (await ada.review.approve(waiting.id)).outcome is Outcome.STORED
    assert await ada.read.count() == 3


async def test_keep_is_refused_if_the_plan_became_full_after_the_question(free_rig: Rig) -> None:
    await fill(free_rig, 2)
    await call(free_rig, "memory_store", type="fact", content="Collects stamps")
    ada = await free_rig.handle()
    (waiting,) = await ada.review.waiting()
    await ada.write.remember(Draft("Plays the violin", Kind.FACT))
    refused = await ada.review.approve(waiting.id)
    assert (refused.outcome, refused.reason.english) == (Outcome.REFUSED, FULL)
    assert [one.id for one in await ada.review.waiting()] == [waiting.id]


@pytest.mark.both_engines
async def test_of_several_decisions_at_once_only_those_with_room_are_kept(free_rig: Rig) -> None:
    await fill(free_rig, 2)
    for text in ("Collects stamps", "Owns a kite", "Speaks Greek"):
        await call(free_rig, "memory_store", type="fact", content=text)
    ada = await free_rig.handle()
    waiting = await ada.review.waiting()
    done = await asyncio.gather(*(ada.review.approve(one.id) for one in waiting))
    assert sorted(one.outcome for one in done) == ["refused", "refused", "stored"]
    assert await ada.read.count() == 3


async def test_a_person_is_not_asked_about_a_doubtful_text_that_cannot_be_kept(
    free_rig: Rig,
) -> None:
    digits = "3f9a7c1e5b2d8046" + "a1c3e5f7092b4d6880ff12ab"
    doubtful = Draft(f"the value is {digits}", Kind.FACT)
    ada = await free_rig.handle()
    assert (await ada.write.remember(doubtful)).outcome is Outcome.REVIEW
    await fill(free_rig)
    ada = await free_rig.handle()
    refused = await ada.write.remember(Draft(f"{doubtful.content}, says Bea", Kind.FACT))
    assert (refused.outcome, refused.reason.english) == (Outcome.REFUSED, FULL)


async def test_the_limit_of_a_plan_binds_what_an_agent_stores(free_rig: Rig) -> None:
    await fill(free_rig)
    ada = await free_rig.handle()
    result = await free_rig.path.write(
        ada.request, ada.access, Draft("Collects stamps", Kind.FACT), InputKind.ASSISTANT
    )
    assert (result.outcome, result.code, result.reason.english) == (Outcome.REFUSED, "quota", FULL)


@pytest.mark.parametrize(("plan", "limit"), [("free", 3), ("pro", 15)])
def test_the_refusals_of_the_built_in_plans_begin_with_the_numbers(plan: str, limit: int) -> None:
    assert BUILT_IN[plan].memories == limit
    said = refusal_of(BUILT_IN[plan], limit)
    assert said.english.startswith(f"Memory limit reached ({limit}/{limit}). ")
