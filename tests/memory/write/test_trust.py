"""Trust follows from the way a text came in."""

import pytest

from memory.record import SourceType, Trust
from memory.write.trust import Derived, Way, derive_trust


@pytest.mark.parametrize(
    ("way", "source", "trust"),
    [
        (Way.EXPLICIT, SourceType.EXPLICIT_SAVE, Trust.HIGH),
        (Way.OWN_WORDS, SourceType.USER_MESSAGE, Trust.HIGH),
        (Way.OTHERS_WORDS, SourceType.USER_MESSAGE, Trust.MEDIUM),
        (Way.DOCUMENT, SourceType.TOOL_OUTPUT, Trust.HIGH),
        (Way.TOOL, SourceType.TOOL_OUTPUT, Trust.MEDIUM),
        (Way.WEB, SourceType.TOOL_OUTPUT, Trust.LOW),
        (Way.IMPORT, SourceType.IMPORT, Trust.LOW),
        (Way.ASSISTANT, SourceType.AI_INFERENCE, Trust.LOW),
    ],
)
def test_the_way_in_decides(way: Way, source: SourceType, trust: Trust) -> None:
    assert derive_trust(way) == Derived(source, trust)


@pytest.mark.parametrize("way", Way)
def test_an_injection_finding_takes_the_trust_away(way: Way) -> None:
    assert derive_trust(way, injection=True).trust is Trust.LOW


@pytest.mark.parametrize("way", Way)
def test_what_came_from_outside_is_never_of_high_trust(way: Way) -> None:
    derived = derive_trust(way, external=True)
    assert derived.source is derive_trust(way).source
    assert derived.trust is not Trust.HIGH
