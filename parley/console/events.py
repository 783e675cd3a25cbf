"""Live updates: which topics changed, as server-sent events without any content.

A page asks again for the parts that show a topic. It works the same without this connection. With
`?follow=` and the id of a turn, the conversation of that turn is a topic too.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from db.errors import StoreUnavailable
from gateway.people import Audience
from gateway.ports.conversation_views import StoredExchange
from gateway.ports.http_routes import EventStream, ServerEvent
from gateway.text import text
from parley.console.playgrounds import owner_of
from parley.console.reading import reader_of, turn_id_of
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversation import PAGE, granted_texts
from parley.http.api.errors import CallRefused
from parley.http.starlette_routes import as_stream

EVERY: Final = 2.0
"""Seconds between two looks."""
OFTEN: Final = 0.5
"""Seconds between two looks for the page of a playground."""
LOOKS: Final = 450
"""Looks of one connection; the browser then connects again, with its session checked."""
CHECKED_EVERY: Final = 15
"""Looks between two checks of the session."""
MOST: Final = 64
MOST_EACH: Final = 6
"""Connections of all people, and of one person."""

CONVERSATION: Final = "conversation"
PLAYGROUND: Final = "playground"
"""With `?follow=playground`, the playground of this session is a topic."""
MANY_PAGES: Final = text("Too many pages are open.")
NO_CONVERSATION: Final = text("There is no such conversation, or you may not see it.")
FOLLOWED: Final = frozenset({CONVERSATION, PLAYGROUND})

Admit = Callable[[Scope], Awaitable[Viewer]]
Followed: TypeAlias = StoredExchange | Literal["playground"] | None


class LiveEvents(Struct, frozen=True):
    """Serves the stream of a viewer: an event with the name of each topic that changed."""

    services: ConsoleServices
    admit: Admit
    _open: Counter[str] = field(default_factory=Counter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewer = await self.admit(scope)
        of = await followed(viewer, self.services, scope)
        if self._open.total() >= MOST or self._open[viewer.person] >= MOST_EACH:
            raise CallRefused("too_many", MANY_PAGES, headers={"Retry-After": "60"})
        self._open[viewer.person] += 1
        plays = of == PLAYGROUND
        left = self.services.playgrounds.watch(owner_of(viewer)) if plays else lambda: None

        def closed() -> None:
            left()
            self._closed(viewer.person)

        stream = EventStream(self._changes(scope, viewer, of), closed)
        await as_stream(stream)(scope, receive, send)

    def _closed(self, person: str) -> None:
        self._open[person] -= 1
        if self._open[person] <= 0:
            del self._open[person]

    async def _changes(
        self, scope: Scope, viewer: Viewer, of: Followed
    ) -> AsyncIterator[ServerEvent | None]:
        clock = self.services.gateway.clock
        seen: Mapping[str, object] = {}
        for look in range(LOOKS):
            try:
                if look % CHECKED_EVERY == CHECKED_EVERY - 1:
                    viewer = await self.admit(scope)
                    of = await followed(viewer, self.services, scope)
                now = dict(topics_of(viewer, self.services))
                if of == PLAYGROUND:
                    now[PLAYGROUND] = self.services.playgrounds.version(owner_of(viewer))
                elif isinstance(of, StoredExchange):
                    now[CONVERSATION] = await state_of(viewer, self.services, of)
            except (CallRefused, StoreUnavailable):
                return
            for topic, value in now.items():
                # What is followed may have changed after the page was made, before this look.
                news = value != seen.get(topic) if seen else topic in FOLLOWED
                if news:
                    yield ServerEvent("{}", topic)
            seen = now
            yield None
            await clock.sleep(OFTEN if of == PLAYGROUND else EVERY)


async def followed(viewer: Viewer, services: ConsoleServices, scope: Scope) -> Followed:
    """Return a message of the conversation that the request follows, or the name of the
    playground; None without one. Raises `CallRefused` (404) for what this viewer may not see."""
    turn = QueryParams(scope["query_string"]).get("follow", "")
    if not turn:
        return None
    if turn == PLAYGROUND and viewer.is_operator:
        return PLAYGROUND
    views = services.storage.conversation_views
    known = turn_id_of(turn)
    of = await views.one(reader_of(viewer), known) if known else None
    if of is None:
        raise CallRefused("not_found", NO_CONVERSATION)
    return of


async def state_of(viewer: Viewer, services: ConsoleServices, of: StoredExchange) -> object:
    """Return a value that changes with the latest messages of a conversation that the viewer may
    see, with the texts of these that they may read, and with who answers there."""
    views, name = services.storage.conversation_views, of.trace.conversation
    latest = await views.latest(reader_of(viewer), of, PAGE)
    texts, _ = await granted_texts(viewer, services, name, [message for _, message in latest])
    shown = hash(tuple((one.message_id, one.role, one.text) for one in texts))
    everything = viewer.is_operator or of.trace.audience == Audience.DIRECT
    works = everything and services.health.works_on(name)
    taken = await services.storage.takeovers.of(name) if everything else None
    handed = None if taken is None else (taken.id, taken.active, taken.shared)
    return [turn for turn, _ in latest], shown, works, handed


def topics_of(viewer: Viewer, services: ConsoleServices) -> Mapping[str, object]:
    """Return a value for each topic, which changes when what pages show of it changes."""
    if not viewer.is_operator:
        return {}
    recent = services.activity.recent
    readiness = services.health.readiness()
    return {
        "messages": recent[-1].id if recent else "",
        "health": (tuple(readiness.parts.items()), tuple(readiness.problems.items())),
        "sends": services.gateway.deliverer.waiting,
    }
