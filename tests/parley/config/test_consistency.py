"""A persona that the model's window has no room for is refused before the program starts."""

import pytest

from gateway.errors import ConfigurationError
from parley.config import from_mapping
from parley.config.consistency import oversized_personas

LONG = "You are a guide to the harbour, and you know every pier of it. " * 60


def test_the_built_in_persona_fits_a_window_of_4k() -> None:
    assert (
        oversized_personas(from_mapping({"model": {"provider": "offline", "window": 4_096}})) == []
    )


def test_a_persona_that_is_too_long_is_refused_with_the_excess() -> None:
    with pytest.raises(
        ConfigurationError, match=r"assistant\.persona.*\d+ more than the 500.* model\.window"
    ):
        from_mapping({"assistant": {"persona": LONG}, "model": {"window": 8_192}})


def test_the_smallest_window_applies_also_to_the_personas_of_channels() -> None:
    fallback = {"provider": "openai", "name": "m", "api_key": "k", "window": 4_096}
    channels = {"telegram:-1": {"persona": LONG}}
    text = (
        r"channels\.telegram:-1\.persona.* a window of 4,096 .* raise model\.fallbacks\[0\]\.window"
    )
    with pytest.raises(ConfigurationError, match=text):
        from_mapping(
            {"assistant": {"channels": channels}, "model": {"fallbacks": [fallback]}},
        )


def test_a_large_window_accepts_a_long_persona() -> None:
    from_mapping({"assistant": {"persona": LONG}, "model": {"window": 1_000_000}})


def test_the_documentation_states_the_maximum_length_of_a_persona() -> None:
    """About 5,000 letters in the default window, 1,400 in one of 8,192."""
    words = "You are a guide to the harbour, and you know every pier of it. "
    for window, letters in ((200_000, 5_000), (8_192, 1_300)):
        fits = {"persona": (words * 100)[:letters]}
        too_long = {"persona": (words * 100)[: round(letters * 1.15)]}
        from_mapping({"assistant": fits, "model": {"window": window}})
        with pytest.raises(ConfigurationError, match="is too long"):
            from_mapping({"assistant": too_long, "model": {"window": window}})
