"""The page and its JSON API, for the local listener (which checks host and origin).

GET  /                  the page          GET /demo/assets/{name}
GET  /demo/api/world    everything once   GET /demo/api/room      a room, as one person sees it
GET  /demo/api/events   a room (SSE)      GET /demo/api/file      a file below a message
POST /demo/api/act      one action, see `parley.demo.actions`
POST /demo/console      the console of this demo, signed in as an owner
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from functools import cached_property
from importlib import resources
from typing import Final
from urllib.parse import quote

from pydantic import ValidationError

from gateway.errors import BadInput
from gateway.languages import scripts
from gateway.languages.html_pages import page
from gateway.languages.installed import LanguagePolicy, Languages
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
from gateway.text import Language, Sentence, Text, text, verbatim
from parley.demo.actions import ACTIONS, MAX_REQUEST, perform
from parley.demo.player import Decisions
from parley.demo.story import story_place
from parley.demo.view import room_view, world_view
from parley.demo.world import DemoRefused, Where, World
from simulators.base import NotSupported, SimFile

ASSETS: Final[Mapping[str, tuple[str, str]]] = {
    "demo.css": ("parley.demo", "text/css"),
    "looks.css": ("parley.demo", "text/css"),
    "main.js": ("parley.demo", "text/javascript"),
    "messages.js": ("parley.demo", "text/javascript"),
    "composer.js": ("parley.demo", "text/javascript"),
    "why.js": ("parley.demo", "text/javascript"),
    "dom.js": ("parley.demo", "text/javascript"),
    "richtext.js": ("adapters.web", "text/javascript"),
    "icon.svg": ("adapters.web", "image/svg+xml"),
}
SAFE_INLINE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
TRACES: Final = 200
REFRESH_SECONDS: Final = 1.0
"""The time after which decisions that change nothing in the room appear beside it."""
MAX_STREAMS: Final = 32
TOO_MANY: Final = text("too many open pages; close one")
NOT_HERE: Final = text("this platform does not support this")


def parleys_own() -> Languages:
    """Return the languages of Parley, as an installation without a configuration has them."""
    return Languages(LanguagePolicy())


class DemoPages:
    """The handlers for one world and one program."""

    def __init__(
        self,
        world: World,
        decisions: Decisions,
        console: Callable[[], Awaitable[str]],
        *,
        assistant: str,
        model: Text,
        languages: Callable[[], Languages] = parleys_own,
    ) -> None:
        """`console` returns a link that signs one browser in."""
        self._languages = languages
        self._world = world
        self._decisions = decisions
        self._console = console
        self._assistant = assistant
        self._model = model
        self._streams = 0
        self._closing = False

    def routes(self) -> list[LocalRoute]:
        """The routes that the local listener serves."""
        return [
            LocalRoute("GET", "/", self._page, LOCAL_PAGES),
            LocalRoute("GET", "/demo/assets/{name}", self._asset, LOCAL_PAGES),
            LocalRoute("GET", "/demo/api/world", self._get_world, LOCAL_PAGES),
            LocalRoute("GET", "/demo/api/room", self._get_room, LOCAL_PAGES),
            LocalRoute("GET", "/demo/api/events", self._events, LOCAL_PAGES),
            LocalRoute("GET", "/demo/api/file", self._file, LOCAL_PAGES),
            LocalRoute("POST", "/demo/api/act", self._act, LOCAL_PAGES),
            LocalRoute("POST", "/demo/console", self._open_console, LOCAL_PAGES),
        ]

    def close(self) -> None:
        """Let the open streams end, within `REFRESH_SECONDS`."""
        self._closing = True

    async def _page(self, request: LocalRequest) -> LocalResponse:
        source, language = _file("demo.html").decode(), self._language(request)
        headers = {"Vary": "Accept-Language"}
        body = page(source, language, self._sentences).encode()
        return LocalResponse(body, 200, "text/html; charset=utf-8", headers)

    def _language(self, request: LocalRequest) -> Language:
        """Return the language of a request."""
        languages = self._languages()
        liked = languages.liked_by(request.headers.get("accept-language", ""))
        return languages.named(liked or languages.default)

    def _refused(self, request: LocalRequest, status: int, words: Text) -> LocalResponse:
        return error_response(status, self._language(request).words(words))

    @cached_property
    def _sentences(self) -> Collection[Sentence]:
        """The sentences of the page's scripts."""
        sources = (_file(name).decode() for name in ASSETS if name.endswith(".js"))
        return [one for source in sources for one in scripts.sentences_of(source)]

    async def _asset(self, request: LocalRequest) -> LocalResponse:
        name = request.params["name"]
        if name == "say.js":
            return LocalResponse(scripts.script(), 200, "text/javascript; charset=utf-8")
        if name not in ASSETS:
            return LocalResponse(b"not found", 404)
        return LocalResponse(_file(name), 200, f"{ASSETS[name][1]}; charset=utf-8")

    async def _get_world(self, request: LocalRequest) -> LocalResponse:
        start, model = story_place(self._world), self._language(request).shown(self._model)
        return json_response(world_view(self._world, self._assistant, model, start))

    async def _get_room(self, request: LocalRequest) -> LocalResponse:
        try:
            return json_response(await self._look(_where(request), self._language(request)))
        except DemoRefused as problem:
            return self._refused(request, 404, problem.text)

    async def _events(self, request: LocalRequest) -> LocalResponse | EventStream:
        where = _where(request)
        try:
            self._world.seen(where)
        except DemoRefused as problem:
            return self._refused(request, 404, problem.text)
        if self._streams >= MAX_STREAMS:
            return self._refused(request, 503, TOO_MANY)
        self._streams += 1
        return EventStream(self._news(where, self._language(request)), self._stream_ended)

    def _stream_ended(self) -> None:
        self._streams -= 1

    async def _news(self, where: Where, language: Language) -> AsyncIterator[ServerEvent | None]:
        sent = ""
        while not self._closing:
            seen = self._world.seen(where)
            news = json.dumps(await self._look(where, language))
            yield ServerEvent(news) if news != sent else None
            sent = news
            await self._world.changed(where, seen, REFRESH_SECONDS)

    async def _file(self, request: LocalRequest) -> LocalResponse:
        where = _where(request)
        try:
            file = self._find_file(
                where, request.query.get("message", ""), request.query.get("index", "0")
            )
        except DemoRefused as problem:
            return self._refused(request, 404, problem.text)
        inline = file.mime in SAFE_INLINE
        return LocalResponse(
            file.data,
            content_type=file.mime if inline else "application/octet-stream",
            headers={
                "Content-Disposition": f"{'inline' if inline else 'attachment'}; "
                f"filename*=UTF-8''{quote(file.name)}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            },
        )

    async def _act(self, request: LocalRequest) -> LocalResponse:
        if request.content_type != "application/json":
            return error_response(415, "send application/json")
        try:
            action = ACTIONS.validate_json(await request.read(MAX_REQUEST))
            return json_response(await perform(self._world, action))
        except BadInput as problem:
            return self._refused(request, 413, problem.text)
        except ValidationError as problem:
            return error_response(422, _first_problem(problem))
        except DemoRefused as problem:
            return self._refused(request, 404, problem.text)
        except NotSupported as problem:
            return self._refused(request, 409, verbatim(str(problem)) if str(problem) else NOT_HERE)

    async def _open_console(self, _request: LocalRequest) -> LocalResponse:
        return LocalResponse(status=303, headers={"Location": await self._console()})

    async def _look(self, where: Where, language: Language) -> dict[str, object]:
        return room_view(self._world, where, await self._decisions(TRACES), language)

    def _find_file(self, where: Where, message_id: str, index: str) -> SimFile:
        for seen in self._world.seen(where):
            if seen.shown.id == message_id and index in map(str, range(len(seen.shown.files))):
                return seen.shown.files[int(index)]
        raise DemoRefused(text("no such file"))


def _where(request: LocalRequest) -> Where:
    query = request.query
    return Where(query.get("platform", ""), query.get("room", ""), query.get("person", ""))


def _file(name: str) -> bytes:
    package = ASSETS[name][0] if name in ASSETS else "parley.demo"
    return resources.files(package).joinpath("assets", name).read_bytes()


def _first_problem(problem: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return f"{place}: {first['msg']}"
