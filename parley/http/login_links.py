"""Login links of the local pages: a page with a button, because previews of chat platforms and
scanners of mail open links, and the code behind `#`, which browsers send to nobody."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.languages.html_pages import page
from gateway.ports.rights import OPEN
from parley.http.access import is_same_origin, same_secret, session_value
from parley.http.asgi import exchange_of, facts_of, headers_of, is_encrypted, read_body
from parley.http.refusal import refusal
from parley.http.starlette_routes import Served

COOKIE: Final = "parley_session"
COOKIE_DAYS: Final = 30
LINK_SECONDS: Final = 600.0
"""Seconds for which a login link works, once."""
MAX_LINKS: Final = 16
"""Maximum unused login links; the oldest is dropped first."""
LOG_IN: Final = "/log-in"
SCRIPT: Final = "log_in.js"
MAX_FORM: Final = 4_096
"""Bytes of the form, which has one code."""
MAX_FIELDS: Final = 8
_FORM: Final = "application/x-www-form-urlencoded"


class NewLink(Struct, frozen=True):
    """A link that is not used yet: the page to which it leads, and the time of the monotonic clock
    until which it works, in seconds."""

    path: str
    until: float


class LoginLinks:
    """The codes of login links that are not used yet."""

    def __init__(self) -> None:
        self._new: OrderedDict[str, NewLink] = OrderedDict()

    def new(self, path: str) -> str:
        """Return the address, without its host, of a link that leads to `path`, once."""
        code = secrets.token_urlsafe(24)
        self._new[code] = NewLink(path, time.monotonic() + LINK_SECONDS)
        while len(self._new) > MAX_LINKS:
            self._new.popitem(last=False)
        return f"{LOG_IN}#{code}"

    def use(self, given: str) -> str | None:
        """Return the path of a code that works, None for another one; it does not work again."""
        now = time.monotonic()
        used = ""
        for code, link in list(self._new.items()):
            if link.until < now:
                del self._new[code]
            elif same_secret(given, code):
                used = code
        link_used = self._new.pop(used, None)
        return None if link_used is None else link_used.path


def login_routes(links: LoginLinks, token: str) -> Iterator[Served]:
    """The page of a login link, its script, and the use of a link, for everybody who reaches the
    port; none without a token."""
    if not token:
        return
    for method in ("GET", "HEAD"):
        yield Served(method, LOG_IN, _page, OPEN)
        yield Served(method, f"{LOG_IN}/{SCRIPT}", _script, OPEN)
    yield Served("POST", LOG_IN, _LogIn(links, token), OPEN)


async def _page(scope: Scope, receive: Receive, send: Send) -> None:
    """Show the page. It changes nothing."""
    language = exchange_of(scope).language_of(headers_of(scope).get("accept-language", ""))
    shown = page(_file("log_in.html"), language)
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Vary": "Accept-Language",
        # Under `no-referrer` browsers send a form with the origin "null", which is refused.
        "Referrer-Policy": "same-origin",
    }
    await Response(shown, headers=headers)(scope, receive, send)


async def _script(scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"Content-Type": "text/javascript; charset=utf-8"}
    await Response(_file(SCRIPT), headers=headers)(scope, receive, send)


class _LogIn(Struct, frozen=True):
    """Uses a login link. The link decides where to go next, not the request."""

    links: LoginLinks
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp
        if is_same_origin(facts_of(scope, COOKIE)):
            path = self.links.use(await _code_in(scope, receive))
            answer = (
                refusal(scope, 401, "token_wrong") if path is None else self._let_in(scope, path)
            )
        else:
            answer = refusal(scope, 403, "strange_origin")
        await answer(scope, receive, send)

    def _let_in(self, scope: Scope, path: str) -> Response:
        cookie = f"{COOKIE}={session_value(self.token)}; Max-Age={COOKIE_DAYS * 86_400}; Path=/"
        secure = "; Secure" * is_encrypted(scope)
        headers = {"Location": path, "Set-Cookie": f"{cookie}; HttpOnly; SameSite=Strict{secure}"}
        return Response(status_code=303, headers=headers)


async def _code_in(scope: Scope, receive: Receive) -> str:
    """Return the code of a form, empty where it has none. Raises `RequestTooLarge`."""
    kind = headers_of(scope).get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        return ""
    raw = await read_body(scope, receive, MAX_FORM)
    try:
        return dict(parse_qsl(raw.decode(), max_num_fields=MAX_FIELDS)).get("code", "")
    except ValueError:
        return ""


@cache
def _file(name: str) -> str:
    return resources.files("parley.http").joinpath(name).read_text("utf-8")
