"""The model's tools that store, search and delete memories in one turn.

`quote` leads to the person's own sentence, which is stored instead of the model's wording. The
specifications are sent with every question, so they are short: an error explains an exceeded limit
or an unknown argument.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Struct
from pydantic import Field, StringConstraints

from gateway.errors import BadInput, MemoryUnavailable, ToolError
from gateway.immutable import replace
from gateway.ports import ToolSpec
from memory.model.outcome import Outcome
from memory.model.record import MAX_ARGUMENT, MAX_TAG, MAX_TAGS, Draft, Kind, Record, Scope
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.handle import MemoryHandle
from memory.turns.arguments import Arguments, ShownIds, read_arguments
from memory.turns.brief import BackendBrief, Brief
from memory.turns.document_tool import (
    MAX_ID,
    NOT_SHOWN,
    UPDATE,
    DocumentTool,
    as_json,
    replaced_id,
    stored_answer,
)
from memory.turns.pages import NO_PAGE, fitting, size_of
from memory.write.statement import ExternalText, shown_before

MAX_QUERY: Final = 500
MAX_RESULTS: Final = 100

STORE: Final = ToolSpec(
    "memory_store",
    "Store a memory",
    {
        "type": "object",
        "required": ["type", "content"],
        "properties": {
            "type": {"type": "string", "enum": [kind.value for kind in Kind]},
            "content": {"type": "string"},
            "quote": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "supersedes": {"type": "string"},
            "scope": {"type": "string", "enum": [scope.value for scope in Scope]},
        },
    },
    side_effects=False,
)
SEARCH: Final = ToolSpec(
    "memory_search",
    "Search; empty: the latest",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "type": {"type": "string"},
            "include_superseded": {"type": "boolean"},
            "limit": {"type": "integer"},
        },
    },
    side_effects=False,
)
BRIEF: Final = ToolSpec(
    "memory_brief",
    "Get the brief",
    {
        "type": "object",
        "properties": {"include_provenance": {"type": "boolean"}},
    },
    side_effects=False,
)
DELETE: Final = ToolSpec(
    "memory_delete",
    "Delete one if asked",
    {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}},
    },
    side_effects=False,
)
TOOLS: Final = (STORE, SEARCH, BRIEF, DELETE)
"""They change nothing but this person's own memory, so every role and audience may use them."""


TOLD_ALONE: Final = "it is not stored; the person is told why alone, so say no more about it here"
ONLY_THE_PERSON: Final = (
    "Nothing was deleted: this turn contains text that the person did not write. The person can "
    "delete it with `/forget` and the topic."
)


_Tag = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TAG)]
_Tags = Annotated[list[_Tag], Field(max_length=MAX_TAGS)]
MemoryId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_ID),
    Field(description="The id of a memory, as memory_search returns it."),
]
_KindName = Literal["preference", "fact", "instruction", "context", "correction", "decision"]


class StoreArguments(Arguments):
    """The arguments of `memory_store`."""

    type: Annotated[_KindName, Field(description="The kind of the memory.")]
    content: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_ARGUMENT),
        Field(description="The memory, as one statement that is clear without its context."),
    ]
    quote: Annotated[
        str,
        StringConstraints(max_length=MAX_ARGUMENT),
        Field(description="The sentence of the person that states it, word for word."),
    ] = ""
    tags: Annotated[_Tags, Field(description="Words to find it by.")] = Field(default_factory=list)
    supersedes: Annotated[
        MemoryId | None, Field(description="The id of the memory that it replaces.")
    ] = None
    scope: Annotated[
        Literal["user", "project", "global"],
        Field(description="The readers: the person, the project, or everybody."),
    ] = "user"


class SearchArguments(Arguments):
    """The arguments of `memory_search`."""

    query: Annotated[
        str,
        StringConstraints(max_length=MAX_QUERY),
        Field(description="A question or words; without it the latest memories."),
    ] = ""
    tags: Annotated[_Tags, Field(description="Tags that a result has, all of them.")] = Field(
        default_factory=list
    )
    type: Annotated[_KindName | None, Field(description="The kind of the results.")] = None
    include_superseded: Annotated[
        bool, Field(description="Return memories that were replaced as well.")
    ] = False
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="The most results.")] = 20
    cursor: Annotated[
        MemoryId | None, Field(description="`next_cursor` of the answer before, for what follows.")
    ] = None


class FoundPage(Struct, frozen=True):
    """The memories of one answer with their scores, best first. `next_cursor` leads to the next
    ones; it is empty at the end."""

    matches: tuple[tuple[Record, float], ...]
    next_cursor: str


class BriefArguments(Arguments):
    """The arguments of `memory_brief`."""

    include_provenance: Annotated[
        bool, Field(description="Add the id, source and trust of each memory.")
    ] = False


class DeleteArguments(Arguments):
    """The arguments of `memory_delete`."""

    id: MemoryId


