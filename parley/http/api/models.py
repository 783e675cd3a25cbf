"""What goes in and out over HTTP, as strict models; the description is made from them too."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memory.model.record import MAX_ARGUMENT, MAX_DOCUMENT, MAX_TAG, MAX_TAGS, Kind, Scope, Tier
from memory.service.listing import ListName

MAX_ID = 100
MAX_QUERY = 500
MAX_LIST = 100
MAX_PROJECT = 300
MAX_NUMBER = 1_000_000_000
MAX_REASON = 500
MAX_DAYS = 400
MAX_FILE = 1024 * 1024


def _whole(value: object) -> object:
    """A number in a query is written in plain digits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 10:
        return int(value)
    return value


def _integral(value: object) -> object:
    """To JSON 1.0 and 1 are the same number (JSON Schema 2020-12, core 6.3)."""
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
    """What somebody sends: nothing but what is known, and no type but the one asked for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ResponseModel(BaseModel):
    """What is answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- queries ------------------------------------------------------------------------------------


class Plain(RequestModel):
    """Which project is meant, where it is not the chosen one."""

    project: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_PROJECT, description="One you were seen in."),
    ] = None


class VersionsQuery(Plain):
    """Which versions are wanted."""

    limit: Limit = 20
    before: Annotated[
        int | None, Field(ge=1, le=MAX_NUMBER, description="Older ones than this number."), Digits
    ] = None


class ReviewsQuery(Plain):
    """How many entries are wanted."""

    limit: Limit = 20


class UsageQuery(Plain):
    """Which days are wanted."""

    days: Annotated[int, Field(ge=1, le=MAX_DAYS, description="Of the last days."), Digits] = 30


class MemoriesQuery(Plain):
    """Which memories are wanted."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUERY, description="Words, best fit first; without any, newest first."
        ),
    ] = ""
    tags: Annotated[Tags, Field(description="All of them have to be there.")] = ()
    type: Annotated[Kind | None, Field(strict=False, description="Of this kind only.")] = None
    tier: Annotated[Tier | None, Field(strict=False, description="Of this tier only.")] = None
    list: Annotated[
        ListName | None, Field(description="What was learned, or chat messages; both without it.")
    ] = None
    limit: Limit = 20
    after: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_ID, description="`next` of the page before."),
    ] = None


# --- bodies -------------------------------------------------------------------------------------


class Nothing(RequestModel):
    """An empty object, or no body at all."""


class DocumentBody(RequestModel):
    """A document, whole. `based_on` is the number of the version it replaces, 0 for none: where
    that is not the newest any more, nothing is written."""

    content: DocumentText
    based_on: Number | None = None


class RestoreBody(RequestModel):
    """The number of the version to make the newest again."""

    version: Annotated[int, Field(ge=1, le=MAX_NUMBER), Integral]


class MemoryBody(RequestModel):
    """Something to remember. Who says so, and where, is not for the caller to say."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ARGUMENT)]
    type: Kind = Kind.FACT
    tags: Tags = ()
    scope: Scope = Scope.USER
    supersedes: Annotated[Id | None, Field(description="The memory this one replaces.")] = None


class ImportBody(RequestModel):
    """An export, as it was given out."""

    file: Annotated[str, StringConstraints(min_length=1, max_length=MAX_FILE)]


class RejectBody(RequestModel):
    """Why it is not kept, for the history."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class ChoicesBody(RequestModel):
    """What is to be chosen. `memory`: whether anything is recalled and kept at all; `notes`:
    whether the assistant says what it noted by itself; `rooms`: whether rooms may use what is your
    own."""

    memory: bool | None = None
    notes: bool | None = None
    rooms: bool | None = None


# --- answers ------------------------------------------------------------------------------------


class PlanOut(ResponseModel):
    """How many current memories of your own there are, of how many; null for no limit."""

    count: int
    limit: int | None


class DocumentOut(ResponseModel):
    """One version of a document. `characters` of `max_characters` are used; `warning` says so in
    words from 9,000 on. `last_synced_at` is a HEARTBEAT's."""

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
    """All documents; null for what nobody wrote yet, or where no project is chosen."""

    project: str | None
    soul: DocumentOut | None
    bible: DocumentOut | None
    heartbeat: DocumentOut | None
    plan: PlanOut


class ExportOut(ResponseModel):
    """Everything that is kept of the person: JSON lines under a header."""

    file: str


class EntryOut(ResponseModel):
    """What became of an entry of an import; `line` counts from 1, the header being the first. `id`
    is the memory's, or that of its review."""

    line: int
    outcome: Literal["stored", "known", "waiting", "refused", "left", "unreadable"]
    reason: str
    id: str | None


class DecisionOut(ResponseModel):
    """What became of something that waited. Its text went with the decision."""

    id: str
    decision: Literal["approved", "rejected"]
    target: Literal["soul", "bible"] | None
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
    """What one model's answers cost; money in millionths of a dollar."""

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
    """What the person spent, the dearest model first, and their budgets."""

    micros: int
    models: list[ModelUsageOut]
    budgets: list[BudgetOut]


class ImportOut(ResponseModel):
    """What became of each entry, in order."""

    entries: list[EntryOut]


class VersionsOut(ResponseModel):
    """Versions, newest first; `next` is the `before` of the next page, null at the end."""

    versions: list[DocumentOut]
    next: int | None


class WrittenOut(ResponseModel):
    """What became of a document. Proposed: it waits as `review_id` for whoever may change it."""

    outcome: Literal["written", "proposed"]
    document: DocumentOut | None = None
    review_id: str | None = None
    notices: list[str]


class MemoryOut(ResponseModel):
    """One memory. `yours` is false for what belongs to a project or to everybody and was written by
    somebody else."""

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
    """What became of something to remember. Review: it waits as `review_id` for your decision."""

    outcome: Literal["stored", "review"]
    code: str
    message: str
    memory_id: str | None = None
    review_id: str | None = None
    content: str
    notices: list[str]


class ReviewOut(ResponseModel):
    """Something that waits; `target` names the document it would rewrite, null for a memory."""

    id: str
    content: str
    target: Literal["soul", "bible"] | None
    type: Kind
    scope: Scope
    yours: bool
    reason: str
    checks_failed: list[str]
    submitted_at: datetime


class ReviewsOut(ResponseModel):
    """What waits for your decision, oldest first."""

    reviews: list[ReviewOut]


class ChoicesOut(ResponseModel):
    """What is chosen. `notes` is null where the configuration decides."""

    memory: bool
    notes: bool | None
    rooms: bool


class DecidedOut(ResponseModel):
    """What was decided; `memory_id` where a memory was stored."""

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
    """Why a request was not served."""

    error: ErrorDetail
