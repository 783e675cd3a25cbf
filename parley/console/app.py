"""The pages of the console as an ASGI application: sign-in, views, actions, static files, events.

Loaded with the first request. Each view and each action is a `ConsoleRoute`; the API serves the
same functions (`parley.console.api`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qsl, quote

import structlog
from msgspec import Struct, field
from pydantic import ValidationError
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.languages.negotiation import language_of_reader
from gateway.people import Role
from gateway.ports.action import Input
from gateway.ports.rights import OPEN, Allowed, Credential, check, in_person
from gateway.stores.people_languages import PersonLanguages
from gateway.text import (
    Text,
    joined,
    text,
    verbatim,
)
from parley.console.events import LiveEvents
from parley.console.pages import Frame, PageTemplates, menu_of, palette_of
from parley.console.pictures import answer_of, message_picture, portrait, portrait_answer
from parley.console.route import AnyRoute, Done, File, ItemParams, RefusedWithResult
from parley.console.security import (
    add_notice,
    check_csrf,
    cookie_name,
    drop_notice,
    new_nonce,
    page_headers,
    path_to,
    session_secret,
    set_cookie,
    taken_notice,
)
from parley.console.services import ConsoleServices
from parley.console.sessions import SIGN_IN, Viewers, csrf_of
from parley.console.viewer import Viewer
from parley.http.api.errors import CallRefused, as_refused
from parley.http.api.invalid import reason_of
from parley.http.api.operations import read_query
from parley.http.asgi import (
    ClientGone,
    RequestTooLarge,
    cookies_of,
    exchange_of,
    headers_of,
    read_body,
)
from parley.http.starlette_routes import Served, params_of, routes_of

HOME: Final = "/overview"
MAX_FORM: Final = 256 * 1024
MAX_FIELDS: Final = 500
MAX_QUERY: Final = 2_000
"""Characters of the query of a picture."""
KEPT: Final = {"Cache-Control": "public, max-age=31536000, immutable"}
BAD_LINK: Final = text(
    "This link does not work: it was used, is too old, or is incomplete. Write /console to the "
    "assistant in a direct message to get a new one."
)
PICTURE: Final = "/conversations/{id}/pictures/{number}"
PORTRAIT: Final = "/person/picture"
TOO_LARGE: Final = text(
    "A form has at most {size} kB. Nothing was changed. Go back in the browser, and shorten the "
    "text.",
    size=MAX_FORM // 1024,
)
ENDED: Final = text("Your session has ended. Sign in again.")
TWO_IDS: Final = text("The path has the id, and no parameter.")
NO_ENTRY: Final = text("This entry does not exist.")
NO_FORM: Final = text("Send a form.")
UNREADABLE: Final = text("The form cannot be read.")
SIGNED_OUT: Final = "signed_out"
KNOWN: Final = "parley.signed_in"
"""The key of the viewer in the scope of an admitted request, a `SignedIn`."""

log = structlog.get_logger(__name__)


class SignedIn(Struct, frozen=True):
    """The viewer of a request with a session, and the token of their forms."""

    viewer: Viewer
    csrf: str


class ConsoleApp(Struct, frozen=True):
    """Serves the console below `/console`."""

    routes: tuple[AnyRoute, ...]
    services: ConsoleServices
    identity: Viewers
    pages: PageTemplates = field(default_factory=PageTemplates)

    def app(self) -> ASGIApp:
        """Return the application."""
        events = LiveEvents(self.services, self._viewer_still)
        served = [
            Served("GET", "/", _Redirect(HOME), OPEN),
            Served("GET", SIGN_IN, _SignInPage(self), OPEN),
            Served("POST", SIGN_IN, _SignIn(self), OPEN),
            Served("POST", "/sign-out", _SignOut(self), OPEN),
            Served("GET", "/events", events, in_person(Role.GUEST)),
            Served("GET", PICTURE, _MessagePicture(self), in_person(Role.GUEST)),
            Served("GET", PORTRAIT, _Portrait(self), in_person(Role.GUEST)),
            *(Served("GET", path, _Static(self), OPEN) for path in self.pages.static),
            *(Served(one.method, one.path, self._app_of(one), one.allowed) for one in self.routes),
        ]
        routes = routes_of(served, self.admit)
        return _Errors(self, Router(routes, redirect_slashes=False))

    def _app_of(self, route: AnyRoute) -> ASGIApp:
        return _View(self, route) if route.method == "GET" else _Action(self, route)

    async def admit(self, scope: Scope, allowed: Allowed) -> None:
        """The one check of rights of the pages. Raises `CallRefused` (401, 403)."""
        if Credential.NONE in allowed.by:
            return
        known = await self.signed_in(scope)
        if known is None:
            raise CallRefused(SIGNED_OUT, ENDED)
        exchange_of(scope).proof = known.viewer.proof
        check(allowed, known.viewer.proof)
        scope[KNOWN] = known

    async def signed_in(self, scope: Scope) -> SignedIn | None:
        """Return the viewer of the session in the cookie; None without a valid one. Raises
        `CallRefused` (403) for a person who is not served any more, whose session ends."""
        secret = session_secret(scope)
        session = await self.services.sessions.find(secret)
        if session is None:
            return None
        viewer = await self.identity.of_session(session)
        known = await self._known(viewer)
        zone = viewer.zone or known.zone or known.zone_told
        language = self._language_of(known, scope)
        return SignedIn(replace(viewer, language=language, zone=zone), csrf_of(secret))

    async def _known(self, viewer: Viewer) -> PersonLanguages:
        """Return the language and the time zone of a viewer; nothing while they cannot be read."""
        readers, known = self.services.gateway.readers, PersonLanguages()
        with suppress(StoreUnavailable):
            known = await readers.known(viewer.tenant, viewer.person)
        return known

    def _language_of(self, known: PersonLanguages, scope: Scope) -> str:
        """Return the language for a viewer: what they chose, what their browser tells, what their
        platform told, the installation's."""
        languages = self.services.gateway.policies.languages
        told = languages.liked_by(headers_of(scope).get("accept-language", ""))
        return language_of_reader(
            known.chosen, told, known.told, languages.default, languages.offered
        )

    async def _viewer_still(self, scope: Scope) -> Viewer:
        """Return the present viewer of an open connection. Raises `CallRefused` (401, 403)."""
        await self.admit(scope, in_person(Role.GUEST))
        return admitted(scope).viewer

    async def frame(self, scope: Scope, known: SignedIn | None = None) -> Frame:
        """Return the frame of a page for this request. A browser without a session tells the
        language of its page."""
        headers, path = headers_of(scope), scope["path"].removeprefix(scope.get("root_path", ""))
        viewer = None if known is None else known.viewer
        languages = self.services.gateway.policies.languages
        told = languages.liked_by(headers.get("accept-language", ""))
        named = told if viewer is None else viewer.language
        # The first page in a language reads its catalogue, which takes up to 20 ms.
        language = await asyncio.to_thread(languages.named, named)
        return Frame(
            path=path,
            nonce=new_nonce(),
            assistant=self.services.gateway.assistant.name,
            viewer=viewer,
            csrf="" if known is None else known.csrf,
            menu=() if viewer is None else menu_of(self.routes, viewer, path),
            palette=() if viewer is None else palette_of(self.routes, viewer),
            notice=None if viewer is None else self._notice(scope),
            fragment="hx-request" in headers and "hx-boosted" not in headers,
            language=language,
        )

    async def page(
        self, template: str, frame: Frame, status: int = 200, **values: object
    ) -> Response:
        """Return a page as a response. The first page of a template compiles it, which takes up to
        70 ms."""
        html = await asyncio.to_thread(self.pages.render, template, frame, **values)
        return Response(html, status, page_headers(frame.nonce))

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self.services.gateway.clock.now().timestamp()

    def _notice(self, scope: Scope) -> Text | None:
        """Return the sentence of the action that led to this page."""
        named = taken_notice(scope, self.now)
        return next((one.done for one in self.routes if one.name == named), None)


