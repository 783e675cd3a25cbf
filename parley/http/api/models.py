"""The requests and responses of the HTTP API, as strict models; the OpenAPI description derives
from them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memory.model.record import MAX_ARGUMENT, MAX_DOCUMENT, MAX_TAG, MAX_TAGS, Kind, Scope, Tier
from memory.service.read import ListName

MAX_ID = 100
MAX_QUERY = 500
MAX_LIST = 100
MAX_PROJECT = 300
MAX_NUMBER = 1_000_000_000
MAX_REASON = 500
MAX_DAYS = 400
MAX_FILE = 1024 * 1024


def _whole(value: object) -> object:
    """Return the number that a query writes in plain digits; other values unchanged."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 10:
        return int(value)
    return value


def _integral(value: object) -> object:
    """Return 1 for 1.0: in JSON both are the same number (JSON Schema 2020-12, core 6.3)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Digits = BeforeValidator(_whole)
Integral = BeforeValidator(_integral)
Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TAG)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)]
DocumentText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER), Integral]
Limit = Annotated[int, Field(ge=1, le=MAX_LIST), Digits]
Author = Literal["you", "other", "system"]


class RequestModel(BaseModel):
    """A request: unknown fields and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class ResponseModel(BaseModel):
    """A response."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# --- queries ------------------------------------------------------------------------------------


class Plain(RequestModel):
    """The project, if it is not the chosen one."""

    project: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_PROJECT, description="A project that you belong to."),
    ] = None


class VersionsQuery(Plain):
    """The versions to return."""

    limit: Limit = 20
    before: Annotated[
        int | None,
        Field(ge=1, le=MAX_NUMBER, description="Return versions older than this number."),
        Digits,
    ] = None


class ReviewsQuery(Plain):
    """The number of entries to return."""

    limit: Limit = 20


class UsageQuery(Plain):
    """The days to return."""

    days: Annotated[
        int, Field(ge=1, le=MAX_DAYS, description="Number of days, the last one today."), Digits
    ] = 30


class MemoriesQuery(Plain):
    """The memories to return."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUERY,
            description="Words to search for, best match first; without words, newest first.",
        ),
    ] = ""
    tags: Annotated[Tags, Field(description="A memory must have all of these tags.")] = ()
    type: Annotated[Kind | None, Field(strict=False, description="Only memories of this kind.")] = (
        None
    )
    tier: Annotated[Tier | None, Field(strict=False, description="Only memories of this tier.")] = (
        None
    )
    list: Annotated[
        ListName | None,
        Field(description="Learned memories or chat messages; both if it is omitted."),
    ] = None
    limit: Limit = 20
    after: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_ID, description="`next` of the previous page."),
    ] = None


# --- bodies -------------------------------------------------------------------------------------


class Nothing(RequestModel):
    """An empty object, or no body."""


class DocumentBody(RequestModel):
    """A complete document. `based_on` is the number of the version that it replaces, 0 for none. If
    that is no longer the newest version, nothing is written."""

    content: DocumentText
    based_on: Number | None = None


class RestoreBody(RequestModel):
    """The number of the version to restore."""

    version: Annotated[int, Field(ge=1, le=MAX_NUMBER), Integral]


class MemoryBody(RequestModel):
    """A memory to store. The server sets its author and origin."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ARGUMENT)]
    type: Kind = Kind.FACT
    tags: Tags = ()
    scope: Scope = Scope.USER
    supersedes: Annotated[Id | None, Field(description="The memory that this one replaces.")] = None
    evidence: Annotated[
        dict[str, Any],
        Field(
            max_length=100,
            description="Further fields of the evidence, such as a ticket or a file: 5 deep, 500 "
            "values, 10,000 bytes.",
        ),
    ] = {}


class ImportBody(RequestModel):
    """The file of an export, unchanged."""

    file: Annotated[str, StringConstraints(min_length=1, max_length=MAX_FILE)]


class RejectBody(RequestModel):
    """The reason of a rejection, for the history."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class ChoicesBody(RequestModel):
    """The settings to change. `memory`: recall and store memories; `notes`: show what the assistant
    noted by itself; `rooms`: use your own memories in rooms."""

    memory: bool | None = None
    notes: bool | None = None
    rooms: bool | None = None


# --- answers ------------------------------------------------------------------------------------


class PlanOut(ResponseModel):
    """The number of your current memories, and the limit of your plan; null for no limit."""

    count: int
    limit: int | None


class DocumentOut(ResponseModel):
    """One version of a document. `characters` of `max_characters` are used; `warning` is a sentence
    about it from 9,000 on. Only a HEARTBEAT has `last_synced_at`."""

    document: Literal["soul", "bible", "heartbeat"]
    version: int
    content: str
    characters: int
    max_characters: int
    warning: str | None
    author: Author
    written_at: datetime
    last_synced_at: datetime | None = None


