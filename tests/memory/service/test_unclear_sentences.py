"""A sentence whose subject stands in another message is resolved and asked about, or not stored."""

import pytest

from gateway.authorship import Material
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Kind
from memory.write.statement import ExternalText
from tests.memory.rig import Rig

UNCLEAR = (
    ("It broke again last night", "The bike broke again last night"),
    ("She moved to Hamburg in May", "Lea moved to Hamburg in May"),
    ("Er wohnt jetzt dort", "Jonas wohnt jetzt in Bern"),
    ("Lo vendimos ayer", "Vendimos el coche ayer"),
    ("Она переехала в Тулу", "Сестра Маша переехала в Тулу"),
    ("彼はもういない", "田中さんはもういない"),
    ("Nous l'avons vendu hier", "Nous avons vendu la voiture hier"),
)


async def said(rig: Rig, sentence: str, content: str) -> WriteResult:
    ada = await rig.handle("ada", says=sentence)
    return await ada.write.infer(Draft(content, Kind.FACT, quote=sentence))


@pytest.mark.parametrize(("sentence", "resolved"), UNCLEAR)
async def test_the_resolved_wording_is_asked_about(rig: Rig, sentence: str, resolved: str) -> None:
    result = await said(rig, sentence, resolved)
    assert result.outcome is Outcome.REVIEW
    assert result.content == resolved


@pytest.mark.parametrize("sentence", [one for one, _ in UNCLEAR])
async def test_an_unresolved_sentence_is_not_stored(rig: Rig, sentence: str) -> None:
    result = await said(rig, sentence, sentence)
    assert (result.outcome, result.code) == (Outcome.REFUSED, "unclear")
    assert not await (await rig.handle("ada")).review.waiting()


async def test_a_wording_about_something_else_is_not_stored(rig: Rig) -> None:
    result = await said(rig, "It broke again last night", "Bob likes green tea")
    assert result.code == "unclear"


async def test_after_text_of_a_repository_nothing_is_resolved(rig: Rig) -> None:
    ada = await rig.handle("ada", says="It broke again last night")
    draft = Draft("The deploy broke again last night", Kind.FACT, quote="It broke again last night")
    external = ExternalText((Material("repository", "The deploy."),))
    assert (await ada.write.infer(draft, external)).code == "unclear"


async def test_a_clear_sentence_is_stored_as_before(rig: Rig) -> None:
    sentence = "My bike broke and it cost 200 euros"
    result = await said(rig, sentence, "The bike broke")
    assert (result.outcome, result.content) == (Outcome.STORED, sentence)
