"""`GET /api/events`: the events of the person or the agent of the token, as a page of JSON or as a
stream of server-sent events."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from gateway.ports import Clock
from gateway.ports.http_routes import (
    EventStream,
    ServerEvent,
    json_response,
)
from gateway.ports.memory import Caller
from gateway.ports.rights import AGENT_READS
from memory.agents.model import AgentEvent
from memory.agents.stores.events import MAX_PAGE, AgentEvents
from memory.model.scope import RequestScope
from memory.service.handle import Memory
from parley.http.api.authentication import CALLER, Authenticator, authenticated
from parley.http.api.errors import CallRefused, UniformErrors
from parley.http.asgi import exchange_of
from parley.http.starlette_routes import (
    Served,
    as_http,
    as_port_request,
    as_stream,
    proven,
    routes_of,
)
from parley.security.tokens import TokenClaims

PATH: Final = "/api/events"
STREAM_TYPE: Final = "text/event-stream"
POLL_SECONDS: Final = 2.0
"""Seconds between two reads of one stream, if this process adds no events meanwhile."""
PAUSE_SECONDS: Final = 0.1
"""The shortest time between two reads of one stream."""
CHECK_SECONDS: Final = 60.0
"""Seconds until a stream of a revoked token, or of a person without access, ends."""
LONGEST_SECONDS: Final = 3_600.0
"""Seconds after which a stream ends; the client continues with `Last-Event-ID`."""
MAX_STREAMS: Final = 200
MAX_OF_PERSON: Final = 5
MAX_NUMBER: Final = 2**62
_NO_STORE: Final = {"Cache-Control": "no-store"}


@dataclass(slots=True)
class OpenStreams:
    """Counts the streams of this process by person."""

    by_person: Counter[str] = field(default_factory=Counter)

    def open(self, person: str) -> Callable[[], None]:
        """Count another stream; return the function that ends it. Raises `CallRefused` (429)."""
        if self.by_person[person] >= MAX_OF_PERSON or self.by_person.total() >= MAX_STREAMS:
            text = f"At most {MAX_OF_PERSON} streams of a person are open at once."
            raise CallRefused("too_many", text, headers={"Retry-After": "10"})
        self.by_person[person] += 1
        closed = False

        def close() -> None:
            nonlocal closed
            if not closed:
                closed = True
                self.by_person[person] -= 1

        return close


class Known(Struct, frozen=True):
    """Authenticates each request."""

    app: ASGIApp
    authenticator: Authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CALLER] = await authenticated(scope, self.authenticator)
        await self.app(scope, receive, send)


class EventRoutes:
    """Serves agent events. A stream ends when its token is no longer valid."""

    def __init__(
        self, authenticator: Authenticator, memory: Memory, events: AgentEvents, clock: Clock
    ) -> None:
        self._authenticator = authenticator
        self._memory = memory
        self._events = events
        self._clock = clock
        self._open = OpenStreams()

    def app(self) -> ASGIApp:
        """Return the application for the path `PATH`."""
        served = Served("GET", "/", self._serve, AGENT_READS)
        return UniformErrors(Known(Router(routes_of((served,), proven)), self._authenticator))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page of events, or with a stream where the client accepts one."""
        holder = exchange_of(scope).holder
        if holder is None:
            raise TypeError("the caller was not authenticated")
        request = as_port_request(scope, receive)
        reach = await self._reach(scope[CALLER])
        given = request.headers.get("last-event-id") or request.query.get("after", "")
        try:
            if STREAM_TYPE in request.headers.get("accept", ""):
                after = _number(given, "after") if given else await self._events.newest()
                close = self._open.open(str(holder.person))
                answer = as_stream(EventStream(self._stream(holder, reach, after), close))
            else:
                limit = _number(request.query.get("limit", "100"), "limit")
                page = await self._events.after(reach, _number(given or "0", "after"), limit)
                shown = [_as_json(event) for event in page.events]
                body = {"events": shown, "last": page.last, "more": page.more}
                answer = as_http(json_response(body, headers=_NO_STORE))
        except BadInput as error:
            raise CallRefused("bad_query", str(error), "query") from None
        await answer(scope, receive, send)

    async def _reach(self, caller: Caller) -> RequestScope:
        return (await self._memory.for_principal(caller)).request

    async def _stream(
        self, holder: TokenClaims, scope: RequestScope, after: int
    ) -> AsyncIterator[ServerEvent | None]:
        began = checked = self._clock.monotonic()
        while (now := self._clock.monotonic()) - began < LONGEST_SECONDS:
            added = self._events.added
            try:
                if now - checked >= CHECK_SECONDS:
                    caller, _ = await self._authenticator.caller_of(holder)
                    scope, checked = await self._reach(caller), now
                page = await self._events.after(scope, after, MAX_PAGE)
            except CallRefused:
                return
            except StoreUnavailable:
                yield None
                await self._clock.sleep(POLL_SECONDS)
                continue
            for event in page.events:
                yield ServerEvent(json.dumps(_as_json(event)), event.kind.value, str(event.number))
            after = page.last
            if not page.more:
                yield None
                pause = min(PAUSE_SECONDS, POLL_SECONDS / 2)
                await self._clock.sleep(pause)
                await self._events.wait(added, self._clock.sleep(POLL_SECONDS - pause))


def _as_json(event: AgentEvent) -> dict[str, object]:
    """Return an event without people."""
    return {
        "number": event.number,
        "type": event.kind.value,
        "at": event.at.isoformat(),
        "agent": event.agent,
        "pool": event.pool,
        "handoff": event.handoff,
        "memory": event.memory,
    }


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) <= MAX_NUMBER):
        raise CallRefused("bad_query", f"{name} is a whole number.", f"query.{name}")
    return int(text)
