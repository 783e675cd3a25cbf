"""The model's replacements in one session: those that it names, and those that follow from what the
person said. People, imports and decisions are not limited."""

import json

from gateway.text import ENGLISH
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.service.people import SESSION_LIMITS
from tests.memory.rig import Rig

MOST = SESSION_LIMITS["supersedes"]
THINGS = (
    *("bicycle lamp", "garden fence", "coffee mug", "winter jacket", "kitchen table"),
    *("front door", "laptop sleeve"),
)


async def store(rig: Rig, says: str, **arguments: str) -> tuple[dict[str, object], str]:
    """The model stores what the person says; its answer, and the note under the answer."""
    turn = await rig.remembrance.turn(rig.caller(says=says))
    fields = {"type": "preference", "content": says, "quote": says} | arguments
    answer: dict[str, object] = json.loads(await turn.tools.call("memory_store", fields))
    saved = (await turn.finish("All right.", ("memory_store",))).shown(ENGLISH).note
    return answer, saved


async def stored_texts(rig: Rig) -> list[str]:
    """The person's memories that nothing replaced."""
    found = await (await rig.handle()).read.search(Filter(limit=100, turns=False))
    return [match.record.content for match in found]


async def replaced_things(rig: Rig, count: int) -> None:
    """Use up replacements that no call names."""
    for thing in THINGS[:count]:
        await store(rig, f"My {thing} is red.")
        answer, _ = await store(rig, f"My {thing} is green now, not red.")
        assert answer["success"]


async def test_automatic_replacements_count_and_the_next_one_keeps_both(rig: Rig) -> None:
    await replaced_things(rig, MOST)
    assert sorted(await stored_texts(rig)) == sorted(
        f"My {thing} is green now, not red." for thing in THINGS[:MOST]
    )
    last = THINGS[MOST]
    await store(rig, f"My {last} is red.")
    answer, note = await store(rig, f"My {last} is green now, not red.")
    assert answer["success"]
    assert "at most 5 memories" in str(answer["notices"])
    assert "at most 5 memories" in note
    texts = await stored_texts(rig)
    assert len(await (await rig.handle()).contradictions.marks()) == 2
    assert f"My {last} is green now, not red." in texts
    assert f"My {last} is red." in texts


async def test_named_and_automatic_replacements_count_together(rig: Rig) -> None:
    await replaced_things(rig, MOST - 1)
    old, _ = await store(rig, "My lunch bag is red.")
    answer, _ = await store(rig, "My lunch bag is blue.", supersedes=str(old["id"]))
    assert answer["success"]
    refused, _ = await store(rig, "My lunch bag is black.", supersedes=str(answer["id"]))
    assert refused == {"success": False, "error": "A session replaces at most 5 memories."}
    assert "My lunch bag is blue." in await stored_texts(rig)


async def test_a_person_replaces_without_limit_and_a_new_session_may_again(rig: Rig) -> None:
    await replaced_things(rig, MOST)
    ada = await rig.handle()
    for thing in THINGS[MOST:]:
        await ada.write.remember(Draft(f"My {thing} is red.", Kind.PREFERENCE))
        kept = await ada.write.remember(
            Draft(f"My {thing} is green now, not red.", Kind.PREFERENCE)
        )
        assert (kept.outcome, "It replaces" in kept.replacement_notice.english) == (
            Outcome.STORED,
            True,
        )
    await rig.clock.advance(31 * 60)
    await store(rig, "My tea box is red.")
    await store(rig, "My tea box is green now, not red.")
    assert "My tea box is red." not in await stored_texts(rig)


async def test_a_statement_too_like_the_old_one_to_stand_beside_it_is_asked_about(rig: Rig) -> None:
    await replaced_things(rig, MOST)
    words = " ".join(f"word{number}" for number in range(40))
    await store(rig, f"The list is now {words} and Bern.")
    answer, question = await store(rig, f"The list is now {words} and Basel.")
    assert answer["status"] == "waiting_for_the_person"
    assert "It may replace" in str(answer["error"])
    assert "Keep this?" in question
    ada = await rig.handle()
    (waiting,) = await ada.review.waiting()
    assert (await ada.review.approve(waiting.id)).outcome is Outcome.STORED
    (kept,) = [text for text in await stored_texts(rig) if "word39" in text]
    assert kept.endswith("Basel.")
