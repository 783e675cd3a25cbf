"""Live updates: which topics changed, as server-sent events without any content.

A page asks again for the parts that show a topic. It works the same without this connection.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.types import Receive, Scope, Send

from gateway.ports.http_routes import EventStream, ServerEvent
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.http.api.operations import Refused
from parley.http.starlette_routes import as_stream

EVERY: Final = 2.0
"""Seconds between two looks."""
LOOKS: Final = 450
"""Looks of one connection; the browser then connects again, with its session checked."""
CHECKED_EVERY: Final = 15
"""Looks between two checks of the session."""
MOST: Final = 64
MOST_EACH: Final = 6
"""Connections of all people, and of one person."""

Admit = Callable[[Scope], Awaitable[Viewer]]


@dataclass(frozen=True, slots=True)
class LiveEvents:
    """Serves the stream of a viewer: an event with the name of each topic that changed."""

    services: ConsoleServices
    admit: Admit
    _open: Counter[str] = field(default_factory=Counter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewer = await self.admit(scope)
        if self._open.total() >= MOST or self._open[viewer.person] >= MOST_EACH:
            raise Refused(
                429, "too_many", "Too many pages are open.", headers={"Retry-After": "60"}
            )
        self._open[viewer.person] += 1
        stream = EventStream(self._changes(scope, viewer), lambda: self._closed(viewer.person))
        await as_stream(stream)(scope, receive, send)

    def _closed(self, person: str) -> None:
        self._open[person] -= 1
        if self._open[person] <= 0:
            del self._open[person]

    async def _changes(self, scope: Scope, viewer: Viewer) -> AsyncIterator[ServerEvent | None]:
        clock = self.services.gateway.clock
        seen: Mapping[str, object] = {}
        for look in range(LOOKS):
            if look % CHECKED_EVERY == CHECKED_EVERY - 1:
                try:
                    viewer = await self.admit(scope)
                except Refused:
                    return
            now = topics_of(viewer, self.services)
            for topic in now:
                if seen and now[topic] != seen.get(topic):
                    yield ServerEvent("{}", topic)
            seen = now
            yield None
            await clock.sleep(EVERY)


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
