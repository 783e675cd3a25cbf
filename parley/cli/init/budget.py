"""A monthly budget, and what it means in messages."""

import math
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.llm.prices import Price, cost
from gateway.ports import Usage

SUGGESTED: Final = 10.0
"""Dollars per month."""
MOST: Final = 1_000_000.0
PROMPT_TOKENS: Final = 2_500
ANSWER_TOKENS: Final = 350
"""Tokens of an ordinary message: its prompt with earlier messages and memories, its answer."""
MICRO: Final = 1_000_000


def messages_for(dollars: float, price: Price) -> int:
    """About how many messages the budget pays for, rounded down to two figures; 0 for less than
    one."""
    each = cost(Usage(PROMPT_TOKENS, ANSWER_TOKENS), price)
    count = math.floor(dollars * MICRO / each) if each else 0
    scale: int = 10 ** max(0, len(str(count)) - 2)
    return count // scale * scale


def dollars_of(text: str) -> float:
    """`10`, `$10`, `10 dollars` or `7,50` as a number; `none` or `0` as 0. Raises `BadInput`."""
    word = text.strip().lower().removeprefix("$").removesuffix("dollars").removesuffix("usd")
    word = word.removesuffix("$").strip().replace(",", ".")
    if word in {"none", "no", "n"}:
        return 0.0
    try:
        amount = float(word)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MOST:
        raise BadInput("Write dollars per month, such as 10, or none.")
    return round(amount, 2)


class PricedBudget(Struct, frozen=True):
    """A monthly budget, and the prices of a model that the price list does not have; all in
    dollars, the prices per million tokens of input and of output."""

    amount: float
    input: float
    output: float


def priced_budget(text: str) -> PricedBudget | None:
    """`10 2.5 10` as a budget and the prices of input and output; None for empty input and for
    `none`. Raises `BadInput`."""
    words = text.lower().replace("/", " ").replace("$", " ").split()
    if words in ([], ["none"], ["no"], ["0"]):
        return None
    try:
        figures = [float(word.replace(",", ".")) for word in words]
    except ValueError:
        figures = []
    if len(figures) != 3 or not all(0 <= figure <= MOST for figure in figures):
        raise BadInput("Write three numbers, such as 10 2.5 10, or nothing.")
    return PricedBudget(round(figures[0], 2), figures[1], figures[2])
