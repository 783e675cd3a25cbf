"""The headers and cookies of the console's pages, the check that a form is its own (CSRF), and
notices: the sentence of an action on the page after it, once.

The answer to the action stores the name of the action in a cookie of this browser, signed with the
secret of the session; the next page shows the sentence and removes the cookie. An address cannot
carry a notice, nor can a page of another site.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

from gateway.text import text
from parley.console.sessions import PREFIX
from parley.http.access import same_secret
from parley.http.api.errors import CallRefused
from parley.http.asgi import cookies_of, headers_of, is_encrypted

NAME: Final = "parley_console"
EXPIRED: Final = text(
    "The form belongs to another session. Open the page again, then repeat the action."
)
_POLICY: Final = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types htmx parley"
)
NOTICE: Final = "parley_notice"
NOTICE_SECONDS: Final = 60
"""Seconds within which the page is expected."""
_NOTICE_PURPOSE: Final = b"parley console notice v1\0"


def new_nonce() -> str:
    """Return a nonce for one page."""
    return secrets.token_urlsafe(16)


def page_headers(nonce: str) -> Mapping[str, str]:
    """Return the headers of a page whose scripts have this nonce. The listener adds the others:
    `Cache-Control: no-store`, `X-Content-Type-Options`, COOP and CORP.

    The referrer stays within the console: under `no-referrer`, browsers send forms with the origin
    "null", which the check of the origin refuses.
    """
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": _POLICY.format(nonce=nonce),
        "Referrer-Policy": "same-origin",
        "Vary": "Accept-Language",
    }


def cookie_name(scope: Scope, name: str = NAME) -> str:
    """Return the name of a cookie: over https with the prefix that binds it to this host."""
    return f"__Host-{name}" if is_encrypted(scope) else name


def cookie_of(scope: Scope, name: str) -> str:
    """Return the value of a cookie, empty for none."""
    return cookies_of(scope).get(cookie_name(scope, name), "")


def session_secret(scope: Scope) -> str:
    """Return the secret of the session in the cookie, empty for none."""
    return cookie_of(scope, NAME)


def cookie(scope: Scope, name: str, value: str, seconds: int) -> str:
    """Return the header that stores a cookie; with 0 seconds, that removes it."""
    # A cookie with the prefix `__Host-` needs this path (RFC 6265bis, section 4.1.3.2).
    secure = "; Secure" * is_encrypted(scope)
    return (
        f"{cookie_name(scope, name)}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Strict"
        f"{secure}"
    )


def set_cookie(scope: Scope, secret: str, seconds: int) -> str:
    """Return the header that stores the secret of a session; with 0 seconds, that removes it."""
    return cookie(scope, NAME, secret, seconds)


def path_to(path: str) -> str:
    """Return the path of a page as the browser asks for it."""
    return f"{PREFIX}{path}"


def check_csrf(scope: Scope, fields: Sequence[tuple[str, str]], token: str) -> None:
    """Raise `CallRefused` (403) for a form that is not a form of this session."""
    given = dict(fields).get("csrf", "") or headers_of(scope).get("x-csrf-token", "")
    if not same_secret(given, token):
        raise CallRefused("strange_form", EXPIRED)


def add_notice(answer: Response, scope: Scope, action: str, at: float) -> None:
    """Let the next page of this session show the sentence of an action. `at` is in seconds."""
    until = round(at) + NOTICE_SECONDS
    value = f"{action}.{until}.{_signature(session_secret(scope), action, until)}"
    answer.headers.append("Set-Cookie", cookie(scope, NOTICE, value, NOTICE_SECONDS))


def taken_notice(scope: Scope, at: float) -> str:
    """Return the name of the action whose sentence this page shows, empty for none."""
    action, _, rest = cookie_of(scope, NOTICE).partition(".")
    until, _, signature = rest.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12 and int(until) > at):
        return ""
    expected = _signature(session_secret(scope), action, int(until))
    return action if same_secret(signature, expected) else ""


def drop_notice(answer: Response, scope: Scope) -> None:
    """Remove the notice from this browser, if it has one."""
    if cookie_of(scope, NOTICE):
        answer.headers.append("Set-Cookie", cookie(scope, NOTICE, "", 0))


def _signature(secret: str, action: str, until: int) -> str:
    text = _NOTICE_PURPOSE + f"{action}.{until}".encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