def admitted(scope: Scope) -> SignedIn:
    """Return the viewer whom `ConsoleApp.admit` let in."""
    known = scope[KNOWN]
    if not isinstance(known, SignedIn):
        raise TypeError("the viewer was not admitted")
    return known


class _View(Struct, frozen=True):
    """Shows a view."""

    console: ConsoleApp
    route: AnyRoute

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = admitted(scope)
        params = with_id(read_query(scope, self.route.params), scope)
        result = await self.route.run(known.viewer, self.console.services, params)
        if isinstance(result, File):
            await _download(result)(scope, receive, send)
            return
        frame = await self.console.frame(scope, known)
        page = await self.console.page(
            self.route.template, frame, result=result, params=params, viewer=known.viewer
        )
        drop_notice(page, scope)
        await page(scope, receive, send)


class _Action(Struct, frozen=True):
    """Runs an action of a form, and shows the page after it, or a fragment to htmx."""

    console: ConsoleApp
    route: AnyRoute

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = admitted(scope)
        fields = await read_form(scope, receive)
        check_csrf(scope, fields, known.csrf)
        params = with_id(_form_of(fields, self.route), scope)
        status, refusal = 200, ""
        try:
            result = await self.route.run(known.viewer, self.console.services, params)
        except RefusedWithResult as refused:
            result, status, refusal = refused.result, refused.status, refused.code
        exchange_of(scope).reason = refusal or exchange_of(scope).reason
        frame = await self.console.frame(scope, known)
        if self.route.template and (frame.fragment or not self.route.then):
            answer = await self.console.page(
                *(self.route.template, frame, status),
                result=result,
                params=params,
                viewer=known.viewer,
            )
        else:
            query = f"?{result.query}" if isinstance(result, Done) and result.query else ""
            then = self.route.then
            if isinstance(params, ItemParams):
                then = then.replace("{id}", quote(params.id, safe=""))
            answer = _see(f"{then}{query}")
            add_notice(answer, scope, self.route.name, self.console.now)
        await answer(scope, receive, send)


