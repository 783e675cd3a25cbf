"""A token is read only as it was issued: by the same key, untouched, in time."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadInput
from gateway.people import PersonId
from parley.security.tokens import BadToken, TokenClaims, issue, person_of, read

KEY = b"k" * 32
NOW = datetime(2026, 11, 21, tzinfo=UTC)
HOLDER = TokenClaims(PersonId("telegram", "main", "123"), "default", NOW + timedelta(days=1))
PARTS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=40)


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
