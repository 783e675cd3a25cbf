"""A persona that the model's window has no room for is refused before the program starts."""

import pytest

from gateway.errors import ConfigurationError
from parley.settings import from_mapping
from parley.settings.personas import long_personas

LONG = "You are a guide to the harbour, and you know every pier of it. " * 60


def test_the_built_in_persona_fits_a_window_of_4k() -> None:
    assert long_personas(from_mapping({"model": {"provider": "offline", "window": 4_096}})) == []


def test_a_long_one_is_named_with_its_excess() -> None:
    with pytest.raises(ConfigurationError, match=r"assistant\.persona.*\d+ more than the 500"):
        from_mapping({"assistant": {"persona": LONG}, "model": {"window": 8_192}})


def test_the_smallest_of_all_models_counts_and_channels_do_too() -> None:
    fallback = {"provider": "openai", "name": "m", "api_key": "k", "window": 4_096}
    channels = {"telegram:-1": {"persona": LONG}}
    with pytest.raises(ConfigurationError, match=r"channels\.telegram:-1\.persona"):
        from_mapping(
            {"assistant": {"channels": channels}, "model": {"fallbacks": [fallback]}},
        )


def test_in_a_large_window_there_is_room() -> None:
    from_mapping({"assistant": {"persona": LONG}, "model": {"window": 1_000_000}})
