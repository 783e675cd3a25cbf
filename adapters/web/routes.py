"""The page's HTTP side, for the local listener to serve.

GET  /chat/                  the page            GET  /chat/assets/{name}
GET  /chat/api/history       all lines           GET  /chat/api/events    the stream (SSE)
GET  /chat/api/chats         the conversations
POST /chat/api/actions       one action          POST /chat/api/files     one file's bytes
GET  /chat/api/files/{id}    a file

`?chat=ID` names one of the person's conversations; without it, the first one is meant. A browser is
a person by an unguessable token in a cookie; the person's id is derived from it.
"""

import asyncio
import hashlib
import json
import re
import secrets
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from importlib import resources
from typing import Final
from urllib.parse import quote, unquote

import structlog

from adapters.web.chats import Chats, NotNow
from adapters.web.page_state import PageChat, PageMessage
from adapters.web.parse import MAX_FILES, is_chat, language_of
from adapters.web.stored_lines import MAX_LISTED
from db.errors import StoreUnavailable
from gateway.errors import BadInput, ParleyError, TenantUnknown
from gateway.languages import scripts
from gateway.languages.html_pages import page
from gateway.message import MAX_CONTENT
from gateway.ports.http_routes import (
    EventStream,
    LocalRequest,
    LocalResponse,
    LocalRoute,
    ServerEvent,
    error_response,
    json_response,
)
from gateway.ports.rights import LOCAL_PAGES
from gateway.text import Language, Sentence, Text, text

BASE: Final = "/chat"
COOKIE: Final = "parley_web"
COOKIE_SECONDS: Final = 365 * 24 * 3600
ASSETS: Final[Mapping[str, str]] = {
    "chat.css": "text/css",
    "chat.js": "text/javascript",
    "composer.js": "text/javascript",
    "dom.js": "text/javascript",
    "highlight.css": "text/css",
    "highlight.js": "text/javascript",
    "lines.js": "text/javascript",
    "list.js": "text/javascript",
    "recorder.js": "text/javascript",
    "richtext.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
SAFE_INLINE: Final = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp"),
        *("audio/ogg", "audio/webm", "audio/mp4", "audio/mpeg", "audio/wav"),
    }
)
MAX_ACTION_BYTES: Final = 200_000
"""40,000 characters of up to 4 bytes, and the JSON around them."""

SETTLING_WAIT: Final = 0.5
"""Seconds between two looks at the stored conversation while a change of it is expected."""
LONGEST_WAIT: Final = 15.0
"""Seconds after which a stream without news lets the listener look for the browser."""
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
NO_STORE: Final = {"Cache-Control": "no-store"}
_MIME: Final = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}")
_SECONDS: Final = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_NO_SESSION: Final = text("this browser has no session: reload the page")
_NO_CHAT: Final = error_response(400, "`chat` is not the id of a conversation")
_UNREADABLE: Final = text("the stored conversations cannot be read now; try again")
_NOT_STORED: Final = text("the message could not be stored; try again")
_NOT_NOW: Final = text("the message cannot be taken now; try again")
_OTHER_PAGE: Final = text("the request came from another page")
_NOT_FOUND: Final = LocalResponse(b"not found", 404)

log = structlog.get_logger(__name__)


