"""Who a browser is: an unguessable token in a cookie, and the person id derived from it."""

import hashlib
import re
import secrets
from typing import Final

from aiohttp import web

COOKIE: Final = "parley_web"
COOKIE_SECONDS: Final = 365 * 24 * 3600
BASE: Final = "/chat"

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def person_of(request: web.Request) -> str:
    """The person behind this request, empty without a well-formed token.

    The id is a hash: it is the same after a restart, and it does not give the token away.
    """
    token = request.cookies.get(COOKIE, "")
    if not _TOKEN.fullmatch(token):
        return ""
    return "web-" + hashlib.sha256(token.encode()).hexdigest()[:24]


def give_token(request: web.Request, response: web.StreamResponse) -> None:
    """Make this browser somebody, unless it already is; scripts cannot read the cookie."""
    if person_of(request):
        return
    response.set_cookie(
        COOKIE,
        secrets.token_urlsafe(32),
        max_age=COOKIE_SECONDS,
        path=BASE,
        httponly=True,
        samesite="Strict",
        secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
    )


def from_this_page(request: web.Request) -> bool:
    """True when the browser says that a page of this very server made the request."""
    origin = request.headers.get("Origin", "")
    return origin.partition("://")[2].lower() == request.host.lower() and bool(origin)
