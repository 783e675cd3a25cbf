"""Pairing codes and owner codes, and the limits of requests for admission. Pure, except for the
random codes.

The alphabet leaves out characters that look alike (0 O, 1 I L, 2 Z, 5 S, 8 B, U V).
"""

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from gateway.people import Role
from gateway.policy.decision import Decision

STAGE: Final = "pairing"
ALPHABET: Final = "ACDEFGHJKMNPQRTWXY34679"
CODE_GROUPS: Final = (3, 3, 3)
"""Characters of a pairing code: nine of 23 are 40.7 bits."""
OWNER_GROUPS: Final = (4, 4, 4)
"""Characters of an owner code after its prefix: twelve of 23 are 54 bits."""
OWNER_PREFIX: Final = "OWNER"
MAX_TYPED: Final = 64
"""Characters of a message that can be a code."""
MAX_SENTENCE: Final = 500
"""Characters of a message in which a code is looked for."""
_DASH: Final = "[-\u2010\u2011\u2013\u2014]"
_EDGE: Final = "[0-9A-Za-z-]"

CODE_VALID: Final = timedelta(hours=1)
OWNER_CODE_VALID: Final = timedelta(minutes=15)
NEW_CODE_AFTER: Final = timedelta(minutes=10)
"""The time for which a further message of a person gets no new code."""
CODES_PER_HOUR: Final = 3
"""Codes of one person."""
MAX_WAITING: Final = 100
"""People of a tenant that wait for a decision."""
MAX_WAITING_IN_ACCOUNT: Final = 50
"""People of one platform account that wait, so that one platform does not close the others."""
REFUSED_FOR: Final = timedelta(days=1)
"""The time for which a rejected or revoked person gets no code."""
MAX_WRONG_OWNER_CODES: Final = 100
"""Wrong owner codes after which the current one is void."""

CODE_SENT: Final = "code_sent"
"""The reason for a person who has a code that is valid."""

RequestState = Literal["waiting", "rejected"]


class EarlierRequest(Struct, frozen=True):
    """The last request of a person. `codes` were made since `counted_since`."""

    state: RequestState
    made_at: datetime
    until: datetime
    codes: int
    counted_since: datetime


def decide_request(
    earlier: EarlierRequest | None, waiting: int, waiting_in_account: int, now: datetime
) -> Decision:
    """Decide if a person who is not admitted gets a code. The numbers count everybody who waits,
    without this person."""
    if earlier is not None:
        if earlier.until > now and earlier.state == "rejected":
            return Decision(STAGE, False, "rejected")
        if earlier.until > now and earlier.made_at > now - NEW_CODE_AFTER:
            return Decision(STAGE, False, CODE_SENT)
        recent = earlier.counted_since > now - timedelta(hours=1)
        if recent and earlier.codes >= CODES_PER_HOUR:
            return Decision(STAGE, False, "too_many_codes")
    if waiting >= MAX_WAITING:
        return Decision(STAGE, False, "too_many_waiting")
    if waiting_in_account >= MAX_WAITING_IN_ACCOUNT:
        return Decision(STAGE, False, "too_many_waiting_in_account")
    return Decision(STAGE, True, "code_made")


def decide_revocation(approver: Role, *, own: bool, ownership: bool) -> Decision:
    """Decide if an approver takes an approval back in the chat. `own`: it is the approver's, or
    that of a linked identity; `ownership`: a stored ownership goes with it."""
    if own:
        return Decision(STAGE, False, "own_approval")
    if ownership and not approver.at_least(Role.OWNER):
        return Decision(STAGE, False, "ownership")
    if not approver.at_least(Role.OPERATOR):
        return Decision(STAGE, False, "not_an_approver")
    return Decision(STAGE, True, "revoked")


def new_pairing_code() -> str:
    """Return a random code as people read it: "ACD-347-XYK"."""
    return "-".join(_random(size) for size in CODE_GROUPS)


def new_owner_code() -> str:
    """Return a random owner code: "OWNER-ACD3-47XY-KMNP"."""
    return "-".join((OWNER_PREFIX, *(_random(size) for size in OWNER_GROUPS)))


def pairing_code_in(text: str) -> str:
    """Return the code that a text is, without separators; empty if it is none."""
    plain = _plain(text)
    return plain if _is_code(plain, sum(CODE_GROUPS)) else ""


def owner_code_in(text: str) -> str:
    """Return the owner code that a text is, or the only one within a sentence, without separators;
    empty if there is none."""
    plain = _plain(text)
    code = plain.removeprefix(OWNER_PREFIX)
    if plain.startswith(OWNER_PREFIX) and _is_code(code, sum(OWNER_GROUPS)):
        return plain
    return _within_sentence(text, _OWNER_CODE)


def pairing_code_within(text: str) -> str:
    """Return the only pairing code within a sentence, without separators; empty if there is none.
    The words around it may say anything about it."""
    return _within_sentence(text, _PAIRING_CODE)


def _code_pattern(prefix: str, groups: tuple[int, ...]) -> re.Pattern[str]:
    """Return the pattern of a code as it is shown, with dashes: without them, ordinary words would
    be codes."""
    parts = (*([prefix] if prefix else []), *(f"[{ALPHABET}]{{{size}}}" for size in groups))
    return re.compile(f"(?<!{_EDGE}){_DASH.join(parts)}(?!{_EDGE})", re.IGNORECASE)


_OWNER_CODE: Final = _code_pattern(OWNER_PREFIX, OWNER_GROUPS)
_PAIRING_CODE: Final = _code_pattern("", CODE_GROUPS)


def _within_sentence(text: str, pattern: re.Pattern[str]) -> str:
    if len(text) > MAX_SENTENCE:
        return ""
    found = {_plain(code) for code in pattern.findall(text)}
    return found.pop() if len(found) == 1 else ""


def hash_code(code: str) -> str:
    """Return a salted hash of a code, as it is stored."""
    salt = secrets.token_hex(8)
    return f"{salt}:{_digest(salt, code)}"


def matches_hash(code: str, code_hash: str) -> bool:
    """Return True if the hash was made of this code; the time does not depend on the code."""
    salt, _, digest = code_hash.partition(":")
    return bool(digest) and hmac.compare_digest(_digest(salt, code), digest)


def _digest(salt: str, code: str) -> str:
    return hashlib.sha256(f"{salt}:{_plain(code)}".encode("utf-8", "replace")).hexdigest()


def _random(size: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(size))


def _plain(text: str) -> str:
    """Return a short text in upper case without separators; empty for a long one."""
    if len(text) > MAX_TYPED:
        return ""
    return text.translate({ord(mark): None for mark in " -\u2010\u2011\u2013\u2014`*_\n\t"}).upper()


def _is_code(plain: str, size: int) -> bool:
    return len(plain) == size and all(char in ALPHABET for char in plain)
