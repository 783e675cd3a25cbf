"""A token is read only as it was issued: by the same key, untouched, in time."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.people import PersonId
from gateway.ports.rights import TokenScope
from parley.security.tokens import (
    BadToken,
    TokenClaims,
    _signature,
    issue,
    key_id,
    person_of,
    read,
)

KEY = b"k" * 32
NOW = datetime(2026, 11, 21, tzinfo=UTC)
HOLDER = TokenClaims(PersonId("telegram", "main", "123"), "default", NOW + timedelta(days=1))
PARTS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=40)


def signed(given: Mapping[str, object]) -> str:
    """A token with these claims as well, under the right key."""
    payload: dict[str, object] = {"person": "telegram:main:123", "tenant": "default"}
    payload |= {"until": int(HOLDER.until.timestamp()), "key": key_id(KEY), **given}
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return f"parley_{body}.{_signature(KEY, body)}"


def problem(key: bytes, token: str, now: datetime = NOW) -> str:
    with pytest.raises(BadToken) as refused:
        read(key, token, now)
    return refused.value.problem


@given(PARTS, PARTS, st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1,
                             max_size=80), PARTS)  # fmt: skip
def test_a_token_contains_its_person(platform: str, account: str, inside: str, tenant: str) -> None:
    holder = TokenClaims(PersonId(platform, account, inside), tenant, HOLDER.until)
    assert read(KEY, issue(KEY, holder), NOW) == holder


def test_a_token_is_invalid_from_its_expiry() -> None:
    token = issue(KEY, HOLDER)
    assert read(KEY, token, HOLDER.until - timedelta(microseconds=1)) == HOLDER
    assert problem(KEY, token, HOLDER.until) == "token_expired"


def test_a_token_of_another_key_is_refused() -> None:
    assert problem(b"j" * 32, issue(KEY, HOLDER)) == "token_wrong"


def test_without_a_key_no_token_is_read_or_issued() -> None:
    assert problem(b"", issue(KEY, HOLDER)) == "token_wrong"
    with pytest.raises(ValueError, match="key"):
        issue(b"", HOLDER)


@pytest.mark.parametrize("scopes", [{"read"}, {"write"}, {"read", "write"}])
def test_a_token_has_the_scopes_with_which_it_was_issued(scopes: set[str]) -> None:
    holder = replace(HOLDER, scopes=frozenset(map(TokenScope, scopes)))
    assert read(KEY, issue(KEY, holder), NOW).scopes == scopes
    with pytest.raises(ValueError, match="scope"):
        issue(KEY, replace(HOLDER, scopes=frozenset()))


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({}, {"read", "write"}),  # as tokens were issued before there were scopes
        ({"scopes": ["read"]}, {"read"}),
        ({"scopes": []}, None),
        ({"scopes": ["read", "admin"]}, None),
        ({"scopes": ["READ"]}, None),
        ({"scopes": "read"}, None),
        ({"scopes": {"read": True}}, None),
        ({"scopes": ["read"] * 3}, None),
        ({"scope": ["read"]}, None),
    ],
)
def test_unknown_scopes_refuse_the_token(
    given: Mapping[str, object], known: set[str] | None
) -> None:
    token = signed(given)
    if known is None:
        assert problem(KEY, token) == "token_wrong"
    else:
        assert read(KEY, token, NOW).scopes == known


def test_a_token_of_an_agent_contains_the_agent() -> None:
    holder = replace(HOLDER, agent="a" * 32, scopes=frozenset({TokenScope.READ}))
    assert read(KEY, issue(KEY, holder), NOW) == holder


@pytest.mark.parametrize(
    ("given", "agent"),
    [
        ({}, ""),  # as tokens were issued before agents had some
        ({"kind": "agent", "agent": "a1"}, "a1"),
        ({"kind": None, "agent": None}, ""),
        ({"kind": "agent"}, None),
        ({"kind": "agent", "agent": ""}, None),
        ({"kind": "agent", "agent": None}, None),
        ({"kind": "agent", "agent": ["a1"]}, None),
        ({"kind": "agent", "agent": "a" * 33}, None),
        ({"agent": "a1"}, None),
        ({"kind": "person"}, None),
        ({"kind": "person", "agent": "a1"}, None),
        ({"kind": "AGENT", "agent": "a1"}, None),
        ({"kind": ""}, None),
        ({"kinds": "agent", "agent": "a1"}, None),
    ],
)
def test_a_token_is_of_a_person_or_of_a_named_agent(
    given: Mapping[str, object], agent: str | None
) -> None:
    token = signed(given)
    if agent is None:
        assert problem(KEY, token) == "token_wrong"
    else:
        assert read(KEY, token, NOW).agent == agent


@given(st.data())
def test_a_changed_character_invalidates_a_token(data: st.DataObject) -> None:
    token = issue(KEY, HOLDER)
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != token[at]))
    assert problem(KEY, token[:at] + other + token[at + 1 :]) == "token_wrong"


@given(st.text())
def test_other_texts_are_not_tokens(text: str) -> None:
    assert problem(KEY, text) == "token_wrong"
    assert problem(KEY, f"parley_{text}") == "token_wrong"


@pytest.mark.parametrize(
    "text", ["", "ada", "telegram:1", "a::b", ":a:b", "a:b:", "a:b:\n", "a:b:" + "x" * 300]
)
def test_a_person_needs_a_full_identity(text: str) -> None:
    with pytest.raises(BadInput, match="PLATFORM:ACCOUNT:ID"):
        person_of(text)


def test_the_id_of_a_person_may_contain_colons() -> None:
    assert str(person_of("whatsapp:main:US.1:2")) == "whatsapp:main:US.1:2"
