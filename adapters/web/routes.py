"""The page's HTTP side, for the program to mount on its local listener.

GET  /chat/                  the page            GET  /chat/assets/{name}
GET  /chat/api/history       all lines           GET  /chat/api/events    the stream (SSE)
POST /chat/api/actions       one action          POST /chat/api/files     one file's bytes
GET  /chat/api/files/{id}    a file
"""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from aiohttp import web

from adapters.web.conversation import Conversation, PageMessage
from adapters.web.session import BASE, from_this_page, give_token, person_of
from db.errors import StoreUnavailable
from gateway.errors import BadInput, ParleyError, Transient

if TYPE_CHECKING:
    from adapters.web.connection import WebAdapter

ASSETS: Final[Mapping[str, str]] = {
    "chat.css": "text/css",
    "chat.js": "text/javascript",
    "richtext.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
SAFE_INLINE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_ACTION_BYTES: Final = 200_000
"""40,000 characters of up to 4 bytes, and the JSON around them."""

PING_SECONDS: Final = 15.0
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
STREAM_HEADERS: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
_MIME: Final = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}")


def build_routes(adapter: "WebAdapter") -> list[web.RouteDef]:
    """The routes of one adapter; several accounts of the page are not offered."""
    pages = _Pages(adapter)
    return [
        web.get(BASE, pages.redirect),
        web.get(BASE + "/", pages.page),
        web.get(BASE + "/assets/{name}", pages.asset),
        web.get(BASE + "/api/history", pages.history),
        web.get(BASE + "/api/events", pages.events),
        web.post(BASE + "/api/actions", pages.action),
        web.post(BASE + "/api/files", pages.upload),
        web.get(BASE + "/api/files/{id}", pages.file),
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
    }


class _Pages:
    def __init__(self, adapter: "WebAdapter") -> None:
        self._adapter = adapter

    async def redirect(self, _request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(BASE + "/")

    async def page(self, request: web.Request) -> web.StreamResponse:
        response = _asset_response("chat.html", "text/html")
        response.headers["Content-Security-Policy"] = PAGE_POLICY
        give_token(request, response)
        return response

    async def asset(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in ASSETS:
            raise web.HTTPNotFound
        return _asset_response(name, ASSETS[name])

    async def history(self, request: web.Request) -> web.StreamResponse:
        person = _person(request)
        conversation = self._adapter.conversations.of(person)
        return _json(
            {
                "me": person,
                "assistant": self._adapter.assistant_name,
                "max_upload_bytes": self._adapter.settings.max_upload_bytes,
                "version": conversation.version,
                "lines": [message_as_json(line) for line in conversation.lines()],
            }
        )

    async def events(self, request: web.Request) -> web.StreamResponse:
        person = _person(request)
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 18:
            return _error(400, "`after` is the version of the last line seen, a whole number")
        try:
            with self._adapter.watching(person) as conversation:
                response = web.StreamResponse(headers=STREAM_HEADERS)
                await response.prepare(request)
                with suppress(ConnectionError):  # the page was closed
                    await self._stream(response, conversation, int(after))
        except Transient as problem:
            return _error(503, str(problem))
        return response

    async def _stream(
        self, response: web.StreamResponse, conversation: Conversation, seen: int
    ) -> None:
        """Send lines as they change, until the page goes or the adapter is disconnected."""
        typing = False
        while self._adapter.connected:
            now = asyncio.get_running_loop().time()
            for line in conversation.since(seen):
                await _send(response, "line", message_as_json(line), line.version)
                seen = line.version
            if typing != (typing := conversation.typing_until > now):
                await _send(response, "typing", {"on": typing})
            rest = conversation.typing_until - now if typing else PING_SECONDS
            changed = await conversation.changed(min(PING_SECONDS, max(0.05, rest)))
            if not changed and not typing:
                await response.write(b": still here\n\n")

    async def action(self, request: web.Request) -> web.StreamResponse:
        person = _acting(request)
        if request.content_type != "application/json":
            return _error(415, "send application/json")
        try:
            payload = json.loads(await _body(request, MAX_ACTION_BYTES))
        except (ValueError, RecursionError):
            return _error(400, "the body is not JSON")
        except BadInput as problem:
            return _error(413, str(problem))
        if not isinstance(payload, dict):
            return _error(400, "the body is to be a JSON object")
        try:
            await self._adapter.act(person, payload)
        except BadInput as problem:
            return _error(422, str(problem))
        except StoreUnavailable:
            return _error(503, "the message could not be stored; try again")
        except ParleyError as problem:
            return _error(503, str(problem))
        return _json({"ok": True})

    async def upload(self, request: web.Request) -> web.StreamResponse:
        person = _acting(request)
        name = unquote(request.headers.get("X-File-Name", ""))[:200].strip() or "file"
        mime = request.content_type if _MIME.fullmatch(request.content_type) else ""
        try:
            data = await _body(request, self._adapter.settings.max_upload_bytes)
            stored = self._adapter.files.add(person, name, mime, data)
        except BadInput as problem:
            return _error(413, str(problem))
        return _json({"id": stored.id, "name": name, "mime": mime, "size": len(data)})

    async def file(self, request: web.Request) -> web.StreamResponse:
        person = _person(request)
        stored = self._adapter.files.get(request.match_info["id"], person)
        if stored is None:
            raise web.HTTPNotFound
        inline = stored.mime in SAFE_INLINE
        disposition = "inline" if inline else "attachment"
        return web.Response(
            body=stored.data,
            headers={
                "Content-Type": stored.mime if inline else "application/octet-stream",
                "Content-Disposition": f"{disposition}; filename*=UTF-8''{quote(stored.name)}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "private, max-age=3600",
            },
        )


async def _body(request: web.Request, limit: int) -> bytes:
    """The body, read no further than `limit` bytes. Raises `BadInput` when there is more."""
    data = bytearray()
    async for chunk in request.content.iter_chunked(65_536):
        data += chunk
        if len(data) > limit:
            raise BadInput(f"too large: at most {limit:,} bytes")
    return bytes(data)


def _person(request: web.Request) -> str:
    person = person_of(request)
    if not person:
        raise web.HTTPUnauthorized(text="no session: open the page first")
    return person


def _acting(request: web.Request) -> str:
    """The person, for a request that changes something. Refuses what another site sent."""
    if not from_this_page(request):
        raise web.HTTPForbidden(text="the request came from another page")
    return _person(request)


def _asset_response(name: str, mime: str) -> web.Response:
    text = resources.files("adapters.web").joinpath("assets", name).read_text("utf-8")
    response = web.Response(text=text, content_type=mime, charset="utf-8")
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-cache"
    return response


async def _send(
    response: web.StreamResponse, event: str, data: dict[str, object], version: int | None = None
) -> None:
    head = f"event: {event}\n" + (f"id: {version}\n" if version is not None else "")
    await response.write(f"{head}data: {json.dumps(data)}\n\n".encode())


def _json(data: dict[str, object]) -> web.Response:
    return web.json_response(data, headers={"Cache-Control": "no-store"})


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)
