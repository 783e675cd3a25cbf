"""The budget: what a person types, and what it means in messages."""

import pytest

from gateway.errors import BadInput
from gateway.llm.prices import Price
from parley.cli.init.people import PricedBudget, dollars_of, messages_for, priced_budget


@pytest.mark.parametrize(
    ("typed", "dollars"),
    [
        ("10", 10),
        ("$10", 10),
        ("10 $", 10),
        ("7,50", 7.5),
        ("10 dollars", 10),
        ("10 USD", 10),
        ("0", 0),
        ("None", 0),
    ],
)
def test_dollars_are_read_as_people_write_them(typed: str, dollars: float) -> None:
    assert dollars_of(typed) == dollars


@pytest.mark.parametrize("typed", ["", "ten", "-1", "nan", "inf", "1e9", "10 20"])
def test_other_amounts_are_refused(typed: str) -> None:
    with pytest.raises(BadInput, match="Write dollars per month"):
        dollars_of(typed)


def test_messages_are_rounded_down_to_two_figures() -> None:
    assert messages_for(10, Price(2, 10)) == 1_100  # 2,500 at $2 and 350 at $10 a million: $0.0085
    assert messages_for(0.001, Price(2, 10)) == 0
    assert messages_for(10, Price(0, 0)) == 0


def test_a_budget_with_prices_is_three_numbers_or_empty() -> None:
    assert priced_budget("10 2.5 10") == PricedBudget(10, 2.5, 10)
    assert priced_budget("$7,50 $2,5 / $10") == PricedBudget(7.5, 2.5, 10)
    for typed in ("", "none", "0", " No "):
        assert priced_budget(typed) is None
    for typed in ("10", "2.5 10", "a b c", "1 2 3 4", "-1 2 3", "nan 1 2"):
        with pytest.raises(BadInput, match="three numbers"):
            priced_budget(typed)
