"""Limits apply to the right accounts, tenants, platforms and channels."""

from datetime import UTC, datetime

import pytest

from gateway.immutable import replace
from gateway.inbound.intake import dedupe_key
from gateway.message import (
    ButtonPressed,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
)
from gateway.people import PersonId
from gateway.policy.access import AccessPolicy, decide_access
from gateway.policy.budgets import Budgets, accounts_for
from gateway.policy.rate_limits import RateLimits, rules_for
from tests.support.messages import message, place

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HERE = place()
ADA = PersonId("test", "main", "ada")
ALL = Budgets(user_per_day=1, user_per_month=1, workspace_per_day=1, workspace_per_month=1)

ELSEWHERE = [
    replace(HERE, platform="other"),
    replace(HERE, account="second"),
    replace(HERE, workspace_id="W2", channel_id="C2"),
]


def person_in(at: Place) -> PersonId:
    return PersonId(at.platform, at.account, "ada")


@pytest.mark.parametrize("other", ELSEWHERE[:2], ids=["platform", "account"])
def test_the_same_ids_in_other_places_have_separate_buckets(other: Place) -> None:
    here = {rule.key for rule in rules_for("t", str(ADA), HERE, RateLimits())}
    there = {rule.key for rule in rules_for("t", str(person_in(other)), other, RateLimits())}
    assert len(here | there) == 8


def test_a_person_has_one_bucket_in_all_channels() -> None:
    here = {rule.level: rule.key for rule in rules_for("t", str(ADA), HERE, RateLimits())}
    there = {rule.level: rule.key for rule in rules_for("t", str(ADA), ELSEWHERE[2], RateLimits())}
    assert [level for level in here if here[level] == there[level]] == ["user"]


def test_a_thread_has_no_separate_bucket() -> None:
    thread = replace(HERE, thread_id="T1")
    assert rules_for("t", str(ADA), HERE, RateLimits()) == rules_for(
        "t", str(ADA), thread, RateLimits()
    )


@pytest.mark.parametrize("other", ELSEWHERE[:2], ids=["platform", "account"])
def test_the_same_ids_in_other_places_have_separate_budgets(other: Place) -> None:
    here = {account.key for account in accounts_for("t", str(ADA), HERE, ALL, NOW)}
    there = {account.key for account in accounts_for("t", str(person_in(other)), other, ALL, NOW)}
    assert len(here | there) == 8


def test_tenants_have_separate_budgets() -> None:
    one = {account.key for account in accounts_for("one", str(ADA), HERE, ALL, NOW)}
    two = {account.key for account in accounts_for("two", str(ADA), HERE, ALL, NOW)}
    assert len(one | two) == 8


def test_workspaces_share_only_the_budget_of_the_person() -> None:
    here = {a.name: a.key for a in accounts_for("t", str(ADA), HERE, ALL, NOW)}
    there = {a.name: a.key for a in accounts_for("t", str(ADA), ELSEWHERE[2], ALL, NOW)}
    assert [n for n in here if here[n] == there[n]] == ["user_per_day", "user_per_month"]


def events_in(at: Place) -> list[InboundEvent]:
    sent_message = message(at=at)
    return [
        MessageReceived("1", sent_message),
        MessageEdited("1", sent_message),
        MessageDeleted("1", at, ("m1",)),
        ButtonPressed("1", at, MessageAuthor("ada"), "yes"),
    ]


def test_events_of_another_kind_account_or_platform_are_not_duplicates() -> None:
    keys = [dedupe_key(event) for at in (HERE, *ELSEWHERE[:2]) for event in events_in(at)]
    assert len(set(keys)) == len(keys)


def test_an_event_has_the_same_key_in_every_reported_place() -> None:
    moved = replace(HERE, thread_id="T1")
    assert dedupe_key(events_in(HERE)[0]) == dedupe_key(events_in(moved)[0])


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        (AccessPolicy(blocked_channels=frozenset({"T1"})), False),
        (AccessPolicy(allowed_channels=frozenset({"T1"})), True),
        (AccessPolicy(allowed_channels=frozenset({"T2"})), False),
        (AccessPolicy(blocked_channels=frozenset({"other:T1"})), True),
        (AccessPolicy(blocked_channels=frozenset({"test:T1"})), False),
    ],
)
def test_a_thread_can_be_listed_by_its_id(policy: AccessPolicy, allowed: bool) -> None:
    assert decide_access(ADA, place(thread="T1"), policy).allowed is allowed
