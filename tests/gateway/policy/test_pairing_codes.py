"""Pairing codes and owner codes, and who gets one."""

from datetime import timedelta
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.people import Role
from gateway.policy.pairing_codes import (
    ALPHABET,
    CODE_GROUPS,
    CODE_VALID,
    CODES_PER_HOUR,
    MAX_SENTENCE,
    MAX_WAITING,
    MAX_WAITING_IN_ACCOUNT,
    NEW_CODE_AFTER,
    OWNER_GROUPS,
    REFUSED_FOR,
    EarlierRequest,
    decide_request,
    decide_revocation,
    hash_code,
    matches_hash,
    new_owner_code,
    new_pairing_code,
    owner_code_in,
    pairing_code_in,
    pairing_code_within,
)
from tests.support.messages import AT

ASKED = EarlierRequest("waiting", AT, AT + CODE_VALID, 1, AT)


def test_codes_cannot_be_guessed_and_have_no_similar_characters() -> None:
    assert sum(CODE_GROUPS) * log2(len(ALPHABET)) >= 40
    assert sum(OWNER_GROUPS) * log2(len(ALPHABET)) >= 54
    assert not set(ALPHABET) & set("0O1IL2Z5S8BUV")
    assert len({new_pairing_code() for _ in range(100)}) == 100
    assert len({new_owner_code() for _ in range(100)}) == 100


@pytest.mark.parametrize("written", ["{}", " {} ", "`{}`", "**{}**", "{}\n"])
def test_a_code_is_recognised_in_every_typed_form(written: str) -> None:
    code, owner = new_pairing_code(), new_owner_code()
    for typed in (code, code.lower(), code.replace("-", ""), code.replace("-", " ")):
        assert pairing_code_in(written.format(typed)) == code.replace("-", "")
    for typed in (owner, owner.lower(), owner.replace("-", "\u2013")):
        assert owner_code_in(written.format(typed)) == owner.replace("-", "")


@pytest.mark.parametrize(
    "sentence",
    [
        "my code is {}",
        "Here: {}.",
        "({})",
        "`{}` please",
        "{0}, again {0}",
        "код:{}",
        "コードは{}です",
    ],
)
def test_a_code_is_found_within_a_sentence(sentence: str) -> None:
    code, owner = new_pairing_code(), new_owner_code()
    assert owner_code_in(sentence.format(owner.lower())) == owner.replace("-", "")
    assert pairing_code_within(sentence.format(code)) == code.replace("-", "")
    assert pairing_code_within(sentence.format(owner)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "OWNER",
        "OWNER-AAAA-AAAA",
        "the owner need that made",
        "is it x{}?",
        "{}-AAAA",
        "{} OWNER-ACDE-FGHJ-KMNP",
        "{} " + "a" * MAX_SENTENCE,
    ],
)
def test_other_texts_are_not_owner_codes(text: str) -> None:
    assert owner_code_in(text.format(new_owner_code())) == ""
    assert owner_code_in(new_pairing_code()) == ""
    assert pairing_code_in(new_owner_code()) == ""


@given(st.text(max_size=200))
def test_any_text_can_be_searched_for_a_code(text: str) -> None:
    assert set(owner_code_in(text)) <= set(ALPHABET) | set("OWNER")
    assert set(pairing_code_in(text)) <= set(ALPHABET)
    assert not matches_hash(text, hash_code(new_pairing_code()))


def test_a_hashed_code_reveals_nothing_and_matches_one_code() -> None:
    code = new_pairing_code()
    code_hash = hash_code(code)
    assert code not in code_hash
    assert code_hash != hash_code(code)
    assert matches_hash(code.lower().replace("-", ""), code_hash)
    assert not matches_hash(new_pairing_code(), code_hash)
    assert not matches_hash(code, "")
    assert not matches_hash("", "")


def test_a_person_gets_one_code_and_then_no_answer_for_a_while() -> None:
    assert decide_request(None, 0, 0, AT)[1:3] == (True, "code_made")
    soon = AT + NEW_CODE_AFTER - timedelta(seconds=1)
    assert decide_request(ASKED, 0, 0, soon)[1:3] == (False, "code_sent")
    assert decide_request(ASKED, 0, 0, AT + NEW_CODE_AFTER).allowed


def test_a_person_gets_three_codes_an_hour() -> None:
    request = replace(ASKED, codes=CODES_PER_HOUR, made_at=AT)
    later = AT + timedelta(minutes=59)
    assert decide_request(request, 0, 0, later)[1:3] == (False, "too_many_codes")
    assert decide_request(request, 0, 0, AT + timedelta(hours=1)).allowed


def test_a_rejected_person_gets_none_for_a_day() -> None:
    rejected = replace(ASKED, state="rejected", until=AT + REFUSED_FOR)
    late = AT + REFUSED_FOR - timedelta(seconds=1)
    assert decide_request(rejected, 0, 0, late)[1:3] == (False, "rejected")
    assert decide_request(rejected, 0, 0, AT + REFUSED_FOR).allowed


def test_the_number_of_waiting_people_is_limited() -> None:
    assert decide_request(None, MAX_WAITING - 1, MAX_WAITING_IN_ACCOUNT - 1, AT).allowed
    assert decide_request(None, MAX_WAITING, 0, AT).reason == "too_many_waiting"
    full = decide_request(None, MAX_WAITING_IN_ACCOUNT, MAX_WAITING_IN_ACCOUNT, AT)
    assert full.reason == "too_many_waiting_in_account"


@pytest.mark.parametrize(
    ("approver", "own", "ownership", "reason"),
    [
        (Role.OWNER, False, False, "revoked"),
        (Role.OPERATOR, False, False, "revoked"),
        (Role.OWNER, False, True, "revoked"),
        (Role.OPERATOR, False, True, "ownership"),
        (Role.OWNER, True, True, "own_approval"),
        (Role.MEMBER, False, False, "not_an_approver"),
        (Role.GUEST, False, True, "ownership"),
    ],
)
def test_approvals_of_others_are_taken_back_by_approvers_and_ownerships_by_owners(
    approver: Role, own: bool, ownership: bool, reason: str
) -> None:
    decision = decide_revocation(approver, own=own, ownership=ownership)
    assert (decision.reason, decision.allowed) == (reason, reason == "revoked")
