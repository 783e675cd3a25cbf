"""The resources of the MCP servers: the brief, documents, memories, events and handoffs of the
caller; and the stream that announces new events (`subscriptions/listen` of revision 2026-07-28).

The stream tells its client that the resource `memory://events` changed; the client reads it. Events
of this process arrive at once. Those of other processes are polled from the database.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import mcp_types
import structlog
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import BadInput, MemoryUnavailable, NotFound
from gateway.ports.rights import AGENT_READS, TOKENS, Allowed
from gateway.text import text, verbatim
from memory.actions import documents as on
from memory.agents.defences import filter_output
from memory.agents.model import AgentEvent
from memory.mcp.handoff_tools import handoff_out
from memory.mcp.memory_tools import author_of, known_memory, remembering
from memory.mcp.names import KNOWLEDGE, SESSION, ServerName
from memory.mcp.tool_definition import McpCall
from memory.ports.documents import Document
from memory.turns.brief import brief_of
from memory.turns.tools import found_answer
from safety.secret_detection.detect import redact_secrets

MAX_URI: Final = 200
BRIEF: Final = "memory://brief"
EVENTS: Final = "memory://events"
RECENT: Final = 500
"""The resource without a number covers the last 500 event numbers."""
MAX_EVENTS: Final = 100
DOCUMENTS: Final = "memory://documents/"
MEMORIES: Final = "memory://memories/"
HANDOFFS: Final = "memory://handoffs/"
NO_HANDOFF: Final = text(
    "No handoff with this id is from you or to you, or from or to an agent of yours."
)
MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
NAMES: Final[dict[str, Document]] = {"soul": "soul", "bible": "bible", "heartbeat": "heartbeat"}


class ListedResource(Struct, frozen=True):
    """A resource in the list, or a template, whose address has a part in braces; and who may read
    it."""

    uri: str
    """The address by which a client reads it."""
    name: str
    """The name in lists of programs."""
    title: str
    """The name that people read."""
    description: str
    """The sentence by which a model decides to read it."""
    allowed: Allowed
    """The callers that may read it."""
    mime: str = MARKDOWN
    """The media type of its text."""
    server: ServerName = KNOWLEDGE
    """The server that has it."""

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self.uri}: a resource declares who may read it")

    def has(self, uri: str) -> bool:
        """Return True for the address of this resource, or of one of this template."""
        fixed, brace, _ = self.uri.partition("{")
        return uri.startswith(fixed) if brace else uri == self.uri


READS_MEMORY: Final = on.read.on(*TOKENS)

LISTED: Final = (
    ListedResource(
        EVENTS,
        "events",
        "Events",
        "The latest events of your agents, pools and handoffs.",
        AGENT_READS,
        JSON,
        SESSION,
    ),
    ListedResource(BRIEF, "brief", "Memory brief", "What is known about the person.", READS_MEMORY),
    ListedResource(f"{DOCUMENTS}soul", "soul", "SOUL", "The person's own document.", READS_MEMORY),
    ListedResource(
        f"{DOCUMENTS}bible", "bible", "BIBLE", "The document of the chosen project.", READS_MEMORY
    ),
    ListedResource(
        f"{DOCUMENTS}heartbeat",
        "heartbeat",
        "HEARTBEAT",
        "The status of the chosen project.",
        READS_MEMORY,
    ),
)
TEMPLATES: Final = (
    ListedResource(
        f"{DOCUMENTS}{{name}}", "documents", "Documents", "soul, bible or heartbeat.", READS_MEMORY
    ),
    ListedResource(
        f"{EVENTS}/{{after}}",
        "events_after",
        "Events",
        "The events after a number.",
        AGENT_READS,
        JSON,
        SESSION,
    ),
    ListedResource(
        f"{HANDOFFS}{{id}}",
        "handoffs",
        "Handoffs",
        "A handoff from or to you or an agent of yours: its state, its result, or the reason of "
        "its rejection.",
        AGENT_READS,
        JSON,
        SESSION,
    ),
    ListedResource(
        f"{MEMORIES}{{id}}", "memories", "Memories", "One memory by its id.", READS_MEMORY, JSON
    ),
)


_NONE: Final = (
    "There is no such resource. The resources are "
    f"{', '.join(one.uri for one in (*LISTED[:2], *TEMPLATES))}."
)


class ResourceContent(Struct, frozen=True):
    """The content of a resource."""

    text: str
    """The text."""
    mime: Literal["text/markdown", "application/json"] = MARKDOWN
    """The media type of the text."""


async def read_resource(call: McpCall, uri: str) -> ResourceContent:
    """Return a resource of this caller. Raises `NotFound`, and `BadInput` for a document that is
    not available here."""
    if uri == BRIEF:
        brief = await brief_of(remembering(call).handle, call.services.brief)
        return ResourceContent(brief.text(with_provenance=True))
    if uri.startswith(DOCUMENTS) and uri.removeprefix(DOCUMENTS) in NAMES:
        return await _document(call, NAMES[uri.removeprefix(DOCUMENTS)])
    if uri == EVENTS or uri.startswith(f"{EVENTS}/"):
        return await _events(call, uri.removeprefix(EVENTS).removeprefix("/"))
    if uri.startswith(HANDOFFS) and len(uri) <= MAX_URI:
        return await _handoff(call, uri.removeprefix(HANDOFFS))
    if uri.startswith(MEMORIES) and len(uri) <= MAX_URI:
        return await _memory(call, uri.removeprefix(MEMORIES))
    raise NotFound(verbatim(_NONE))


def resource_of(uri: str) -> ListedResource:
    """Return the declaration of an address. Raises `NotFound`."""
    for one in (*LISTED, *TEMPLATES):
        if one.has(uri):
            return one
    raise NotFound(verbatim(_NONE))


async def _document(call: McpCall, document: Document) -> ResourceContent:
    try:
        version = await remembering(call).handle.documents.read(document)
    except MemoryUnavailable:
        raise
    except BadInput as error:
        raise NotFound(error.text) from None
    if version is None:
        raise NotFound(verbatim(f"The {document.upper()} is empty: nobody has written it yet."))
    return ResourceContent(redact_secrets(version.content).text)


async def _events(call: McpCall, after: str) -> ResourceContent:
    """Return the events after a number, or the latest ones."""
    if after and not (after.isascii() and after.isdigit() and len(after) < 16):
        raise NotFound(verbatim(f"Write a number after {EVENTS}/, or nothing."))
    events = call.services.events
    number = int(after) if after else max(0, await events.newest() - RECENT)
    page = await events.after(call.handle.request, number, MAX_EVENTS)
    shown = [event_out(event) for event in page.events]
    return ResourceContent(
        json.dumps({"events": shown, "next": page.last, "more": page.more}), JSON
    )


def event_out(event: AgentEvent) -> dict[str, object]:
    """Return an event: its number, kind and time, and the ids that apply."""
    ids = {
        "agent": event.agent,
        "pool": event.pool,
        "handoff": event.handoff,
        "memory": event.memory,
    }
    named = {name: value for name, value in ids.items() if value}
    at = event.at.isoformat(timespec="seconds")
    return {"number": event.number, "kind": event.kind.value, "at": at, **named}


async def _handoff(call: McpCall, handoff_id: str) -> ResourceContent:
    """Return a handoff as the tools of handoffs return it."""
    handoff = await call.services.handoffs.get_handoff(call.handle.request, handoff_id)
    if handoff is None:
        raise NotFound(NO_HANDOFF)
    return ResourceContent(handoff_out(handoff).model_dump_json(exclude_none=True, indent=2), JSON)


async def _memory(call: McpCall, memory_id: str) -> ResourceContent:
    record = await known_memory(call, memory_id)
    (record,) = filter_output((record,)).records
    marks = await call.handle.contradictions.marks()
    fields = found_answer(record, 0.0, marks.get(record.id, ()))
    del fields["relevance_score"]
    fields["scope"] = record.scope.value
    fields["author"] = author_of(call, record)
    if record.evidence.fields and fields["author"] == "person":
        fields["evidence"] = dict(record.evidence.fields)
    fields["superseded_by"] = record.superseded_by or None
    return ResourceContent(json.dumps(fields, ensure_ascii=False, indent=2), JSON)


MAX_STREAMS: Final = 256
MAX_STREAMS_PER_PERSON: Final = 8
STREAM_SECONDS: Final = 3_600.0
"""The longest stream; the client opens the next one."""
PAUSE_SECONDS: Final = 0.1
"""The shortest time between two reads of one stream."""
CHECK_SECONDS: Final = 10.0
"""Seconds between two checks of the token."""
PAGE: Final = 100
FULL: Final = "There are too many open streams. Close one, or try again later."

log = structlog.get_logger(__name__)


class EventStreams:
    """The open streams of one server, each for one caller."""

    def __init__(
        self,
        open_call: Callable[[ServerRequestContext[Any, Any]], Awaitable[McpCall]],
        still_allowed: Callable[[ServerRequestContext[Any, Any]], Awaitable[bool]],
        poll_seconds: float,
    ) -> None:
        """`still_allowed` checks the token of an open stream again."""
        self._open_call = open_call
        self._still_allowed = still_allowed
        self._poll_seconds = poll_seconds
        self._open: Counter[str] = Counter()

    async def listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: mcp_types.SubscriptionsListenRequestParams,
    ) -> mcp_types.SubscriptionsListenResult:
        """Serve one stream until its client closes it, the token ends, or an hour has passed."""
        call = await self._open_call(ctx)
        person = call.person
        if self._open.total() >= MAX_STREAMS or self._open[person] >= MAX_STREAMS_PER_PERSON:
            raise MCPError(mcp_types.INTERNAL_ERROR, FULL)
        self._open[person] += 1
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus, max_subscriptions=1)
        watcher = asyncio.create_task(self._watch(ctx, call, bus, handler.close))
        try:
            return await handler(ctx, params)
        finally:
            # Without awaiting: a stream that its client closes is cancelled at every await.
            watcher.cancel()
            self._open[person] -= 1
            self._open += Counter()  # without people whose last stream ended

    async def _watch(
        self,
        ctx: ServerRequestContext[Any, Any],
        call: McpCall,
        bus: InMemorySubscriptionBus,
        close: Callable[[], None],
    ) -> None:
        """Publish a change for new events of this caller, and end the stream in time."""
        events, time = call.services.events, asyncio.get_running_loop().time
        until, checked = time() + STREAM_SECONDS, time()
        added, number = events.added, await events.newest()
        pause = min(PAUSE_SECONDS, self._poll_seconds / 2)
        try:
            while time() < until:
                await asyncio.sleep(pause)
                await events.wait(added, asyncio.sleep(self._poll_seconds - pause))
                added = events.added
                try:
                    if time() - checked >= min(CHECK_SECONDS, 5 * self._poll_seconds):
                        if not await self._still_allowed(ctx):
                            return
                        checked = time()
                    if await events.newest() == number:
                        continue
                    page = await events.after(call.handle.request, number, PAGE)
                except StoreUnavailable as error:
                    log.warning("mcp_without_store", stream=True, error=str(error))
                    continue
                number = page.last
                if page.events:
                    await bus.publish(ResourceUpdated(EVENTS))
        finally:
            close()
