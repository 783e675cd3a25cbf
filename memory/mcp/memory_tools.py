"""The memory tools over MCP, with the arguments and rules of the model's tools in a chat.

The program does not know what an agent has read. So everything an agent reads counts as text that
the person did not write: what it stores waits for the person's review unless the policy can prove
it, and it deletes only what the person confirms.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from gateway.errors import NotFound, ToolError
from gateway.ports.action import Output
from gateway.ports.rights import TokenScope, by_agent_too
from gateway.text import text
from memory.agents.defences import filter_output, judge_query
from memory.agents.model import Capability
from memory.mcp.names import KNOWLEDGE
from memory.mcp.tool_definition import (
    AnyTool,
    AsAgent,
    Confirmable,
    McpCall,
    ToolDefinition,
    WaitingResult,
)
from memory.model.record import Record
from memory.service.write import MEMORY_OFF
from memory.text.display import in_question
from memory.turns.arguments import Arguments, ShownIds
from memory.turns.brief import brief_of
from memory.turns.document_tool import UPDATE, DocumentTool, UpdateArguments
from memory.turns.tools import (
    MAX_RESULTS,
    BriefArguments,
    DeleteArguments,
    MemoryTools,
    SearchArguments,
    StoreArguments,
    found_answer,
)
from memory.write.statement import ExternalText

NO_MEMORY: Final = text(
    "No memory of this person has this id. Use a whole id, as memory_search returns it."
)
REVIEW: Final = (
    "Tell the person: `/memories review` in their chat with the assistant, or `parley memory "
    "review`, shows it, and they decide."
)
EXTRACTION: Final = (
    "This query was not answered: it asks for everything, for secrets or for the memories of "
    "others. Ask about one topic."
)
PRIVATE_TO_NOBODY: Final = (
    "agent_private: needs the agent_id of the agent that keeps the memory, and the scope user."
)


Author = Literal["person", "others"]


class FoundMemory(Output):
    """A memory."""

    id: str
    type: str
    content: str
    behavioral: bool
    tags: list[str]
    created_at: str
    relevance_score: float
    source: str
    trust: str
    may_contradict: Annotated[
        list[str], Field(description="Ids of memories of which only one may be true.")
    ] = Field(default_factory=list)
    author: Annotated[
        Author,
        Field(description="`person`: the person of the token, or an agent of theirs; or `others`."),
    ]


class SearchResult(Output):
    """The matching memories, best first."""

    results: list[FoundMemory]
    next_cursor: Annotated[
        str | None, Field(description="The `cursor` of what follows, if there may be more.")
    ] = None


class BriefResult(Output):
    """The brief, and the ids of its memories in order."""

    brief: str
    ids: list[str]


class StoreResult(WaitingResult):
    """The stored memory."""

    id: str | None = None
    content: Annotated[
        str | None, Field(description="The stored text, if it differs from the given one.")
    ] = None
    error: str | None = None
    notices: list[str] = Field(default_factory=list)


class UpdateResult(StoreResult):
    """The written document or memory."""

    version: int | None = None
    current: Annotated[str | None, Field(description="The text of now, after a conflict.")] = None


class DeleteResult(WaitingResult):
    """The deleted memory."""

    id: str | None = None


class SearchOverMcp(AsAgent, SearchArguments):
    """The arguments of `memory_search`."""


class BriefOverMcp(AsAgent, BriefArguments):
    """The arguments of `memory_brief`."""


class StoreOverMcp(AsAgent, StoreArguments):
    """The arguments of `memory_store`."""

    agent_private: Annotated[
        bool,
        Field(
            description="Keep it for the agent of `agent_id`: no other agent reads it, and no "
            "prompt of the person contains it. The person sees it in their list."
        ),
    ] = False
    evidence: Annotated[
        dict[str, Any],
        Field(
            max_length=100,
            description="Further fields of the evidence, such as a ticket or a file: 5 deep, 500 "
            "values, 10,000 bytes.",
        ),
    ] = Field(default_factory=dict)


class UpdateOverMcp(AsAgent, UpdateArguments):
    """The arguments of `update_customer_brain`."""


class DeleteOverMcp(Confirmable, AsAgent, DeleteArguments):
    """The arguments of `memory_delete`."""


def remembering(call: McpCall) -> McpCall:
    """Return the call. Raises `ToolError` if the person turned memory off."""
    if not call.handle.choices.remembered:
        raise ToolError(MEMORY_OFF)
    return call


def _tools(
    call: McpCall,
    *,
    confirmed: bool = False,
    agent_private: bool = False,
    evidence: Mapping[str, Any] | None = None,
) -> MemoryTools:
    """Return the tools of a chat for this call; `confirmed`: the person agreed to this very
    call, `agent_private`: the agent keeps for itself what it stores."""
    remembering(call)
    external, shown = ExternalText(), ShownIds()
    external.any = not confirmed
    documents = DocumentTool(call.handle, call.services.documents, external, shown)
    brief = call.services.brief
    return MemoryTools(
        call.handle,
        lambda: brief_of(call.handle, brief),
        external,
        shown,
        documents,
        agent_private=agent_private,
        evidence=evidence,
    )


async def _answer(
    call: McpCall,
    name: str,
    given: Arguments,
    *,
    agent_private: bool = False,
    evidence: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Run a tool of a chat and return its answer. Raises `ToolError` if it refused."""
    own = {"agent_id", "agent_private", "evidence"}
    fields: Mapping[str, object] = given.model_dump(exclude_unset=True, exclude=own)
    tools = _tools(call, agent_private=agent_private, evidence=evidence)
    answer: dict[str, Any] = json.loads(await tools.call(name, fields))
    if answer.get("success") is False and "status" not in answer and "current" not in answer:
        raise ToolError(str(answer.get("error", "it was refused")))
    if "status" in answer:
        answer["next"] = REVIEW
    return answer


