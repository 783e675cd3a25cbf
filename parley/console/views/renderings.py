"""The rendering of one answer on each installed platform."""

import asyncio
import json
from typing import Final

from pydantic import Field

from gateway.message import Part
from gateway.people import Role
from gateway.platforms import installed
from gateway.ports.action import Output
from gateway.ports.rights import to_read
from gateway.render import render
from parley.console.reading import Excerpt, PlaceOut, excerpts, place_out
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversation import (
    MessageParams,
    Words,
    exchange_of,
    readable_texts,
    words_of,
)
from parley.console.views.conversations import PATH

MAX_RENDERED: Final = 10_000
"""Characters of an answer that are rendered."""
MAX_PLATFORMS: Final = 20
MAX_PARTS: Final = 20
"""Messages of one platform that are shown."""
MOST: Final = 60_000
"""Bytes of all renderings in a page."""


class PartOut(Output):
    """A message as the platform receives it. For a platform with blocks `body` is JSON, and `text`
    the same without markup; otherwise `text` is absent."""

    body: Excerpt
    text: Excerpt | None = None


class RenderingOut(Output):
    """An answer on one platform. `here`: the answer went there. `more` messages are not shown."""

    platform: str
    title: str
    here: bool
    parts: tuple[PartOut, ...] = Field(max_length=MAX_PARTS)
    more: int = 0


class RenderingsOut(Output):
    """An answer on each platform; none if its text is not stored or not visible, which `words`
    says. `cut`: the answer is longer than what is rendered here."""

    id: str
    place: PlaceOut
    words: Words
    cut: bool = False
    renderings: tuple[RenderingOut, ...] = Field(default=(), max_length=MAX_PLATFORMS)


async def renderings(
    viewer: Viewer, services: ConsoleServices, params: MessageParams
) -> RenderingsOut:
    """Return the renderings of an answer. Raises `NotFound`."""
    of = await exchange_of(viewer, services, params.id)
    texts = await readable_texts(viewer, services, (of,))
    found = texts.get(of.trace.message_id, ())
    answer = next((one.text for one in found if one.role == "assistant"), "")
    shown = RenderingsOut(
        id=of.trace.id,
        place=place_out(of.trace.conversation, of.trace.audience),
        words="shown" if answer else words_of(viewer, of, ()),
        cut=len(answer) > MAX_RENDERED,
    )
    if not answer:
        return shown
    made = await asyncio.to_thread(rendered, answer[:MAX_RENDERED], of.trace.platform)
    return shown.model_copy(update={"renderings": made})


def rendered(answer: str, here: str) -> tuple[RenderingOut, ...]:
    """Return the renderings, that of the answer's own platform first. Runs in a thread."""
    manifests = installed()
    names = sorted(manifests, key=lambda name: (name != here, name))[:MAX_PLATFORMS]
    parts = {name: render(answer, name) for name in names}
    shown = {name: parts[name][:MAX_PARTS] for name in names}
    texts = [text for name in names for part in shown[name] for text in _texts(part)]
    cut = iter(excerpts(texts, MOST))
    return tuple(
        RenderingOut(
            platform=name,
            title=manifests[name].title,
            here=name == here,
            parts=tuple(
                PartOut(body=next(cut), text=None if isinstance(part.payload, str) else next(cut))
                for part in shown[name]
            ),
            more=len(parts[name]) - len(shown[name]),
        )
        for name in names
    )


def _texts(part: Part) -> tuple[str, ...]:
    if isinstance(part.payload, str):
        return (part.payload,)
    return json.dumps(part.payload, indent=1, ensure_ascii=False), part.text


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="rendering",
        method="GET",
        path=f"{PATH}/{{id}}/rendering",
        allowed=to_read(Role.GUEST),
        summary="An answer as each platform shows it",
        run=renderings,
        template="rendering.html",
    ),
)
