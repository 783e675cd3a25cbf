"""A statement that announces a change replaces the memory that it contradicts, or the person is
asked."""

import pytest

from gateway.text import ENGLISH, text, verbatim
from memory.grounding.decision import Grounding, WritePolicy
from memory.model.outcome import STORED, Outcome, WriteResult
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.turns.footer import footer_of
from memory.write.replacement import announces_change, replaced_by
from tests.memory.rig import FakeVerifier, memory_rig
from tests.memory.stores.records import record


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("I prefer spaces now, not tabs", "I prefer tabs over spaces"),
        ("Ich trinke jetzt Tee statt Kaffee", "Ich trinke morgens Kaffee"),
        ("Ahora prefiero el té negro", "Prefiero el café negro"),
        ("Теперь я пью чёрный чай", "Я пью чёрный кофе"),
        ("今は紅茶が好きです", "コーヒーが好きです"),
    ],
)
def test_an_announced_change_replaces_the_memory_about_the_same_subject(
    text: str, old: str
) -> None:
    other = record("My sister lives in Rome")
    assert announces_change(text)
    result = replaced_by(text, [record(old), other])
    assert result is not None
    assert (result.record.content, result.certain) == (old, True)


def test_one_common_word_leads_to_a_question() -> None:
    result = replaced_by("I live in Bern now", [record("I live in Basel")])
    assert result is not None
    assert not result.certain


def test_two_equally_similar_memories_lead_to_a_question() -> None:
    old = [record("I drink black coffee"), record("I drink black beer")]
    result = replaced_by("I drink black tea now", old)
    assert result is not None
    assert not result.certain


def test_an_additional_preference_replaces_nothing() -> None:
    assert not announces_change("I prefer tea in the morning")
    assert replaced_by("I moved to Bern now", [record("My dog is called Rex")]) is None


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


@pytest.mark.parametrize("both", [True, False])
async def test_an_uncertain_replacement_is_decided_by_a_button(both: bool) -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        await ada.write.remember(Draft("I live in Basel", Kind.FACT))
        reply = await rig.commands.run("remember", "I live in Bern now", rig.caller("ada"))
        assert "It may replace “I live in Basel”" in reply.markdown
        labels = {button.label: button.value for button in reply.buttons}
        assert list(labels) == ["Replace", "Keep both", "Keep the old one"]
        assert all(len(value.encode()) <= 64 for value in labels.values())
        await rig.commands.press(labels["Keep both" if both else "Replace"], rig.caller("ada"))
        kept = {match.record.content for match in await ada.read.search(Filter())}
        assert kept == {"I live in Bern now", *(["I live in Basel"] if both else [])}


async def test_memories_of_others_are_never_replaced() -> None:
    async with memory_rig() as rig:
        bob = await rig.handle("bob")
        await bob.write.remember(Draft("I prefer tabs over spaces", Kind.PREFERENCE))
        ada = await rig.handle("ada")
        result = await ada.write.remember(Draft("I prefer spaces now, not tabs", Kind.PREFERENCE))
        assert (result.outcome, result.notices) == (Outcome.STORED, ())
        assert len(await bob.read.search(Filter())) == 1