async def store(call: McpCall, given: StoreOverMcp) -> StoreResult:
    """Store a memory. Raises `ToolError` for one that only an agent reads, without an agent."""
    if given.agent_private and not (call.handle.request.agent and given.scope == "user"):
        raise ToolError(PRIVATE_TO_NOBODY)
    made = await _answer(
        *(call, "memory_store", given), agent_private=given.agent_private, evidence=given.evidence
    )
    return StoreResult.model_validate(made)


async def search(call: McpCall, given: SearchOverMcp) -> SearchResult:
    """Search memories. Raises `ToolError` for a query that asks for everything."""
    if judge_query(given.query).for_review:
        reasons = " ".join(judge_query(given.query).reasons)
        audit = remembering(call).handle.read.audit
        await audit("poisoning_attempt_blocked", operation="query", findings=reasons)
        raise ToolError(EXTRACTION)
    query = SearchArguments.model_validate(given.model_dump(exclude={"agent_id"}))
    found = await _tools(call).find(query)
    scores = {record.id: score for record, score in found.matches}
    shown = filter_output((record for record, _ in found.matches), MAX_RESULTS)
    marks = await call.handle.contradictions.marks() if shown.records else {}
    return SearchResult(
        results=[
            found_out(call, one, scores[one.id], marks.get(one.id, ())) for one in shown.records
        ],
        next_cursor=found.next_cursor or None,
    )


def found_out(
    call: McpCall, record: Record, score: float, contradicts: Sequence[str] = ()
) -> FoundMemory:
    """Return a memory as a result, with the ids of those that it may contradict."""
    return FoundMemory.model_validate(
        found_answer(record, score, contradicts) | {"author": author_of(call, record)}
    )


def author_of(call: McpCall, record: Record) -> Author:
    """Return whose memory a record is. The record of another person is without its person here."""
    own = {call.person, *call.handle.request.persons}
    return "person" if record.provenance.person in own else "others"


async def brief(call: McpCall, given: BriefOverMcp) -> BriefResult:
    """Return the brief of now."""
    remembering(call)
    made = await brief_of(call.handle, call.services.brief)
    return BriefResult(
        brief=made.text(with_provenance=given.include_provenance), ids=list(made.ids)
    )


async def update(call: McpCall, given: UpdateOverMcp) -> UpdateResult:
    """Write a document, or store a memory."""
    return UpdateResult.model_validate(await _answer(call, UPDATE.name, given))


async def known_memory(call: McpCall, memory_id: str) -> Record:
    """Return a memory of the caller. Raises `NotFound`."""
    whole = ShownIds().named(memory_id)
    record = None if whole is None else await remembering(call).handle.read.get(whole)
    if record is None:
        raise NotFound(NO_MEMORY)
    return record


def asked_about(record: Record) -> str:
    """Return a memory as a question to the person shows it. Nothing in it ends the quotation."""
    text = in_question(record.content).replace("“", "„").replace("”", "„")
    return f"“{text}” ({len(record.content):,} characters, {record.id})"


async def deletion_question(call: McpCall, given: DeleteOverMcp) -> str:
    """Return the question that the person confirms."""
    record = await known_memory(call, given.id)
    return f"Delete this {record.kind} from your memory? {asked_about(record)}"


async def delete(call: McpCall, given: DeleteOverMcp) -> DeleteResult:
    """Delete a memory that the person agreed to delete."""
    record = await known_memory(call, given.id)
    tools = _tools(call, confirmed=True)
    answer = json.loads(await tools.call("memory_delete", {"id": record.id}))
    if not answer["success"]:
        raise ToolError(f"{answer['error']} The person can delete it with `/forget {record.id}`.")
    return DeleteResult(success=True, id=record.id)


MEMORY_TOOLS: Final[tuple[AnyTool, ...]] = (
    ToolDefinition(
        "memory_search",
        "Search memories",
        "Search the person's memories by a question, or list the latest ones. Use it before "
        "you ask for something that the person may have said.",
        KNOWLEDGE,
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        search,
        agent="agent_id",
        idempotent=True,
    ),
    ToolDefinition(
        "memory_brief",
        "Memory brief",
        "Return what is known about the person: preferences and instructions first, then "
        "facts. Read it at the start of a session.",
        KNOWLEDGE,
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        brief,
        agent="agent_id",
        idempotent=True,
    ),
    ToolDefinition(
        "memory_store",
        "Store a memory",
        "Store one lasting fact, decision or preference. It may wait for the person's review.",
        KNOWLEDGE,
        by_agent_too(TokenScope.WRITE, Capability.MEMORY_WRITE),
        store,
        agent="agent_id",
    ),
    ToolDefinition(
        "update_customer_brain",
        "Update a document",
        "Propose a new text of the person's document (soul) or the project's (bible), or "
        "store a memory. A document is replaced as a whole: read its resource first.",
        KNOWLEDGE,
        by_agent_too(TokenScope.WRITE, Capability.MEMORY_WRITE),
        update,
        agent="agent_id",
    ),
    ToolDefinition(
        "memory_delete",
        "Delete a memory",
        "Delete one memory, after the person confirmed it.",
        KNOWLEDGE,
        by_agent_too(TokenScope.WRITE, Capability.MEMORY_DELETE),
        delete,
        question=deletion_question,
        agent="agent_id",
        destructive=True,
        idempotent=True,
    ),
)
"""The tools, in the order in which they are listed."""
