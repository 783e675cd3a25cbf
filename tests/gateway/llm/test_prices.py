"""The cost of a call."""

from datetime import UTC, datetime

import pytest
from genai_prices import data_snapshot
from genai_prices.types import ModelPrice, TieredPrices
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.prices import DEFAULT_PRICES, Price, cost, price_of, reserve
from gateway.ports import Usage

TOKENS = st.integers(0, 2_000_000)


def test_a_million_tokens_cost_the_listed_price() -> None:
    price = DEFAULT_PRICES["claude-sonnet-5-5"]

    assert cost(Usage(1_000_000, 0), price) == 2_000_000
    assert cost(Usage(0, 1_000_000), price) == 10_000_000
    assert cost(Usage(0, 0, 1_000_000, 0), price) == 100_000
    assert cost(Usage(0, 0, 0, 1_000_000), price) == 2_500_000


def test_fractions_are_rounded_up() -> None:
    assert cost(Usage(1), DEFAULT_PRICES["claude-haiku-5-5"]) == 1


def test_without_its_own_price_the_cache_costs_as_much_as_input() -> None:
    assert cost(Usage(0, 0, 10, 10), Price(3, 15)) == 60


def test_a_long_prompt_multiplies_the_price_of_every_token() -> None:
    price = DEFAULT_PRICES["claude-haiku-5-5"]

    assert cost(Usage(100_000, 1_000), price) == 10_500
    assert cost(Usage(100_001, 1_000), price) == 52_501
    assert cost(Usage(1, 1_000, 100_000, 0), price) == 7_501
    assert reserve(100_000, 1_000, price) == 13_000
    assert reserve(100_001, 1_000, price) == 65_001


def test_models_have_their_price_also_with_a_date_or_their_maker() -> None:
    assert price_of("claude-haiku-4-5-20251001") == DEFAULT_PRICES["claude-haiku-4-5"]
    assert price_of("gpt-6.2-sol-2026-11-17") == DEFAULT_PRICES["gpt-6.2-sol"]
    assert price_of("openai/gpt-6.1-sol") == DEFAULT_PRICES["gpt-6.1-sol"]
    assert price_of("models/gemini-3.8-flash") == DEFAULT_PRICES["gemini-3.8-flash"]
    assert price_of("unknown") is None
    assert price_of("gpt-oss-20b") is None, "it runs on everybody's servers"


def test_the_prices_are_those_of_a_maintained_list() -> None:
    """`genai-prices` reads the pages of the services."""
    listed = data_snapshot.get_snapshot()
    compared = 0
    for name, ours in DEFAULT_PRICES.items():
        try:
            _, model = listed.find_provider_model(name, None, None, None)
        except LookupError:  # newer than the list, or the built-in model
            continue
        theirs = model.get_prices(datetime(2026, 12, 1, tzinfo=UTC))
        for size in (1_000, 300_000):
            figures = [ours_of(ours, kind, size) for kind in KINDS]
            assert figures == pytest.approx([theirs_of(theirs, kind, size) for kind in KINDS]), name
        compared += 1
    assert compared >= 45


KINDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


def ours_of(price: Price, kind: str, size: int) -> float:
    """The price of a million tokens in a prompt of this size."""
    usual = getattr(price, kind)
    long = price.long_prompt and size > price.long_prompt
    factor = price.long_output_factor if kind == "output" else price.long_factor
    return float((price.input if usual is None else usual) * (factor if long else 1))


def theirs_of(prices: ModelPrice, kind: str, size: int) -> float:
    value = getattr(prices, KINDS[kind])
    value = prices.input_mtok if value is None else value
    if not isinstance(value, TieredPrices):
        return float(value or 0)
    beyond = [tier.price for tier in value.tiers if size > tier.start]
    return float(beyond[-1] if beyond else value.base)


@given(TOKENS, TOKENS, TOKENS, TOKENS, st.sampled_from(sorted(DEFAULT_PRICES)))
def test_a_reservation_is_never_below_the_cost(
    fresh: int, said: int, read: int, written: int, model: str
) -> None:
    price = DEFAULT_PRICES[model]

    assert reserve(fresh + read + written, said, price) >= cost(
        Usage(fresh, said, read, written), price
    )


def test_tokens_kept_for_an_hour_and_searches_have_prices_of_their_own() -> None:
    price = Price(2, 10, 0.1, 2.5)

    assert cost(Usage(0, 0, 0, 100), price) == 250
    assert cost(Usage(0, 0, 0, 100, cache_hour_tokens=60), price) == 40 * 2.5 + 60 * 4
    assert cost(Usage(searches=3), price) == 30_000  # 10 dollars for 1,000
    dear = Price(2, 10, cache_write_hour=9, search=20)
    assert cost(Usage(0, 0, 0, 100, 100, searches=1), dear) == 900 + 20_000


@given(TOKENS, TOKENS, TOKENS, st.integers(0, 20))
def test_a_reservation_includes_the_hour_and_the_searches(
    read: int, written: int, said: int, searches: int
) -> None:
    price = DEFAULT_PRICES["claude-sonnet-5-5"]
    used = Usage(0, said, read, written, written, searches)

    most = reserve(read + written, said, price, hour=True, searches=searches)
    assert most >= cost(used, price)
