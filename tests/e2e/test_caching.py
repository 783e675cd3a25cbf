"""Prompts are read from the service's cache, while memory and history grow."""

import pytest

from benchmarks.caching import PROMISED, measure


@pytest.mark.parametrize("speakers", [1, 3])
async def test_most_of_the_prompt_is_read_from_the_cache(speakers: int) -> None:
    figures = await measure(speakers)

    assert figures.requests >= 20
    assert figures.last_prompt > figures.first_prompt
    assert figures.share >= PROMISED
