"""Overrides over a configuration: what may be changed, what is refused, what is ignored."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.platforms import discover
from parley.config import Settings, SettingsError, from_mapping
from parley.config.overrides import (
    MAX_BYTES,
    MAX_CHECKS,
    MAX_OVERRIDES,
    REMOVE,
    Override,
    changed,
    is_changeable,
    merge,
    overlaid,
    overrides_in,
    parsed,
    patch_of,
    written,
)
from parley.config.problems import Problem
from tests.support.for_each import for_each

BASE = from_mapping(
    {
        "access": {"owners": ["web:oona"], "allowed_users": ["web:ada"]},
        "budgets": {"user_per_day": 2},
        "assistant": {"channels": {"slack:C1": {"persona": "From the file."}}},
    }
)
MANIFESTS = discover().manifests
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=8,
)


def under(patch: dict[str, Any]) -> Settings:
    """The configuration with a patch of which everything can be used."""
    result = overlaid(BASE, overrides_in(patch), MANIFESTS)
    assert result.ignored == ()
    return result.settings


def test_an_override_replaces_adds_and_removes() -> None:
    settings = under(
        {
            "access": {"blocked_users": ["web:eve"], "allowed_users": None},
            "budgets": {"user_per_day": None, "prices": {"m": {"input": 1, "output": 2}}},
            "assistant": {"channels": {"slack:C1": None, "slack:C2": {"model": "m"}}},
            "tools": {"set_task": {"role": "owner", "audiences": []}},
        }
    )
    assert settings.access.owners == ("web:oona",)
    assert settings.access.allowed_users is None
    assert settings.access.blocked_users == ("web:eve",)
    assert settings.budgets.user_per_day is None
    assert settings.budgets.prices["m"].output == 2
    assert list(settings.assistant.channels) == ["slack:C2"]
    assert settings.tools["set_task"].audiences == ()
    assert BASE.access.allowed_users == ("web:ada",)


@for_each(
    ("path", "may"),
    [
        (("access", "owners"), True),
        (("access", "admission"), False),
        (("assistant", "channels", "slack:C1"), True),
        (("assistant", "channels"), False),
        (("assistant", "name"), True),
        (("model", "name"), True),
        (("model", "api_key"), False),
        (("model", "base_url"), False),
        (("tools", "set_task"), True),
        (("languages", "default"), True),
        (("languages", "sentences", "de"), True),
        (("languages", "folder"), False),
        (("tools",), False),
        (("budgets", "prices", "m"), True),
        (("budgets", "prices", "m", "input"), False),
        (("server", "token"), False),
        (("budgets", "detail_days"), False),
        (("limits", "agent_per_minute"), True),
        (("platforms", "web"), False),
        ((), False),
    ],
)
def test_only_listed_keys_are_changeable(path: tuple[str, ...], may: bool) -> None:
    assert is_changeable(path) is may


def test_an_unusable_override_is_ignored_and_the_others_count() -> None:
    patch: dict[str, Any] = {
        "access": {"blocked_users": ["web:eve"], "owners": 5},
        "limits": {"user_per_minute": -1, "channel_per_minute": 3},
        "server": {"token": "x" * 32},
        "budgets": {"prices": {"m": {"input": 1}}},
        "tools": {"gone__tool": {"role": "owner"}},
    }
    result = overlaid(BASE, overrides_in(patch), MANIFESTS)
    assert {one.key for one in result.in_force} == {
        "access.blocked_users",
        "limits.channel_per_minute",
    }
    assert {one.path for one in result.ignored} == {
        "access.owners",
        "limits.user_per_minute",
        "server.token",
        "budgets.prices.m",
        "tools.gone__tool",
    }
    assert all(one.text and one.advice for one in result.ignored if one.path == "server.token")
    assert result.settings.access.owners == ("web:oona",)
    assert result.settings.server.token is None


def test_only_the_wrong_entry_of_a_section_is_left_out() -> None:
    good = {"model": "m"}
    names = ("telegam:1", "slack:C1.x", "slack:C1", "telegram:2")
    patch: dict[str, Any] = {
        "assistant": {"channels": dict.fromkeys(names, good)},
        "invocation": {"channels": {"slak:C1": {"prefix": "!"}, "slack:C1": {"prefix": "!"}}},
    }
    patch["assistant"]["channels"]["slack:C1.x"] = {"model": 5}
    result = overlaid(BASE, overrides_in(patch), MANIFESTS)
    assert [one.path for one in result.ignored] == [
        "assistant.channels.slack:C1.x",
        "assistant.channels.telegam:1",
        "invocation.channels.slak:C1",
    ]
    assert list(result.settings.assistant.channels) == ["slack:C1", "telegram:2"]
    assert list(result.settings.invocation.channels) == ["slack:C1"]


def rule(broken: Callable[[Settings], bool]) -> Callable[..., list[Problem]]:
    """A rule between keys whose problem names a section alone."""
    return lambda settings, _: [Problem("limits", "do not fit.")] if broken(settings) else []


def test_where_overrides_do_not_fit_together_the_later_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fits = rule(lambda one: one.limits.user_per_minute > one.limits.channel_per_minute)
    monkeypatch.setattr("parley.config.overrides.problems_of", fits)
    patch: dict[str, Any] = {
        "limits": {"workspace_per_minute": 70, "user_per_minute": 9, "channel_per_minute": 3}
    }
    result = overlaid(BASE, overrides_in({**patch, "tools": {}, "budgets": {}}), MANIFESTS)
    assert {one.key for one in result.in_force} == {
        "limits.workspace_per_minute",
        "limits.user_per_minute",
    }
    (problem,) = [one for one in result.ignored if one.path.startswith("limits")]
    assert str(problem) == f"limits.channel_per_minute = 3: limits do not fit. {REMOVE.english}"


def test_the_search_for_wrong_overrides_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = []

    def crowded(settings: Settings, _: object) -> list[Problem]:
        checks.append(settings)
        bad = any(one.model == "bad" for one in settings.assistant.channels.values())
        return [Problem("limits", "do not fit.")] if bad else []

    monkeypatch.setattr("parley.config.overrides.problems_of", crowded)
    many = [Override(("assistant", "channels", f"web:{n}"), {"model": "bad"}) for n in range(200)]
    fine = Override(("access", "blocked_users"), ["web:eve"])
    result = overlaid(BASE, [fine, *many], MANIFESTS)
    assert len(checks) <= 2 * MAX_CHECKS
    assert result.in_force == (fine,)
    assert len(result.ignored) == 200
    assert "too many others" in result.ignored[-1].text


def test_a_problem_names_the_entry_its_value_the_reason_and_the_next_step() -> None:
    key = "sk-ant-api03-" + "a1B2" * 24
    patch: dict[str, Any] = {
        "access": {"owners": ["web:oona", True]},
        "assistant": {"persona": 7, "channels": {"web:1": {"persona": key, "model": 5}}},
        "server": {"token": "hidden"},
        "limits": {"user_per_minute": -1},
    }
    shown = {one.path: str(one) for one in overlaid(BASE, overrides_in(patch), MANIFESTS).ignored}
    assert shown["limits.user_per_minute"].startswith("limits.user_per_minute = -1: should be at")
    assert shown["access.owners"].startswith('access.owners = ["web:oona", true]: [1] should be a')
    assert "model should be a text" in shown["assistant.channels.web:1"]
    assert not [text for text in shown.values() if key in text or "hidden" in text]
    assert all(text.endswith(REMOVE.english) for text in shown.values())


@given(JSON)
def test_no_stored_text_stops_the_program(value: object) -> None:
    try:
        overrides = overrides_in(parsed(json.dumps(value)))
    except SettingsError:
        return
    result = overlaid(BASE, overrides, MANIFESTS)
    assert result.settings.model == BASE.model


def test_an_unreadable_text_is_a_problem() -> None:
    for text in ("", "[]", "{", "[" * 100_000, json.dumps({"x": "y" * MAX_BYTES})):
        with pytest.raises(SettingsError, match="cannot be read"):
            parsed(text)


def test_a_change_that_makes_another_override_unusable_is_refused() -> None:
    first = changed(BASE, (), [Override(("access", "owners"), ["web:oona"])], [], MANIFESTS)
    with pytest.raises(SettingsError, match="unknown platform webb"):
        changed(BASE, first, [Override(("access", "members"), ["webb:1"])], [], MANIFESTS)
    with pytest.raises(SettingsError, match="cannot be changed"):
        changed(BASE, first, [Override(("access", "admission"), "owners")], [], MANIFESTS)
    # An override that is ignored already does not stop other changes.
    stale = (*first, Override(("access", "gone"), 1))
    new = changed(BASE, stale, [Override(("limits", "user_per_minute"), 3)], [], MANIFESTS)
    assert [one.key for one in new][-1] == "limits.user_per_minute"
    assert changed(BASE, new, [], [("access", "gone")], MANIFESTS)[0].key == "access.owners"


def test_the_number_and_the_size_of_overrides_are_limited() -> None:
    many = [Override(("assistant", "channels", f"web:{n}"), {"model": "m"}) for n in range(1_001)]
    assert len(many) > MAX_OVERRIDES
    with pytest.raises(SettingsError, match="too many"):
        changed(BASE, (), many, [], MANIFESTS)
    assert overlaid(BASE, many, MANIFESTS).ignored[0].text == "There are too many overrides."
    large = [Override(("assistant", "channels", "web:1"), {"persona": "x" * MAX_BYTES})]
    with pytest.raises(SettingsError, match="too many"):
        changed(BASE, (), large, [], MANIFESTS)


@given(JSON, JSON)
def test_a_merge_follows_rfc_7396(target: Any, patch: Any) -> None:
    result = merge(target, patch)
    assert merge(result, patch) == result
    if not isinstance(patch, dict):
        assert result == patch


def test_overrides_survive_the_store() -> None:
    overrides = (
        Override(("access", "owners"), ["ä", "b"]),
        Override(("assistant", "channels", "slack:C1.x"), {"persona": None, "model": "m"}),
        Override(("budgets", "user_per_day"), None),
    )
    assert overrides_in(parsed(written(overrides))) == overrides
    assert patch_of(()) == {}
