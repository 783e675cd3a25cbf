"""What a person's statement does to their older ones: it replaces one, or both stay and may
contradict each other."""

from typing import Any

import pytest

from gateway.immutable import replace
from gateway.people import Role
from gateway.text import ENGLISH, text, verbatim
from memory.grounding.decision import Grounding, WritePolicy
from memory.model.outcome import STORED, Outcome, WriteResult
from memory.model.record import Draft, InputKind, Kind, Scope
from memory.ports.memories import Filter
from memory.turns.footer import footer_of
from memory.write.replacement import Compared, compared
from tests.memory.rig import FakeVerifier, memory_rig
from tests.memory.stores.records import record


def changed(text: str, *old: str) -> tuple[str, list[str]]:
    """Return what a statement replaces, and what it may contradict."""
    result = compared(text, [record(one) for one in old])
    replaces = result.replaces.content if result.replaces else ""
    return replaces, [one.content for one in result.contradicts]


def test_one_memory_is_replaced_and_others_may_be_contradicted() -> None:
    old = ["My phone number is 12", "My phone number is 13", "My sister lives in Rome"]
    assert changed("My phone number is 34 now", *old) == (old[0], [old[1]])


def test_what_no_form_proves_stays_beside_the_old_memory() -> None:
    assert changed("I live in Bern now", "I live in Basel") == ("", ["I live in Basel"])
    assert changed("I moved to Bern now", "My dog is called Rex") == ("", [])


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        ("I live in Bern", "I live in Basel", "replaces"),
        ("I live in Bern", "I live in Basel too", "replaces"),
        ("My dog is called Rex now", "I am allergic to penicillin", "may_contradict"),
        ("My son Finn is allergic to peanuts", "My daughter Lea is allergic to nuts", "beside"),
        ("Peanuts are dangerous for Finn", "Finn is allergic to nuts", "beside"),
    ],
)
def test_a_named_memory_is_replaced_if_the_subject_is_the_same(
    new: str, old: str, relation: str
) -> None:
    named = record(old)
    result = compared(new, [named], named)
    assert (result.replaces is named) == (relation == "replaces")
    assert (result.contradicts == (named,)) == (relation == "may_contradict")


@pytest.mark.parametrize(
    "other", [{"scope": Scope.PROJECT}, {"role": "user"}, {"superseded_by": "mem-x"}]
)
def test_turns_shared_and_replaced_memories_are_left_alone(other: dict[str, Any]) -> None:
    old = record("My phone number is 12", **other)
    assert compared("My phone number is 34 now", [old]) == Compared()
    assert compared("My phone number is 34 now", [old], old) == Compared()


async def test_the_old_preference_is_superseded_and_the_person_is_told() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        await ada.write.remember(Draft("I prefer tabs over spaces", Kind.PREFERENCE))
        text = "I prefer spaces now, not tabs"
        handle = await rig.handle("ada", says=text)
        result = await handle.write.infer(Draft("Prefers spaces", Kind.PREFERENCE, quote=text))
        assert result.outcome is Outcome.STORED
        assert tuple(one.english for one in result.notices) == (
            f"I now remember “{text}”. It replaces “I prefer tabs over spaces”.",
        )
        assert [match.record.content for match in await ada.read.search(Filter())] == [text]


async def test_a_pending_memory_replaces_nothing_and_names_what_it_would_replace() -> None:
    async with memory_rig(grounding=Grounding(FakeVerifier(), WritePolicy.CONFIRM)) as rig:
        ada = await rig.handle("ada")
        await ada.write.remember(Draft("I prefer tabs over spaces", Kind.PREFERENCE))
        text = "I prefer spaces now, not tabs"
        handle = await rig.handle("ada", says=text)
        result = await handle.write.infer(Draft("Prefers spaces", Kind.PREFERENCE, quote=text))
        assert (result.outcome, result.notices) == (Outcome.REVIEW, ())
        assert result.reason.english.endswith("It would replace “I prefer tabs over spaces”.")
        note = footer_of((result,)).shown(ENGLISH)
        assert [button.label for button in note.buttons] == [
            "Replace",
            "Keep both",
            "Keep the old one",
        ]
        assert "It would replace" in note.note


