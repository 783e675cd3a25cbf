"""Prices of model calls in millionths of a dollar, so that sums are exact."""

import math
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.ports import Usage

AS_OF: Final = "2026-11"
"""The month of the prices below, which a test compares with the package `genai-prices`. They were
read from platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing
and ai.google.dev/gemini-api/docs/pricing."""
SEARCH: Final = 10.0
"""Dollars for 1,000 searches ("Web search" of the same page); pages that are fetched are free."""


class Price(Struct, frozen=True):
    """Dollars per million tokens, which equals millionths of a dollar per token.

    Without prices of its own the cache costs as much as input, and twice as much where it is kept
    for an hour. `search` is the price of 1,000 searches of the service in the web. With a prompt of
    more than `long_prompt` tokens, every token of the prompt costs `long_factor` times as much, and
    every token of the answer `long_output_factor` times; 0 is no such bound.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_prompt: float = 0
    long_factor: float = 1.0
    long_output_factor: float = 1.0
    cache_write_hour: float | None = None
    search: float = SEARCH


def _openai(sent: float, written: float, cache_read: float, cache_write: float) -> Price:
    """Return the price of a model of OpenAI whose long prompts cost more."""
    return Price(sent, written, cache_read, cache_write, 272_000, 2, 1.5)


def _google(sent: float, written: float, cache_read: float) -> Price:
    """Return the price of a model of Google whose long prompts cost more."""
    return Price(sent, written, cache_read, None, 200_000, 2, 1.5)


DEFAULT_PRICES: Final[Mapping[str, Price]] = {
    "claude-fable-5-2": Price(8, 40, 0.2, 10),
    "claude-mythos-5-2": Price(8, 40, 0.2, 10),
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
    "claude-sonnet-4-5": Price(3, 15, 0.3, 3.75, 200_000, 2, 1.5),
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01, 0.125, 100_000, 5, 5),
    "claude-haiku-4-5": Price(1, 5, 0.1, 1.25),
    "gpt-6.2-astra": _openai(8, 40, 0.8, 10),
    "gpt-6.2-sol": _openai(2, 10, 0.2, 2.5),
    "gpt-6.1-sol": _openai(2, 10, 0.1, 2.5),
    "gpt-6.1-terra": _openai(1, 5, 0.05, 1.25),
    "gpt-6-astra": _openai(10, 50, 1, 12.5),
    "gpt-6-sol": _openai(2, 10, 0.2, 2.5),
    "gpt-6-luna": _openai(0.1, 0.5, 0.01, 0.125),
    "gpt-5.6-sol": _openai(4, 20, 0.4, 5),
    "gpt-5.6-terra": _openai(2, 12, 0.2, 2.5),
    "gpt-5.6-luna": _openai(0.2, 1.2, 0.02, 0.25),
    "gpt-5.5": _openai(5, 30, 0.5, 5),
    "gpt-5.4": _openai(2.5, 15, 0.25, 2.5),
    "gpt-5.4-mini": Price(0.75, 4.5, 0.075),
    "gpt-5.4-nano": Price(0.2, 1.25, 0.02),
    "gpt-5.2": Price(1.75, 14, 0.175),
    "gpt-5.1": Price(1.25, 10, 0.125),
    "gpt-5": Price(1.25, 10, 0.125),
    "gpt-5-mini": Price(0.25, 2, 0.025),
    "gpt-5-nano": Price(0.05, 0.4, 0.005),
    "gpt-4.1": Price(2, 8, 0.5),
    "gpt-4.1-mini": Price(0.4, 1.6, 0.1),
    "gpt-4.1-nano": Price(0.1, 0.4, 0.025),
    "gpt-4o": Price(2.5, 10, 1.25),
    "gpt-4o-mini": Price(0.15, 0.6, 0.075),
    "o3": Price(2, 8, 0.5),
    "o4-mini": Price(1.1, 4.4, 0.275),
    "gemini-4-argon": Price(4, 20, 0.2),  # from 1 December 2026; half of it before
    "gemini-3.8-flash": Price(0.75, 3.75, 0.075),
    "gemini-3.7-flash": Price(0.75, 3.75, 0.075),
    "gemini-3.6-flash": Price(0.75, 3.75, 0.075),
    "gemini-3.5-flash": Price(1.5, 9, 0.15),
    "gemini-3.5-flash-lite": Price(0.3, 2.5, 0.03),
    "gemini-3.1-pro-preview": _google(2, 12, 0.2),
    "gemini-3.1-flash-lite": Price(0.25, 1.5, 0.025),
    "gemini-3-pro-preview": _google(2, 12, 0.2),
    "gemini-3-flash-preview": Price(0.5, 3, 0.05),
    "gemini-2.5-pro": _google(1.25, 10, 0.125),
    "gemini-2.5-flash": Price(0.3, 2.5, 0.03),
    "gemini-2.5-flash-lite": Price(0.1, 0.4, 0.01),
    "offline": Price(0, 0),
}

_VARIANT: Final = re.compile(r"^(?:models|anthropic|openai|google)/|-\d{8}$|-\d{4}-\d\d-\d\d$")
"""Additions of services to the name of a model: the name of its maker, and a date."""


def price_of(model: str, prices: Mapping[str, Price] = DEFAULT_PRICES) -> Price | None:
    """Return the price of a model, also for its dated name and for its name with its maker; None if
    unknown."""
    return prices.get(model) or prices.get(_VARIANT.sub("", model))


def cost(usage: Usage, price: Price) -> int:
    """Return the cost of the tokens in millionths of a dollar, rounded up."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    prompt = (
        usage.input_tokens * price.input
        + usage.cache_read_tokens * read
        + (usage.cache_write_tokens - usage.cache_hour_tokens) * write
        + usage.cache_hour_tokens * hour_write(price)
    )
    size = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    micros = _micros(size, prompt, usage.output_tokens * price.output, price)
    return micros + math.ceil(usage.searches * price.search * 1_000)


def hour_write(price: Price) -> float:
    """Return the price of tokens that the cache keeps for an hour."""
    return 2 * price.input if price.cache_write_hour is None else price.cache_write_hour


def reserve(
    input_tokens: int, max_tokens: int, price: Price, *, hour: bool = False, searches: int = 0
) -> int:
    """Return the highest possible cost of a call: no cached tokens, full-length answer, so many
    `searches`; with `hour` the cache may keep the prompt for an hour."""
    dearest = max(price.input, price.cache_write or 0.0, hour_write(price) if hour else 0.0)
    most = _micros(input_tokens, input_tokens * dearest, max_tokens * price.output, price)
    return most + math.ceil(searches * price.search * 1_000)


def _micros(size: int, prompt: float, answer: float, price: Price) -> int:
    """Return the sum of a prompt of so many tokens and its answer, rounded up."""
    if price.long_prompt and size > price.long_prompt:
        prompt, answer = prompt * price.long_factor, answer * price.long_output_factor
    return math.ceil(round(prompt + answer, 6))