class MemoryTools:
    """Implements `gateway.ports.ToolProvider` over a handle. `results` are the writes so far."""

    def __init__(
        self,
        handle: MemoryHandle,
        brief: Callable[[], Awaitable[Brief | BackendBrief]],
        external: ExternalText,
        shown: ShownIds,
        documents: DocumentTool,
        *,
        agent_private: bool = False,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        """`external` is the text that the model reads in this turn and the person did not write,
        `shown` are the memories that it reads. `agent_private`: the asking agent keeps for itself
        what it stores. `evidence`: further fields of the evidence of what is stored."""
        self._handle = handle
        self._shown = shown
        self._external = external
        self._brief_of = brief
        self._documents = documents
        self._agent_private = agent_private
        self._evidence = evidence or {}
        self.results = documents.results

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the specifications of all tools."""
        return (*TOOLS, UPDATE)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """The answer as JSON. Raises `ToolError` for arguments that cannot be used, and if a memory
        backend fails."""
        try:
            return await self._called(name, arguments)
        except MemoryUnavailable as error:
            raise ToolError(str(error)) from error

    async def _called(self, name: str, arguments: Mapping[str, object]) -> str:
        match name:
            case UPDATE.name:
                return await self._documents.call(name, arguments)
            case "memory_store":
                return await self._store(read_arguments(StoreArguments, arguments))
            case "memory_search":
                return await self._search(read_arguments(SearchArguments, arguments))
            case "memory_brief":
                return await self._brief(read_arguments(BriefArguments, arguments))
            case "memory_delete":
                return await self._delete(read_arguments(DeleteArguments, arguments))
        raise ToolError(f"there is no tool {name!r}")

    async def close(self) -> None:
        """Do nothing."""

    async def _store(self, args: StoreArguments) -> str:
        old = replaced_id(args.supersedes, self._shown)
        if old is None:
            return as_json({"success": False, "error": NOT_SHOWN})
        draft = Draft(
            args.content,
            Kind(args.type),
            tuple(args.tags),
            Scope(args.scope),
            old,
            args.quote,
            agent_private=self._agent_private,
            evidence=self._evidence,
        )
        result = await self._handle.write.infer(draft, self._external)
        self.results.append(result)
        self._shown.add((result.memory_id,) if result.memory_id else ())
        answer = stored_answer(result)
        if result.outcome is Outcome.STORED and result.content != args.content:
            answer["content"] = result.content
        if result.code == "secret" and self._handle.access.room:
            answer["error"] = TOLD_ALONE
        return as_json(answer)

    async def _search(self, args: SearchArguments) -> str:
        found = await self.find(args)
        marks = await self._handle.contradictions.marks() if found.matches else {}
        results = [
            found_answer(record, score, marks.get(record.id, ())) for record, score in found.matches
        ]
        following = {"next_cursor": found.next_cursor} if found.next_cursor else {}
        return as_json({"results": results} | following)

    async def find(self, args: SearchArguments) -> FoundPage:
        """Return the memories of a search that fit into an answer, and note that the model reads
        them. Raises `ToolError` for a cursor that leads to no page."""
        matches, more = await self._matches(args)
        count = fitting(size_of(found_answer(record, score)) for record, score in matches)
        more, matches = more or count < len(matches), matches[:count]
        self._shown.add(record.id for record, _ in matches)
        for record, _ in matches:
            for piece in shown_before(record, self._handle.access.persons):
                self._external.add(piece)
        return FoundPage(tuple(matches), matches[-1][0].id if matches and more else "")

    async def _matches(self, args: SearchArguments) -> tuple[list[tuple[Record, float]], bool]:
        """Return all matches after the cursor, best first, and True if there may be more."""
        now, read = self._handle.request.at, self._handle.read
        after = "" if args.cursor is None else self._shown.named(args.cursor)
        if after is None or (after and await read.get(after) is None):
            raise ToolError(NO_PAGE)
        narrowed = Filter(
            tags=tuple(args.tags),
            kinds=(Kind(args.type),) if args.type else (),
            superseded=args.include_superseded,
            at=now,
            limit=args.limit,
        )
        if not args.query.strip():
            listed = await read.search(replace(narrowed, after_id=after))
            return [(one.record, one.score) for one in listed], len(listed) == args.limit
        asked = self._handle.request
        query = Query(
            *(args.query, now, args.limit),
            filters=narrowed,
            zone=asked.zone,
            languages=asked.languages,
        )
        recalled = await read.recall(query)
        ranked = [(one.record, one.score) for one in recalled.results]
        if not after:
            return ranked, False
        places = (place for place, (record, _) in enumerate(ranked) if record.id == after)
        place = next(places, None)
        if place is None:
            raise ToolError(NO_PAGE)
        return ranked[place + 1 :], False

    async def _brief(self, args: BriefArguments) -> str:
        brief = await self._brief_of()
        self._shown.add(brief.ids)
        for piece in brief.external:
            self._external.add(piece)
        return brief.text(with_provenance=args.include_provenance)

    async def _delete(self, args: DeleteArguments) -> str:
        if self._external.any:
            return as_json({"success": False, "error": ONLY_THE_PERSON})
        memory_id = self._shown.named(args.id)
        try:
            gone = memory_id is not None and await self._handle.erasure.delete_for_model(memory_id)
        except BadInput as error:
            return as_json({"success": False, "error": str(error)})
        if not gone:
            return as_json({"success": False, "error": "no memory of this person has that id"})
        return as_json({"success": True, "id": args.id})


def found_answer(
    record: Record, score: float, contradicts: Sequence[str] = ()
) -> dict[str, object]:
    """Return a memory for the model, with its source, and with the ids of those that it may
    contradict."""
    found: dict[str, object] = {
        "id": record.id,
        "type": record.kind.value,
        "content": record.content,
        "behavioral": record.behavioral,
        "tags": list(record.tags),
        "created_at": _iso(record.provenance.at),
        "relevance_score": round(score, 3),
        "source": record.provenance.source.value,
        "trust": record.provenance.trust.value,
    }
    return found | ({"may_contradict": list(contradicts)} if contradicts else {})


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
