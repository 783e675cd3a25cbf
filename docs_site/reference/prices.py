"""The reference of the included prices of models."""

from typing import Final

from docs_site.reference.tables import code, table
from gateway.llm.prices import AS_OF, DEFAULT_PRICES, Price

_HEAD: Final = f"""\
# Prices of models

Parley knows these prices, in dollars per million tokens, of {AS_OF}. They apply also to the name
with a date (`claude-haiku-4-5-20251001`) or with its maker (`openai/gpt-6.1-sol`).
[`budgets.prices`](configuration.md#budgets) adds models and replaces these prices. While a
budget is set, a model without a price is refused at the start.
"""
_COLUMNS: Final = ("Model", "Input", "Output", "Cache read", "Cache write", "Long prompts")


def prices() -> str:
    """The page as Markdown."""
    rows = [
        (
            code(name),
            *map(_dollars, (price.input, price.output, price.cache_read, price.cache_write)),
            _long(price),
        )
        for name, price in DEFAULT_PRICES.items()
        if price.input
    ]
    return "\n".join([_HEAD, *table(_COLUMNS, rows)]) + "\n"


def _dollars(value: float | None) -> str:
    return "as input" if value is None else f"{value:g}"


def _long(price: Price) -> str:
    if not price.long_prompt:
        return ""
    factors = f"input {price.long_factor:g}, output {price.long_output_factor:g} times"
    return f"over {price.long_prompt:,.0f} tokens: {factors}"
