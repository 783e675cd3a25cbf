"""The confirmation of a tool that deletes or shares: by a question that the client shows to the
person, or by a second call with a code.

The client is asked if it can show questions. For another one the first call changes nothing and
returns the question with a code, which is valid for this person, tool, arguments and question for
10 to 20 minutes. The client's own question before a tool with `destructiveHint` then stands for
the confirmation.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from gateway.ports.memory import Caller

WINDOW_SECONDS: Final = 600
LABEL: Final = b"parley mcp confirmation 1"
CODE_DIGITS: Final = 16


class Confirmed(Struct, frozen=True):
    """The person agreed."""


class CodeRequired(Struct, frozen=True):
    """The client cannot ask the person: the question, and the code of a second call."""

    question: str
    code: str


def decide_by_code(
    key: bytes, caller: Caller, tool: str, arguments: Mapping[str, object], question: str
) -> Confirmed | CodeRequired:
    """Return the decision about a call from a client that cannot show a question. `key` is the
    program's secret."""
    given = str(arguments.get("confirm", ""))
    params = {name: value for name, value in arguments.items() if name != "confirm"}
    window = _window(caller.at)
    codes = [_code(key, caller, tool, params, question, each) for each in (window, window - 1)]
    if any(hmac.compare_digest(given.encode(), code.encode()) for code in codes):
        return Confirmed()
    return CodeRequired(question, codes[0])


def _window(at: datetime) -> int:
    return int(at.timestamp()) // WINDOW_SECONDS


def _code(
    key: bytes,
    caller: Caller,
    tool: str,
    params: Mapping[str, object],
    question: str,
    window: int,
) -> str:
    principal = caller.principal
    parts = [tool, principal.tenant, str(principal.person), params, question, window]
    text = json.dumps(parts, sort_keys=True)
    derived = hmac.new(key, LABEL, hashlib.sha256).digest()
    return hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()[:CODE_DIGITS]
