"""Prices of model calls in millionths of a dollar, so that sums are exact."""

import math
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.ports import Usage

AS_OF: Final = "2026-11"
"""The month in which the prices below were read from
platform.claude.com/docs/en/about-claude/pricing."""


SEARCH: Final = 10.0
"""Dollars for 1,000 searches ("Web search" of the same page); pages that are fetched are free."""


class Price(Struct, frozen=True):
    """Dollars per million tokens, which equals millionths of a dollar per token.

    Without prices of its own the cache costs as much as input, and twice as much where it is kept
    for an hour. `search` is the price of 1,000 searches of the service in the web. With a prompt of
    more than `long_prompt` tokens, every token costs `long_factor` times as much; 0 is no bound.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_hour: float | None = None
    search: float = SEARCH
    long_prompt: float = 0
    long_factor: float = 1.0


DEFAULT_PRICES: Final[Mapping[str, Price]] = {
    "claude-fable-5-1": Price(10, 50, 0.25, 12.5),
    "claude-mythos-5-1": Price(10, 50, 0.25, 12.5),
    "claude-fable-5": Price(10, 50, 1, 12.5),
    "claude-mythos-5": Price(10, 50, 1, 12.5),
    "claude-opus-5-5": Price(4, 20, 0.2, 5),
    "claude-opus-5": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-8": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-7": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-6": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-5": Price(5, 25, 0.5, 6.25),
    "claude-sonnet-5-5": Price(2, 10, 0.1, 2.5),
    "claude-sonnet-5": Price(2, 10, 0.2, 2.5),
    "claude-sonnet-4-6": Price(3, 15, 0.3, 3.75),
    "claude-sonnet-4-5": Price(3, 15, 0.3, 3.75),
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01, 0.125, long_prompt=100_000, long_factor=5),
    "claude-haiku-4-5": Price(1, 5, 0.1, 1.25),
    "offline": Price(0, 0),
}

_DATE: Final = re.compile(r"-\d{8}$")
_FIELDS: Final = ("input", "output", "cache_read", "cache_write", "cache_write_hour", "search")


def prices_from(configured: Mapping[str, Mapping[str, object]]) -> dict[str, Price]:
    """Return the defaults overridden by `budgets.prices`: model to dollars per million tokens.

    Raises `ConfigurationError` for a price that is not a number from 0 on, or without input or
    output.
    """
    prices = dict(DEFAULT_PRICES)
    for model, entry in configured.items():
        where = f"budgets.prices.{model}"
        unknown = set(entry) - set(_FIELDS)
        if unknown:
            raise ConfigurationError(f"{where}.{min(unknown)}: write one of {', '.join(_FIELDS)}")
        if "input" not in entry or "output" not in entry:
            raise ConfigurationError(f"{where}: needs `input` and `output`, in dollars a million")
        values = {name: _dollars(value, f"{where}.{name}") for name, value in entry.items()}
        prices[model] = Price(**values)
    return prices


def _dollars(value: object, where: str) -> float:
    if isinstance(value, int | float) and value is not True and 0 <= value < math.inf:
        return float(value)
    raise ConfigurationError(f"{where}: write a number from 0 on, not {value!r}")


def price_of(model: str, prices: Mapping[str, Price] = DEFAULT_PRICES) -> Price | None:
    """Return the price of a model, also for its dated name; None if unknown."""
    return prices.get(model) or prices.get(_DATE.sub("", model))


def cost(usage: Usage, price: Price) -> int:
    """Return the cost of the tokens in millionths of a dollar, rounded up."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    exact = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_read_tokens * read
        + (usage.cache_write_tokens - usage.cache_hour_tokens) * write
        + usage.cache_hour_tokens * hour_write(price)
    )
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    searches = usage.searches * price.search * 1_000
    return math.ceil(round(exact * _factor(prompt, price) + searches, 6))


def hour_write(price: Price) -> float:
    """Return the price of tokens that the cache keeps for an hour."""
    return 2 * price.input if price.cache_write_hour is None else price.cache_write_hour


def reserve(
    input_tokens: int, max_tokens: int, price: Price, *, hour: bool = False, searches: int = 0
) -> int:
    """Return the highest possible cost of a call: no cached tokens, full-length answer, so many
    `searches`; with `hour` the cache may keep the prompt for an hour."""
    dearest = max(price.input, price.cache_write or 0.0, hour_write(price) if hour else 0.0)
    highest = input_tokens * dearest + max_tokens * price.output
    most = highest * _factor(input_tokens, price) + searches * price.search * 1_000
    return math.ceil(round(most, 6))


def _factor(prompt_tokens: int, price: Price) -> float:
    return price.long_factor if price.long_prompt and prompt_tokens > price.long_prompt else 1.0
