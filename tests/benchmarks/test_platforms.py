"""The table of `benchmarks/platforms.py`, and the numbers in the answers of its model."""

import json

import pytest

from benchmarks.model_server import number_of
from benchmarks.platforms import held, summary


def run(cpu: float, **faults: int) -> dict[str, object]:
    none = {"lost": 0, "answered_twice": 0, "out_of_order": 0}
    figures = {"per_second": 100.0, "cpu_ms_per_message": cpu, "others_cpu": 0.1}
    return {"platform": "slack", **figures, **none, **faults}


def test_the_ratio_is_the_median_of_the_rounds_and_mistakes_are_totals() -> None:
    bare = [run(1.0, out_of_order=4), run(2.0), run(1.0)]
    row = summary(bare, [run(3.0, lost=1), run(3.0, lost=2), run(2.0, answered_twice=1)])
    assert (row["echo_cpu_ms"], row["parley_cpu_ms"]) == (1.0, 3.0)
    assert (row["ratio"], row["ratio_each_round"]) == (2.0, [3.0, 1.5, 2.0])
    assert (row["lost"], row["answered_twice"], row["out_of_order"]) == (3, 1, 0)


def test_the_bound_of_the_processor_time_applies_with_a_model_only() -> None:
    within, above = summary([run(1.0)], [run(3.0)]), summary([run(1.0)], [run(3.1)])
    assert held(within, model=True)
    assert not held(above, model=True)
    assert held(above, model=False)


@pytest.mark.parametrize("fault", ["lost", "answered_twice", "out_of_order"])
def test_no_mistake_of_the_gateway_is_permitted(fault: str) -> None:
    assert not held(summary([run(1.0)], [run(1.0, **{fault: 1})]), model=False)


def test_an_echo_may_answer_out_of_order_but_lose_nothing() -> None:
    assert held(summary([run(1.0, out_of_order=3)], [run(1.0)]), model=False)
    assert not held(summary([run(1.0, lost=1)], [run(1.0)]), model=False)


def test_a_numbered_model_repeats_the_number_of_the_last_message() -> None:
    messages = [{"role": "user", "content": "this is n000001"}]
    assert number_of(json.dumps({"messages": messages}).encode()) == "n000001 "
    messages += [{"role": "assistant", "content": "n000001"}, {"role": "user", "content": "hi"}]
    assert number_of(json.dumps({"messages": messages}).encode()) == ""