async def test_a_pending_memory_does_not_keep_the_text_that_it_would_replace() -> None:
    async with memory_rig(grounding=Grounding(FakeVerifier(), WritePolicy.CONFIRM)) as rig:
        ada = await rig.handle("ada")
        old = await ada.write.remember(Draft("I prefer tabs over spaces", Kind.PREFERENCE))
        text = "I prefer spaces now, not tabs"
        handle = await rig.handle("ada", says=text)
        await handle.write.infer(Draft("Prefers spaces", Kind.PREFERENCE, quote=text))
        (item,) = await handle.review.waiting()
        assert item.reason.english.endswith("It would replace “I prefer tabs over spaces”.")
        assert await ada.erasure.delete([old.memory_id])
        (item,) = await handle.review.waiting()
        assert "tabs over spaces" not in f"{item.reason.english} {item.record.content}"


def test_a_note_with_underscores_stays_one_italic_line() -> None:
    replaces = text("It replaces “{text}”.", text=verbatim("a_b *c*"))
    result = WriteResult(Outcome.STORED, "stored", STORED, notices=(replaces,))
    assert footer_of((result,)).shown(ENGLISH).note == "_It replaces “a\\_b \\*c\\*”._"


@pytest.mark.parametrize("old_one", [True, False])
async def test_what_is_too_like_the_old_memory_to_stand_beside_it_is_asked_about(
    old_one: bool,
) -> None:
    words = " ".join(f"word{chr(97 + number)}{end}" for number in range(20) for end in "xyz")
    old, new = f"The list has {words} and Basel", f"The list now has {words} and Bern"
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        await ada.write.remember(Draft(old, Kind.FACT))
        reply = await rig.commands.run("remember", new, rig.caller("ada"))
        assert "It may replace" in reply.markdown
        labels = {button.label: button.value for button in reply.buttons}
        assert list(labels) == ["Replace", "Keep both", "Keep the old one"]
        assert all(len(value.encode()) <= 64 for value in labels.values())
        await rig.commands.press(
            labels["Keep the old one" if old_one else "Replace"], rig.caller("ada")
        )
        kept = {match.record.content for match in await ada.read.search(Filter())}
        assert kept == {old if old_one else new}


async def test_memories_of_others_are_never_replaced() -> None:
    async with memory_rig() as rig:
        bob = await rig.handle("bob")
        await bob.write.remember(Draft("I prefer tabs over spaces", Kind.PREFERENCE))
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft("I prefer spaces now, not tabs", Kind.PREFERENCE))
        assert (result.outcome, result.notices) == (Outcome.STORED, ())
        assert len(await bob.read.search(Filter())) == 1


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("named", list(Scope))
async def test_a_named_memory_of_another_scope_is_not_replaced(
    named: Scope, scope: Scope, explicit: bool
) -> None:
    new = "We sell bread now, not cake"
    async with memory_rig() as rig:
        olga = (await rig.handle("olga", role=Role.OPERATOR)).for_operator("test:main:guild")
        old = await olga.write.remember(Draft("We sell cake", Kind.FACT, scope=named))
        assert old.outcome is Outcome.STORED
        request = replace(olga.request, words=(new,))
        draft = Draft(new, Kind.FACT, scope=scope, supersedes=old.memory_id, quote=new)
        kind = InputKind.EXPLICIT if explicit else InputKind.OWN_WORDS
        result = await rig.path.write(request, olga.access, draft, kind)
        kept = await olga.read.get(old.memory_id)
        assert kept is not None
        assert kept.current == (named is not scope), result
        assert result.outcome is Outcome.STORED


async def test_a_temporary_statement_does_not_replace_a_lasting_memory() -> None:
    new = "We sell bread now, not cake"
    async with memory_rig() as rig:
        ada = await rig.handle("ada", says=new)
        old = await ada.write.remember(Draft("We sell cake", Kind.FACT))
        draft = Draft("x", Kind.CONTEXT, quote=new, supersedes=old.memory_id)
        assert (await ada.write.infer(draft)).outcome is Outcome.STORED
        kept = await ada.read.get(old.memory_id)
        assert kept is not None
        assert kept.current
