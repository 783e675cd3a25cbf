"""Reads from the prompt cache of the simulated service, and their billing."""

from typing import Any

import pytest

from simulators.anthropic.prompt_cache import PromptCache, Split
from tests.support.clock import FakeClock

MARK = {"type": "ephemeral"}
LONG = "a rule to follow " * 1_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cache(clock: FakeClock) -> PromptCache:
    return PromptCache(clock.monotonic)


def text(words: str, *, marked: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": words}
    return {**block, "cache_control": MARK} if marked else block


def request(*said: dict[str, Any], system: str = LONG) -> dict[str, Any]:
    """`said` in turn by the person and the assistant."""
    messages = [
        {"role": "assistant" if index % 2 else "user", "content": [block]}
        for index, block in enumerate(said)
    ]
    return {"model": "m", "system": [text(system, marked=True)], "messages": messages}


def test_the_first_request_writes_and_the_second_reads(cache: PromptCache) -> None:
    first, second = cache.split(request(text("one"))), cache.split(request(text("two")))

    assert first.read == 0
    assert first.written > 4_096
    assert second.read == first.written
    assert second.written == 0
    assert second.fresh == first.fresh


def test_a_prefix_below_4096_tokens_is_not_cached(cache: PromptCache) -> None:
    short = request(text("one"), system="short " * 1_000)

    assert cache.split(short) == cache.split(short)
    assert cache.split(short).written == cache.split(short).read == 0


def test_a_prefix_is_cached_for_five_minutes_from_its_last_use(
    cache: PromptCache, clock: FakeClock
) -> None:
    cache.split(request(text("one")))
    clock.skip(299)
    assert cache.split(request(text("two"))).read
    clock.skip(299)
    assert cache.split(request(text("three"))).read
    clock.skip(301)
    assert not cache.split(request(text("four"))).read


def test_an_earlier_change_invalidates_everything_after_it(cache: PromptCache) -> None:
    cache.split(request(text("one")))

    assert not cache.split(request(text("one"), system=f"new. {LONG}")).read
    assert not cache.split({**request(text("one")), "tools": [{"name": "t"}]}).read


def test_a_growing_conversation_is_read_up_to_its_mark(cache: PromptCache) -> None:
    first = cache.split(request(text("one", marked=True)))
    grown = request(text("one"), text("first answer"), text("two", marked=True))
    second = cache.split(grown)

    assert second.read == pytest.approx(first.read + first.written, abs=8)
    assert 0 < second.written < 40


def test_at_most_twenty_blocks_are_compared(cache: PromptCache) -> None:
    short = "rule " * 10
    start = [text(LONG, marked=True)]
    cache.split(request(*start, system=short))
    for more, result in ((20, True), (22, False)):
        replies = [text(LONG), *[text(f"{n}") for n in range(more - 1)], text("end", marked=True)]
        assert bool(PromptCacheCopy(cache).split(request(*replies, system=short)).read) is result


def test_a_request_without_marks_is_not_cached(cache: PromptCache) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": LONG}]}

    assert cache.split(body) == Split(cache.split(body).fresh, 0, 0)


class PromptCacheCopy(PromptCache):
    """A cache that knows the same, and whose use teaches the original nothing."""

    def __init__(self, other: PromptCache) -> None:
        super().__init__(other._clock)
        self._known = other._known.copy()


def test_what_is_kept_for_an_hour_is_read_after_twenty_minutes(
    cache: PromptCache, clock: FakeClock
) -> None:
    hour = request(text("one"))
    hour["system"][0]["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    first = cache.split(hour)
    clock.skip(1_200)

    assert first.written_hour == first.written > 0
    assert cache.split(hour).read == first.written