class BrainOut(ResponseModel):
    """All documents; null for one that does not exist, or if no project is chosen."""

    project: str | None
    soul: DocumentOut | None
    bible: DocumentOut | None
    heartbeat: DocumentOut | None
    plan: PlanOut


class ExportOut(ResponseModel):
    """Everything that is stored about the person: a header and JSON lines."""

    file: str


class EntryOut(ResponseModel):
    """The outcome of an entry of an import. `line` counts from 1; the header is line 1. `id` is the
    id of the memory, or of its review."""

    line: int
    outcome: Literal["stored", "known", "waiting", "refused", "left", "unreadable"]
    reason: str
    id: str | None


class DecisionOut(ResponseModel):
    """A decision of a review. Its text was deleted with the decision."""

    id: str
    decision: Literal["approved", "rejected"]
    target: Literal["soul", "bible", "pool"] | None
    type: Kind
    scope: Scope
    reason: str
    note: str
    submitted_at: datetime
    decided_at: datetime | None


class DecisionsOut(ResponseModel):
    """Decisions, the latest first."""

    decisions: list[DecisionOut]


class ModelUsageOut(ResponseModel):
    """The cost of one model's answers, in millionths of a dollar."""

    model: str
    answers: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    micros: int


class BudgetOut(ResponseModel):
    """A budget of the person, in millionths of a dollar."""

    name: str
    spent: int
    limit: int


class UsageOut(ResponseModel):
    """The cost of the person's answers, the most expensive model first, and their budgets."""

    micros: int
    models: list[ModelUsageOut]
    budgets: list[BudgetOut]


class ImportOut(ResponseModel):
    """The outcome of each entry, in order."""

    entries: list[EntryOut]


class VersionsOut(ResponseModel):
    """Versions, newest first; `next` is the `before` of the next page, null at the end."""

    versions: list[DocumentOut]
    next: int | None


class WrittenOut(ResponseModel):
    """The outcome of a write. A proposed text waits as `review_id` for a person who may change the
    document."""

    outcome: Literal["written", "proposed"]
    document: DocumentOut | None = None
    review_id: str | None = None
    notices: list[str]


class MemoryOut(ResponseModel):
    """One memory. `yours` is false for a memory of a project or of everybody that somebody else
    wrote."""

    id: str
    content: str
    type: Kind
    tier: Tier
    scope: Scope
    project: str | None
    tags: list[str]
    behavioral: bool
    yours: bool
    role: Literal["user", "assistant", "tool", "other"] | None
    source: str
    trust: Literal["high", "medium", "low"]
    confidence: float
    source_id: str | None
    evidence: Annotated[
        dict[str, Any],
        Field(
            description="Further fields of the evidence of your own memories. `source_type` is the "
            "kind of a verified source: documentation, adr, commit or issue."
        ),
    ]
    written_at: datetime
    true_from: datetime | None
    true_until: datetime | None
    expires_at: datetime | None
    supersedes: str | None
    superseded_by: str | None
    confirmed: bool


class MemoriesOut(ResponseModel):
    """A page of memories; `next` is the `after` of the next page, null at the end."""

    memories: list[MemoryOut]
    next: str | None
    plan: PlanOut


class KeptOut(ResponseModel):
    """The outcome of storing a memory. With "review" it waits as `review_id` for your decision."""

    outcome: Literal["stored", "review"]
    code: str
    message: str
    memory_id: str | None = None
    review_id: str | None = None
    content: str
    notices: list[str]


class ReviewOut(ResponseModel):
    """An entry that waits for a decision; `target` is the document that it would rewrite, null for
    a memory."""

    id: str
    content: str
    target: Literal["soul", "bible", "pool"] | None
    type: Kind
    scope: Scope
    yours: bool
    reason: str
    checks_failed: list[str]
    submitted_at: datetime


class ReviewsOut(ResponseModel):
    """The entries that wait for your decision, oldest first."""

    reviews: list[ReviewOut]


class ChoicesOut(ResponseModel):
    """The settings. `notes` is null if the configuration decides."""

    memory: bool
    notes: bool | None
    rooms: bool


class DecidedOut(ResponseModel):
    """The decision; `memory_id` is set if a memory was stored."""

    id: str
    decision: Literal["approved", "rejected"]
    memory_id: str | None = None


class ErrorDetail(ResponseModel):
    """`code` is stable, `message` for people, `where` the part of the request that is wrong, such
    as `body.content`."""

    code: str
    message: str
    where: str


class ErrorOut(ResponseModel):
    """The reason why a request was refused."""

    error: ErrorDetail
