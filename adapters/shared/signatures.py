"""The signature checks of three platforms' webhooks: pure, in constant time.

None of them raises: for any invalid input the result is False, and so it is for an empty secret.
"""

import hashlib
import hmac
import time
from typing import Final

REPLAY_WINDOW: Final = 300
"""Seconds a signed Slack request stays valid, the tolerance Slack's documentation asks for."""

_LONGEST_TIMESTAMP: Final = 12
"""Digits; Unix seconds have 10 until the year 2286."""


def verify_slack(
    body: bytes, timestamp: str, signature: str, signing_secret: str, now: float | None = None
) -> bool:
    """True when `signature` is Slack's v0 signature over `timestamp` and the raw `body`.

    `timestamp` is the header X-Slack-Request-Timestamp (Unix seconds), `signature` the header
    X-Slack-Signature ("v0=" and 64 hexadecimal digits). A request more than `REPLAY_WINDOW`
    seconds away from `now` (the wall clock, if None) is refused: it may be a replay.
    """
    secret = _octets(signing_secret)
    current = time.time() if now is None else now
    if not (secret and _is_raw(body) and _is_timestamp(timestamp) and _is_number(current)):
        return False
    # In this form, a clock that is not a number refuses instead of accepting.
    if not abs(current - int(timestamp)) <= REPLAY_WINDOW:
        return False
    base = b"v0:" + timestamp.encode("ascii") + b":" + body
    return _same("v0=" + hmac.new(secret, base, hashlib.sha256).hexdigest(), signature)


def verify_whatsapp(body: bytes, signature: str, app_secret: str) -> bool:
    """True when `signature` (the header X-Hub-Signature-256, "sha256=…") fits the raw `body`."""
    secret = _octets(app_secret)
    if not secret or not _is_raw(body):
        return False
    return _same("sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest(), signature)


def verify_telegram(header: str, secret: str) -> bool:
    """True when the header X-Telegram-Bot-Api-Secret-Token is the secret set with setWebhook."""
    expected = _octets(secret)
    return bool(expected) and _same(secret, header)


# The checks below take `object`: the types of input from outside are not guaranteed.


def _is_raw(value: object) -> bool:
    return isinstance(value, bytes | bytearray)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _is_timestamp(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_TIMESTAMP
        and value.isascii()
        and value.isdigit()
    )


def _octets(value: object) -> bytes:
    """The bytes of a text, also with lone surrogates; empty for any other value."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b""


def _same(expected: str, received: object) -> bool:
    if not isinstance(received, str):
        return False
    # Digests have one length, so that the time does not show the length of the secret.
    return hmac.compare_digest(
        hashlib.sha256(_octets(expected)).digest(), hashlib.sha256(_octets(received)).digest()
    )
