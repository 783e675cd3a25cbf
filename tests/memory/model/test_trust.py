"""Trust follows from the way a text came in."""

import pytest

from memory.model.record import Derived, InputKind, SourceType, Trust, derive_trust


@pytest.mark.parametrize(
    ("way", "source", "trust"),
    [
        (InputKind.EXPLICIT, SourceType.EXPLICIT_SAVE, Trust.HIGH),
        (InputKind.OWN_WORDS, SourceType.USER_MESSAGE, Trust.HIGH),
        (InputKind.OTHERS_WORDS, SourceType.USER_MESSAGE, Trust.MEDIUM),
        (InputKind.DOCUMENT, SourceType.TOOL_OUTPUT, Trust.HIGH),
        (InputKind.TOOL, SourceType.TOOL_OUTPUT, Trust.MEDIUM),
        (InputKind.WEB, SourceType.TOOL_OUTPUT, Trust.LOW),
        (InputKind.IMPORT, SourceType.IMPORT, Trust.LOW),
        (InputKind.ASSISTANT, SourceType.AI_INFERENCE, Trust.LOW),
    ],
)
def test_trust_follows_from_the_origin(way: InputKind, source: SourceType, trust: Trust) -> None:
    assert derive_trust(way) == Derived(source, trust)


@pytest.mark.parametrize("way", InputKind)
def test_an_injection_finding_lowers_the_trust(way: InputKind) -> None:
    assert derive_trust(way, injection=True).trust is Trust.LOW


@pytest.mark.parametrize("way", InputKind)
def test_external_text_never_has_high_trust(way: InputKind) -> None:
    derived = derive_trust(way, external=True)
    assert derived.source is derive_trust(way).source
    assert derived.trust is not Trust.HIGH
