"""Notices: the sentence of an action on the page after it, once.

The answer to the action stores the name of the action in a cookie of this browser, signed with the
secret of the session; the next page shows the sentence and removes the cookie. An address cannot
carry a notice, nor can a page of another site.
"""

import hashlib
import hmac
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

from parley.console.security import cookie, cookie_of, session_secret
from parley.http.access import same_secret

NAME: Final = "parley_notice"
SECONDS: Final = 60
"""Seconds within which the page is expected."""
_PURPOSE: Final = b"parley console notice v1\0"


def add_notice(answer: Response, scope: Scope, action: str, at: float) -> None:
    """Let the next page of this session show the sentence of an action. `at` is in seconds."""
    until = round(at) + SECONDS
    value = f"{action}.{until}.{_signature(session_secret(scope), action, until)}"
    answer.headers.append("Set-Cookie", cookie(scope, NAME, value, SECONDS))


def taken_notice(scope: Scope, at: float) -> str:
    """Return the name of the action whose sentence this page shows, empty for none."""
    action, _, rest = cookie_of(scope, NAME).partition(".")
    until, _, signature = rest.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12 and int(until) > at):
        return ""
    expected = _signature(session_secret(scope), action, int(until))
    return action if same_secret(signature, expected) else ""


def drop_notice(answer: Response, scope: Scope) -> None:
    """Remove the notice from this browser, if it has one."""
    if cookie_of(scope, NAME):
        answer.headers.append("Set-Cookie", cookie(scope, NAME, "", 0))


def _signature(secret: str, action: str, until: int) -> str:
    text = _PURPOSE + f"{action}.{until}".encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
