"""Signatures of the platforms are accepted, other ones are refused, and no input raises."""

import hashlib
import hmac
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shared.signatures import REPLAY_WINDOW, verify_slack, verify_telegram, verify_whatsapp

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
NOW = 1_700_000_000
ANYTHING = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.binary(max_size=40),
    st.text(max_size=80),
    st.text(st.characters(categories=["Cs"]), max_size=3),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def slack_signature(body: bytes, timestamp: str, secret: str = SECRET) -> str:
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def whatsapp_signature(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class TestSlack:
    @given(st.binary(max_size=300), st.integers(-REPLAY_WINDOW, REPLAY_WINDOW))
    def test_a_slack_signature_is_accepted_within_the_window(self, body: bytes, age: int) -> None:
        stamp = str(NOW - age)
        assert verify_slack(body, stamp, slack_signature(body, stamp), SECRET, now=NOW)

    @given(st.binary(max_size=300), st.integers(REPLAY_WINDOW + 1, 10**7), st.booleans())
    def test_an_old_or_future_request_is_refused(self, body: bytes, age: int, past: bool) -> None:
        stamp = str(NOW - age if past else NOW + age)
        assert not verify_slack(body, stamp, slack_signature(body, stamp), SECRET, now=NOW)

    @given(st.binary(max_size=100), st.binary(max_size=100))
    def test_another_body_is_refused(self, body: bytes, other: bytes) -> None:
        signature = slack_signature(body, str(NOW))
        assert verify_slack(other, str(NOW), signature, SECRET, now=NOW) is (body == other)

    @given(ANYTHING, ANYTHING, ANYTHING, ANYTHING, ANYTHING)
    def test_any_input_is_refused_without_an_exception(
        self, body: object, stamp: object, signature: object, secret: object, now: object
    ) -> None:
        assert verify_slack(body, stamp, signature, secret, now) is False  # type: ignore[arg-type]

    def test_the_system_clock_is_used_without_a_given_time(self) -> None:
        stamp = str(int(time.time()))
        assert verify_slack(b"{}", stamp, slack_signature(b"{}", stamp), SECRET)

    def test_the_published_example_of_slack_is_accepted(self) -> None:
        body = (
            b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
            b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
            b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
            b"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
            b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
        )
        signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
        assert verify_slack(body, "1531420618", signature, SECRET, now=1_531_420_618)

    @pytest.mark.parametrize("stamp", ["", "-1", "1e9", " 1700000000", "١٧٠٠٠٠٠٠٠٠", "9" * 400])
    def test_a_malformed_timestamp_is_refused(self, stamp: str) -> None:
        assert not verify_slack(b"", stamp, slack_signature(b"", stamp), SECRET, now=NOW)

    def test_a_timestamp_that_is_not_a_number_is_refused(self) -> None:
        signature = slack_signature(b"", str(NOW))
        assert not verify_slack(b"", str(NOW), signature, SECRET, now=math.nan)

    def test_an_empty_secret_verifies_nothing(self) -> None:
        signature = slack_signature(b"", str(NOW), secret="")
        assert not verify_slack(b"", str(NOW), signature, "", now=NOW)


class TestWhatsApp:
    @given(st.binary(max_size=300), st.text(min_size=1, max_size=40))
    def test_a_meta_signature_is_accepted(self, body: bytes, secret: str) -> None:
        assert verify_whatsapp(body, whatsapp_signature(body, secret), secret)

    @given(st.binary(max_size=100), st.binary(max_size=100))
    def test_another_body_is_refused(self, body: bytes, other: bytes) -> None:
        assert verify_whatsapp(other, whatsapp_signature(body), SECRET) is (body == other)

    @given(ANYTHING, ANYTHING, ANYTHING)
    def test_any_input_is_refused_without_an_exception(
        self, body: object, signature: object, secret: object
    ) -> None:
        assert verify_whatsapp(body, signature, secret) is False  # type: ignore[arg-type]

    def test_the_prefix_is_part_of_the_signature(self) -> None:
        bare = whatsapp_signature(b"x").removeprefix("sha256=")
        assert not verify_whatsapp(b"x", bare, SECRET)

    def test_an_empty_secret_verifies_nothing(self) -> None:
        assert not verify_whatsapp(b"x", whatsapp_signature(b"x", ""), "")


class TestTelegram:
    @given(st.text(min_size=1, max_size=60))
    def test_the_same_token_is_accepted(self, secret: str) -> None:
        assert verify_telegram(secret, secret)

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_another_token_is_refused(self, header: str, secret: str) -> None:
        assert verify_telegram(header, secret) is (header == secret and secret != "")

    @given(ANYTHING.filter(lambda value: not isinstance(value, str)), ANYTHING)
    def test_any_input_is_refused_without_an_exception(
        self, header: object, secret: object
    ) -> None:
        assert verify_telegram(header, secret) is False  # type: ignore[arg-type]

    def test_an_empty_secret_verifies_nothing(self) -> None:
        assert not verify_telegram("", "")