def build_routes(chats: Chats) -> list[LocalRoute]:
    """The routes of the page; several accounts of it are not offered."""
    pages = _Pages(chats)
    return [
        LocalRoute("GET", BASE, pages.redirect, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/", pages.page, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/assets/{name}", pages.asset, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/api/chats", pages.chats, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/api/history", pages.history, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/api/events", pages.events, LOCAL_PAGES),
        LocalRoute("POST", BASE + "/api/actions", pages.action, LOCAL_PAGES),
        LocalRoute("POST", BASE + "/api/files", pages.upload, LOCAL_PAGES),
        LocalRoute("GET", BASE + "/api/files/{id}", pages.file, LOCAL_PAGES),
    ]


def message_as_json(line: PageMessage) -> dict[str, object]:
    """A line as the page's script reads it."""
    return {
        "id": line.id,
        "by": line.by,
        "at": line.at.isoformat(),
        "text": line.text,
        "html": line.html,
        "buttons": [{"label": b.label, "value": b.value} for b in line.buttons],
        "files": [{"id": f.id, "name": f.name, "mime": f.mime, "size": f.size} for f in line.files],
        "reply_to": line.reply_to,
        "edited": line.edited,
        "deleted": line.deleted,
        "live": line.live,
        "command": line.command,
    }


class _Pages:
    def __init__(self, chats: Chats) -> None:
        self._chats = chats

    async def redirect(self, _request: LocalRequest) -> LocalResponse:
        return LocalResponse(status=302, headers={"Location": BASE + "/"})

    async def page(self, request: LocalRequest) -> LocalResponse:
        cookie = {} if _person_of(request) else {"Set-Cookie": _new_cookie(request)}
        language = await self._language(request)
        shown = page(_file("chat.html").decode(), language, self._sentences)
        policy = {"Content-Security-Policy": PAGE_POLICY, "Vary": "Accept-Language"}
        return _asset(shown.encode(), "text/html", policy | cookie)

    async def asset(self, request: LocalRequest) -> LocalResponse:
        name = request.params["name"]
        if name == "say.js":
            return _asset(scripts.script(), "text/javascript", {})
        return _asset(_file(name), ASSETS[name], {}) if name in ASSETS else _NOT_FOUND

    async def _language(self, request: LocalRequest) -> Language:
        """Return the language in which the person of a request reads the page."""
        told = request.headers.get("accept-language", "")
        return await self._chats.language_of(_person_of(request), told)

    async def _refused(self, request: LocalRequest, status: int, words: Text) -> LocalResponse:
        return error_response(status, (await self._language(request)).words(words))

    @cached_property
    def _sentences(self) -> Collection[Sentence]:
        """The sentences of the page's scripts."""
        sources = (_file(name).decode() for name in ASSETS if name.endswith(".js"))
        return [one for source in sources for one in scripts.sentences_of(source)]

    async def chats(self, request: LocalRequest) -> LocalResponse:
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        try:
            listed = await self._chats.listed(person)
        except (StoreUnavailable, TenantUnknown):
            return await self._refused(request, 503, _UNREADABLE)
        chats = [{"id": one.id, "title": one.title, "at": one.at.isoformat()} for one in listed]
        return json_response({"chats": chats, "most": MAX_LISTED}, headers=NO_STORE)

    async def history(self, request: LocalRequest) -> LocalResponse:
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        chat = request.query.get("chat", "")
        if not is_chat(chat):
            return _NO_CHAT
        try:
            conversation = await self._chats.lines(person, chat)
        except (StoreUnavailable, TenantUnknown):
            return await self._refused(request, 503, _UNREADABLE)
        return json_response(
            {
                "me": person,
                "assistant": self._chats.assistant_name,
                "max_text": MAX_CONTENT,
                "max_files": MAX_FILES,
                "max_upload_bytes": self._chats.settings.max_upload_bytes,
                "voice_seconds": self._chats.voice_seconds,
                "version": conversation.version,
                "epoch": conversation.epoch,
                "lines": [message_as_json(line) for line in conversation.lines()],
            },
            headers=NO_STORE,
        )

    async def events(self, request: LocalRequest) -> LocalResponse | EventStream:
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        chat = request.query.get("chat", "")
        if not is_chat(chat):
            return _NO_CHAT
        after = request.headers.get("last-event-id") or request.query.get("after", "0")
        epoch = request.query.get("epoch", "")
        if not _is_version(after) or (epoch and not _is_version(epoch)):
            return error_response(400, "`after` and `epoch` are numbers of an earlier response")
        watch = ExitStack()
        try:
            conversation = watch.enter_context(self._chats.watching(person, chat))
        except NotNow as problem:
            return await self._refused(request, 503, problem.text)
        known = int(epoch) if epoch else conversation.epoch
        return EventStream(self._news(conversation, (person, chat), int(after), known), watch.close)

    async def _news(
        self, conversation: PageChat, of: tuple[str, str], seen: int, epoch: int
    ) -> AsyncIterator[ServerEvent | None]:
        """Lines as they change, until the adapter is disconnected. After "reset" the page has to
        load all lines, after "chats" the list."""
        typing, listed = False, conversation.list_version
        while self._chats.sink is not None:
            now, change = asyncio.get_running_loop().time(), conversation.next_change
            if epoch != (epoch := conversation.epoch):
                yield ServerEvent("{}", "reset")
            for line in conversation.since(seen):
                seen = line.version
                yield ServerEvent(json.dumps(message_as_json(line)), "line", str(seen))
            if typing != (typing := conversation.is_writing(now)):
                yield ServerEvent(json.dumps({"on": typing}), "typing")
            if listed != (listed := conversation.list_version):
                yield ServerEvent("{}", "chats")
            fades = typing and not conversation.awaited
            rest = conversation.typing_until - now if fades else LONGEST_WAIT
            settling = SETTLING_WAIT if conversation.unsettled_until > now else LONGEST_WAIT
            wait = min(settling, LONGEST_WAIT, max(0.05, rest))
            if not await conversation.changed(wait, change):
                await self._look_again(*of)
                yield None

    async def _look_again(self, person: str, chat: str) -> None:
        """Remove what was deleted elsewhere: on another platform, on the command line, by age."""
        with suppress(StoreUnavailable, TenantUnknown):
            await self._chats.lines(person, chat)

    async def action(self, request: LocalRequest) -> LocalResponse:
        if not _from_here(request):
            return await self._refused(request, 403, _OTHER_PAGE)
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        if request.content_type != "application/json":
            return error_response(415, "send application/json")
        try:
            payload = json.loads(await request.read(MAX_ACTION_BYTES))
        except (ValueError, RecursionError):
            return error_response(400, "the body is not JSON")
        except BadInput as problem:
            return error_response(413, str(problem))
        if not isinstance(payload, dict):
            return error_response(400, "the body must be a JSON object")
        chat = payload.pop("chat", "")
        if not isinstance(chat, str) or not is_chat(chat):
            return _NO_CHAT
        try:
            language = language_of(request.headers.get("accept-language", ""))
            await self._chats.act(person, payload, chat, language)
        except BadInput as problem:
            return await self._refused(request, 422, problem.text)
        except NotNow as problem:
            return await self._refused(request, 503, problem.text)
        except StoreUnavailable:
            return await self._refused(request, 503, _NOT_STORED)
        except ParleyError as problem:
            log.warning("page_action_failed", error=str(problem))
            return await self._refused(request, 503, _NOT_NOW)
        return json_response({"ok": True}, headers=NO_STORE)

    async def upload(self, request: LocalRequest) -> LocalResponse:
        if not _from_here(request):
            return await self._refused(request, 403, _OTHER_PAGE)
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        name = unquote(request.headers.get("x-file-name", ""))[:200].strip() or "file"
        mime = request.content_type if _MIME.fullmatch(request.content_type) else ""
        try:
            data = await request.read(self._chats.settings.max_upload_bytes)
            recorded = request.headers.get("x-recorded-seconds", "")
            seconds = float(recorded) if _SECONDS.fullmatch(recorded) else None
            stored = self._chats.files.add(person, name, mime, data, seconds)
        except BadInput as problem:
            return await self._refused(request, 413, problem.text)
        file = {"id": stored.id, "name": name, "mime": mime, "size": len(data)}
        return json_response(file, headers=NO_STORE)

    async def file(self, request: LocalRequest) -> LocalResponse:
        person = _person_of(request)
        if not person:
            return await self._refused(request, 401, _NO_SESSION)
        stored = self._chats.files.get(request.params["id"], person)
        if stored is None:
            return _NOT_FOUND
        inline = stored.mime in SAFE_INLINE
        disposition = "inline" if inline else "attachment"
        return LocalResponse(
            stored.data,
            content_type=stored.mime if inline else "application/octet-stream",
            headers={
                "Content-Disposition": f"{disposition}; filename*=UTF-8''{quote(stored.name)}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "private, max-age=3600",
            },
        )


def _is_version(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _person_of(request: LocalRequest) -> str:
    """Return the person of a request, empty without a well-formed token.

    The id is a hash: it stays the same after a restart and does not reveal the token.
    """
    token = request.cookies.get(COOKIE, "")
    if not _TOKEN.fullmatch(token):
        return ""
    return "web-" + hashlib.sha256(token.encode()).hexdigest()[:24]


def _new_cookie(request: LocalRequest) -> str:
    """Return the cookie that makes this browser a new person; scripts cannot read it."""
    secure = "; Secure" * request.encrypted
    value = f"{COOKIE}={secrets.token_urlsafe(32)}; Max-Age={COOKIE_SECONDS}; Path={BASE}"
    return f"{value}; HttpOnly; SameSite=Strict{secure}"


def _from_here(request: LocalRequest) -> bool:
    """Return False for a request from another site's page."""
    _, _, origin = request.headers.get("origin", "").partition("://")
    return bool(origin) and origin.lower() == request.headers.get("host", "").lower()


def _file(name: str) -> bytes:
    return resources.files("adapters.web").joinpath("assets", name).read_bytes()


def _asset(body: bytes, mime: str, headers: Mapping[str, str]) -> LocalResponse:
    defaults = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
    return LocalResponse(body, 200, f"{mime}; charset=utf-8", {**defaults, **headers})
