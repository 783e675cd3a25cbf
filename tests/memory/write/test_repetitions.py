"""Repetitions are refused, or stored where the check is switched off."""

from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.write.prepare import WriteRules
from parley.config import from_mapping
from tests.memory.rig import Rig

TABS = Draft("Prefers tabs over spaces", Kind.PREFERENCE)


async def stored(rig: Rig) -> int:
    return len(await (await rig.handle()).read.search(Filter()))


async def test_a_repetition_is_refused(rig: Rig) -> None:
    ada = await rig.handle()
    first = await ada.write.remember(TABS)
    again = await ada.write.remember(TABS)
    assert (first.outcome, again.outcome, again.code) == ("stored", "blocked", "duplicate")
    assert first.validation is not None
    assert "no_duplicate" in first.validation.checks_passed
    assert await stored(rig) == 1


async def test_without_the_check_a_repetition_is_stored_and_nothing_claims_a_check(
    repeating_rig: Rig,
) -> None:
    ada = await repeating_rig.handle()
    for _ in range(2):
        result = await ada.write.remember(TABS)
        assert result.outcome is Outcome.STORED
        assert result.validation is not None
        assert "no_duplicate" not in result.validation.checks_passed
    assert await stored(repeating_rig) == 2
    tried = await ada.write.try_out(TABS.content, "preference", "manual")
    assert tried.approved
    assert "no_duplicate" not in tried.checks_passed


async def test_what_was_stored_without_the_check_is_recognised_with_it(repeating_rig: Rig) -> None:
    ada = await repeating_rig.handle()
    kept = await ada.write.remember(TABS)
    record = await ada.read.get(kept.memory_id)
    assert record is not None
    threshold = WriteRules().dedup_threshold
    assert threshold is not None
    memories = repeating_rig.stores.memories
    found = await memories.like(ada.access, record, threshold=threshold)
    assert found is not None
    assert found.id == record.id


def test_the_check_is_a_setting_for_both_methods() -> None:
    for method in ("jaccard", "vector"):
        section = {"dedup_method": method, "dedup_threshold": 0.9}
        off = from_mapping({"grounding": {"enable_dedup": False, **section}}).grounding
        assert (off.word_threshold, off.meaning_threshold) == (None, None)
    assert from_mapping({}).grounding.word_threshold == 0.92
