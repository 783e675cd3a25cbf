"""The model's tools that search repositories.

Names and arguments are those of the source's knowledge base. The text of a repository is data: it
instructs nobody, and it proves nothing about a person. It counts as text that the person did not
write, like a file.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Final

import structlog
from msgspec import Struct
from pydantic import Field, StringConstraints

from db.errors import StoreUnavailable
from gateway.authorship import Material
from gateway.errors import ToolError
from gateway.ports import TextToolProvider, ToolSpec
from memory.knowledge.access import KnowledgeReader, is_restricted
from memory.knowledge.answers import MAX_RESULTS, answers_of, note_of
from memory.knowledge.model import FileKind, KnowledgeQuery
from memory.model.scope import RequestScope
from memory.turns.arguments import Arguments, read_arguments
from memory.write.statement import ExternalText

MAX_QUERY: Final = 500
MAX_FILTER: Final = 100
DEFAULT_RESULTS: Final = 5
CODE: Final = frozenset({FileKind.CODE, FileKind.DOCUMENT, FileKind.INSTRUCTIONS})
DECISIONS: Final = frozenset({FileKind.DECISION})
INCIDENTS: Final = frozenset({FileKind.INCIDENT})
UNAVAILABLE: Final = "the repositories cannot be searched at the moment; say so"
SKILL: Final = """\
## Repositories
For questions on code, decisions ("why did we …") or incidents, search first: search_code_kb, \
search_decisions, search_incidents. Answer from the results only, each with its `citation` and \
`link`; name what supersedes a decision. If none answers, say that you do not find it."""

log = structlog.get_logger(__name__)

Query = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_QUERY),
    Field(description="A question, words, or names of code."),
]
Filter = Annotated[str, StringConstraints(max_length=MAX_FILTER)]
Limit = Annotated[
    int, Field(description=f"The most results: 1 to {MAX_RESULTS}; the nearest of them is taken.")
]


class ServiceArguments(Arguments):
    """The arguments of `search_code_kb` and `search_incidents`."""

    query: Query
    service_filter: Annotated[
        Filter, Field(description="A service: only its files. Empty: all of them.")
    ] = ""
    limit: Limit = DEFAULT_RESULTS


class TopicArguments(Arguments):
    """The arguments of `search_decisions`."""

    query: Query
    topic_filter: Annotated[
        Filter, Field(description="A topic: only decisions on it. Empty: all of them.")
    ] = ""
    limit: Limit = DEFAULT_RESULTS


class KnowledgeTool(Struct, frozen=True):
    """A tool: the kinds of files that it searches, and its filter."""

    name: str
    title: str
    description: str
    kinds: frozenset[FileKind]
    by_topic: bool = False

    @property
    def arguments(self) -> type[ServiceArguments] | type[TopicArguments]:
        """The model of its arguments."""
        return TopicArguments if self.by_topic else ServiceArguments

    @property
    def spec(self) -> ToolSpec:
        """Its specification for the model in a chat."""
        narrowed = "topic_filter" if self.by_topic else "service_filter"
        schema: dict[str, object] = {
            "type": "object",
            "required": ["query"],
            "properties": {
                "query": {"type": "string", "maxLength": MAX_QUERY},
                narrowed: {"type": "string"},
                "limit": {"type": "integer"},
            },
        }
        return ToolSpec(self.name, self.description, schema, side_effects=False, open_world=False)


TOOLS: Final = (
    KnowledgeTool(
        "search_code_kb", "Search code", "Search code and documents of the repositories", CODE
    ),
    KnowledgeTool(
        "search_decisions",
        "Search decisions",
        "Search decision records (ADRs) of the repositories",
        DECISIONS,
        by_topic=True,
    ),
    KnowledgeTool(
        "search_incidents",
        "Search incidents",
        "Search incident reports of the repositories",
        INCIDENTS,
    ),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def query_of(tool: KnowledgeTool, given: ServiceArguments | TopicArguments) -> KnowledgeQuery:
    """Return the search that a call asks for, within the limits."""
    limit = min(max(given.limit, 1), MAX_RESULTS)
    if isinstance(given, TopicArguments):
        topics = (given.topic_filter.strip(),) if given.topic_filter.strip() else ()
        return KnowledgeQuery(given.query, tool.kinds, topics=topics, limit=limit)
    services = (given.service_filter.strip(),) if given.service_filter.strip() else ()
    return KnowledgeQuery(given.query, tool.kinds, services=services, limit=limit)


class KnowledgeTools:
    """Implements `gateway.ports.ToolProvider` for one turn. It offers nothing where no repository
    may be read."""

    def __init__(
        self, reader: KnowledgeReader, request: RequestScope, external: ExternalText
    ) -> None:
        """`external` is the text that the model reads in this turn and the person did not write."""
        self._reader = reader
        self._request = request
        self._external = external
        self._offered: bool | None = None

    async def offered(self) -> bool:
        """True if a repository may be read here; asked once in a turn."""
        if self._offered is None:
            try:
                self._offered = bool(await self._reader.repositories(self._request, 1))
            except StoreUnavailable as error:  # the answer does not depend on repositories
                log.warning("repositories_not_offered", error=str(error))
                self._offered = False
        return self._offered

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the specifications, if there is anything to search."""
        return tuple(tool.spec for tool in TOOLS) if await self.offered() else ()

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """The answer as JSON. Raises `ToolError` for arguments that cannot be used, and while the
        index cannot be read."""
        tool = BY_NAME.get(name)
        if tool is None:
            raise ToolError(f"there is no tool {name!r}")
        query = query_of(tool, read_arguments(tool.arguments, arguments))
        try:
            hits = await self._reader.search(self._request, query)
            note = await note_of(await self._reader.states(self._request))
        except StoreUnavailable as error:
            log.warning("repositories_not_searched", error=str(error))
            raise ToolError(UNAVAILABLE) from None
        answers = await answers_of(hits)
        text = json.dumps({"note": note, "results": answers}, ensure_ascii=False)
        restricted = any(is_restricted(hit.repository) for hit in hits)
        self._external.add(Material("repository" if restricted else "file", text, name))
        return text

    async def close(self) -> None:
        """Do nothing."""


class CombinedTools:
    """Implements `gateway.ports.ToolProvider` over the tools of memory and of repositories."""

    def __init__(self, memory: TextToolProvider, repositories: KnowledgeTools) -> None:
        self._memory = memory
        self._repositories = repositories

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return all specifications."""
        return (*await self._memory.tools(), *await self._repositories.tools())

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""
        owner = self._repositories if name in BY_NAME else self._memory
        return await owner.call(name, arguments)

    async def close(self) -> None:
        """Do nothing."""