class _MessagePicture(Struct, frozen=True):
    """Shows a picture of a message."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known, params = admitted(scope), params_of(scope)
        file, found = await message_picture(
            known.viewer, self.console.services, params["id"], params["number"]
        )
        language = (await self.console.frame(scope, known)).language
        await answer_of(found, file, language)(scope, receive, send)


class _Portrait(Struct, frozen=True):
    """Shows the picture of a person."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = admitted(scope)
        query = scope["query_string"].decode("latin-1")[:MAX_QUERY]
        person = dict(parse_qsl(query)).get("person", "")
        found = await portrait(known.viewer, self.console.services, person)
        await portrait_answer(found)(scope, receive, send)


class _SignInPage(Struct, frozen=True):
    """Shows the page of a login link. It changes nothing: previews of chat platforms open links."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = await self.console.page("sign_in.html", await self.console.frame(scope), problem="")
        await page(scope, receive, send)


class _SignIn(Struct, frozen=True):
    """Uses a login link. The session is always a new one, and an earlier one of this browser
    ends."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fields = dict(await read_form(scope, receive))
        sessions = self.console.services.sessions
        label = headers_of(scope).get("user-agent", "")
        made = await sessions.sign_in(fields.get("link", ""), label, fields.get("zone", ""))
        if made is None:
            frame = await self.console.frame(scope)
            page = await self.console.page("sign_in.html", frame, 401, problem=BAD_LINK)
            await page(scope, receive, send)
            return
        secret, session = made
        await self._end_earlier(scope)
        await self.console.services.audit.console(
            "signed_in", session.tenant, session.person, session=session.id
        )
        answer = _see(HOME)
        seconds = round(sessions.longest.total_seconds())
        answer.headers["Set-Cookie"] = set_cookie(scope, secret, seconds)
        await answer(scope, receive, send)

    async def _end_earlier(self, scope: Scope) -> None:
        sessions = self.console.services.sessions
        earlier = await sessions.find(session_secret(scope))
        if earlier is not None:
            await sessions.store.end(earlier.tenant, earlier.person, earlier.id)


