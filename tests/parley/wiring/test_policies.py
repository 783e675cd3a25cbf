"""The configuration as values of the gateway."""

from typing import Any

import pytest

from parley.config import Settings
from parley.wiring.policies import summary_model, unpriced_models

OPUS = {"provider": "anthropic", "name": "claude-opus-5-5", "api_key": "k"}
HAIKU = OPUS | {"name": "claude-haiku-5-5"}


@pytest.mark.parametrize(
    ("sections", "model"),
    [
        ({"model": OPUS}, "claude-opus-5-5"),
        ({"model": OPUS | {"fallbacks": [HAIKU]}}, "claude-haiku-5-5"),
        (
            {"model": OPUS | {"fallbacks": [HAIKU | {"base_url": "https://example.org"}]}},
            "claude-opus-5-5",
        ),
        (
            {"model": HAIKU, "assistant": {"channels": {"C1": {"model": "claude-opus-5-5"}}}},
            "claude-haiku-5-5",
        ),
        ({"model": OPUS | {"name": "claude-unknown"}}, ""),
        ({"model": OPUS, "context": {"summary_model": "claude-x"}}, "claude-x"),
    ],
)
def test_the_cheapest_model_of_the_first_provider_writes_summaries(
    sections: dict[str, Any], model: str
) -> None:
    assert summary_model(Settings.model_validate(sections)) == model


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (OPUS, []),
        (OPUS | {"name": "claude-unknown"}, ["claude-unknown"]),
        (OPUS | {"fallbacks": [HAIKU | {"name": "claude-next"}]}, ["claude-next"]),
    ],
)
def test_while_a_budget_is_set_every_model_needs_a_price(
    model: dict[str, Any], named: list[str]
) -> None:
    free = Settings.model_validate({"model": model})
    limited = Settings.model_validate({"model": model, "budgets": {"user_per_day": 1.0}})

    assert unpriced_models(free) == []
    problems = unpriced_models(limited)
    assert len(problems) == len(named)
    assert all(name in problem.text for name, problem in zip(named, problems, strict=True))