class _SignOut(Struct, frozen=True):
    """Ends the session of this browser."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = await self.console.signed_in(scope)
        if known is not None:
            check_csrf(scope, await read_form(scope, receive), known.csrf)
            viewer = known.viewer
            await self.console.services.sessions.store.end(
                viewer.tenant, viewer.person, viewer.session
            )
        answer = _see(SIGN_IN)
        answer.headers["Set-Cookie"] = set_cookie(scope, "", 0)
        await answer(scope, receive, send)


class _Static(Struct, frozen=True):
    """Serves a static file, also before the sign-in."""

    console: ConsoleApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        file = self.console.pages.static[path]
        answer = Response(file.content, headers={"Content-Type": file.content_type, **KEPT})
        await answer(scope, receive, send)


class _Redirect(Struct, frozen=True):
    """Leads to another page."""

    path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _see(self.path)(scope, receive, send)


class _Errors(Struct, frozen=True):
    """Shows every error as a page with the next step."""

    console: ConsoleApp
    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except ClientGone:
            raise
        except Exception as error:
            large = isinstance(error, RequestTooLarge)
            refused = CallRefused("too_large", TOO_LARGE) if large else as_refused(error)
            if refused.status == 500:
                log.exception("console_failed", method=scope["method"])
            exchange_of(scope).reason = refused.code
            if refused.code == SIGNED_OUT and scope["method"] == "GET":
                page = await _signed_out(self.console, scope)
            else:
                page = await self._page(scope, refused)
            await page(scope, receive, send)

    async def _page(self, scope: Scope, refused: CallRefused) -> Response:
        known = None
        if refused.status not in (401, 403, 500):
            with suppress(StoreUnavailable):  # then the page has no menu
                known = await self.console.signed_in(scope)
        frame = await self.console.frame(scope, known)
        page = await self.console.page("error.html", frame, refused.status, refused=refused)
        page.headers.update(refused.headers)
        return page


def with_id(params: Input, scope: Scope) -> Input:
    """Return parameters with the id of the path. Raises `CallRefused` (400, 404)."""
    if not isinstance(params, ItemParams):
        return params
    if params.id:
        raise CallRefused("bad_query", TWO_IDS, "id")
    item = params_of(scope).get("id", "")
    try:
        return type(params).model_validate({**dict(params), "id": item})
    except ValidationError:
        raise CallRefused("not_found", NO_ENTRY, "path.id") from None


async def read_form(scope: Scope, receive: Receive) -> list[tuple[str, str]]:
    """Return the fields of a form, at most `MAX_FIELDS`. Raises `CallRefused`."""
    kind = headers_of(scope).get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise CallRefused("no_form", NO_FORM, "header.Content-Type")
    raw = await read_body(scope, receive, MAX_FORM)
    try:
        return parse_qsl(raw.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise CallRefused("unreadable_form", UNREADABLE, "body") from None


def _form_of(fields: Sequence[tuple[str, str]], route: AnyRoute) -> Input:
    """Return a form as parameters; a list is a repeated field. Raises `CallRefused` (422)."""
    given: dict[str, object] = {}
    for name, value in fields:
        if name == "csrf":
            continue
        declared = route.params.model_fields.get(name)
        if declared is not None and isinstance(declared.default, tuple):
            earlier = given.get(name, ())
            given[name] = (*earlier, value) if isinstance(earlier, tuple) else (value,)
        else:
            given[name] = value
    try:
        return _as_params(route, given)
    except ValidationError as error:
        raise _invalid(error) from None


def _as_params(route: AnyRoute, given: Mapping[str, object]) -> Input:
    params: Input = route.params.model_validate(given, strict=False)
    return params


def _invalid(error: ValidationError) -> CallRefused:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step)[:50] for step in first["loc"][:5])
    message = joined((verbatim(f"`{where}`:"), reason_of(first)), " ")
    return CallRefused("bad_form", message, f"body.{where}")


async def _signed_out(console: ConsoleApp, scope: Scope) -> Response:
    """Return the page for a browser without a session.

    A link from another site arrives without the cookie (SameSite=Strict): the page then loads
    itself once more from here, and the cookie comes along.
    """
    headers = headers_of(scope)
    again = headers.get("sec-fetch-site") == "cross-site"
    frame = await console.frame(scope)
    page = await console.page("signed_out.html", frame, 200 if again else 401, again=again)
    if not again and cookie_name(scope) in cookies_of(scope):
        page.headers["Set-Cookie"] = set_cookie(scope, "", 0)
    return page


def _download(file: File) -> Response:
    headers = {
        "Content-Type": file.content_type,
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
    }
    return Response(file.content, headers=headers)


def _see(path: str) -> Response:
    return Response(status_code=303, headers={"Location": path_to(path)})
