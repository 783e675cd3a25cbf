"""SOUL, BIBLE and HEARTBEAT over HTTP."""

from functools import partial
from typing import Final, Literal

from gateway.errors import NotFound
from gateway.ports.rights import TOKEN_READS, TOKEN_WRITES, TokenScope, by_agent_too
from memory.agents.model import Capability
from memory.brain.documents import SYSTEM, BrainResult, nearly_full
from memory.model.record import MAX_DOCUMENT
from memory.model.scope import AccessScope
from memory.model.trust import InputKind
from memory.ports.brain import LABELS, Document, Version
from memory.service.handle import MemoryHandle
from parley.http.api.errors import Refused
from parley.http.api.models import (
    Author,
    BrainOut,
    DocumentBody,
    DocumentOut,
    Nothing,
    Plain,
    PlanOut,
    RestoreBody,
    VersionsOut,
    VersionsQuery,
    WrittenOut,
)
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

Writable = Literal["soul", "bible"]

NO_PROJECT: Final = "No project is chosen: write /project to the assistant, or send ?project=."
MISSING: Final = {
    404: "There is no such document, no project is chosen, or you do not belong to it."
}
_WRITTEN: Final = {
    200: (WrittenOut, "Written."),
    202: (WrittenOut, "Proposed to the operators, who decide."),
}
_NOT_WRITTEN: Final = {
    **MISSING,
    409: "The document was changed meanwhile: read it, then write again.",
    422: "No part of the text can be stored, or too many proposals wait for a decision.",
}


def document_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on documents."""
    reads = tuple(_reading(document) for document in ("soul", "bible", "heartbeat"))
    both: tuple[Writable, Writable] = ("soul", "bible")
    kinds = (_writing, _listing, _restoring)
    changes = (make(document) for document in both for make in kinds)
    brain = Operation(
        "GET",
        "/brain",
        "brain",
        "Read all documents",
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        read_all,
        Plain,
        Nothing,
        {200: (BrainOut, "The documents.")},
        {404: "You do not belong to this project."},
    )
    return (brain, *reads, *changes)


async def read_all(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return SOUL, BIBLE and HEARTBEAT."""
    access = call.handle.access
    soul = await call.brain.read(access, "soul")
    bible = await call.brain.read(access, "bible") if access.project else None
    heartbeat = await call.brain.read(access, "heartbeat") if access.project else None
    return Answer(
        200,
        BrainOut(
            project=access.project or None,
            soul=document_out(access, soul) if soul else None,
            bible=document_out(access, bible) if bible else None,
            heartbeat=document_out(access, heartbeat) if heartbeat else None,
            plan=await plan_of(call.handle),
        ),
    )


async def plan_of(handle: MemoryHandle) -> PlanOut:
    """Return the used part of the person's plan."""
    use = await handle.read.plan_use()
    return PlanOut(count=use.count, limit=use.limit)


def document_out(access: AccessScope, version: Version) -> DocumentOut:
    """Return a version for the response, without other people's ids."""
    author: Author = "you" if version.author in access.persons else "other"
    return DocumentOut(
        document=version.document,
        version=version.number,
        content=version.content,
        characters=len(version.content),
        max_characters=MAX_DOCUMENT,
        warning=nearly_full(version.content) or None,
        author="system" if version.author == SYSTEM else author,
        written_at=version.at,
        last_synced_at=version.synced_at,
    )


def _reading(document: Document) -> AnyOperation:
    return Operation(
        "GET",
        f"/brain/{document}",
        f"read_{document}",
        f"Read the {LABELS[document]} ({document.upper()})",
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        partial(read, document),
        Plain,
        Nothing,
        {200: (DocumentOut, "The newest version.")},
        MISSING,
    )


def _writing(document: Writable) -> AnyOperation:
    return Operation(
        "PUT",
        f"/brain/{document}",
        f"write_{document}",
        f"Replace the {LABELS[document]} ({document.upper()})",
        by_agent_too(TokenScope.WRITE, Capability.MEMORY_WRITE),
        partial(write, document),
        Plain,
        DocumentBody,
        _WRITTEN,
        _NOT_WRITTEN,
    )


def _listing(document: Writable) -> AnyOperation:
    return Operation(
        "GET",
        f"/brain/{document}/versions",
        f"{document}_versions",
        f"List the versions of the {LABELS[document]} ({document.upper()})",
        TOKEN_READS,
        partial(versions, document),
        VersionsQuery,
        Nothing,
        {200: (VersionsOut, "A page of versions.")},
        MISSING,
    )


def _restoring(document: Writable) -> AnyOperation:
    return Operation(
        "POST",
        f"/brain/{document}/restore",
        f"restore_{document}",
        f"Restore an earlier version of the {LABELS[document]} ({document.upper()})",
        TOKEN_WRITES,
        partial(restore, document),
        Plain,
        RestoreBody,
        _WRITTEN,
        _NOT_WRITTEN,
    )


async def read(document: Document, call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return the newest version."""
    version = await call.brain.read(_reach(call, document), document)
    if version is None:
        raise NotFound(f"No {LABELS[document]} yet.")
    return Answer(200, document_out(call.handle.access, version))


async def write(document: Writable, call: Call, _query: Plain, body: DocumentBody) -> Answer:
    """Write a new version, or propose it."""
    result = await call.brain.write(
        call.handle.request,
        _reach(call, document),
        document,
        body.content,
        InputKind.EXPLICIT,
        based_on=body.based_on,
    )
    return _became(call, document, result)


async def versions(document: Writable, call: Call, query: VersionsQuery, _body: Nothing) -> Answer:
    """Return a page of versions."""
    every = await call.brain.versions(_reach(call, document), document)
    older = [each for each in every if query.before is None or each.number < query.before]
    page = older[: query.limit]
    return Answer(
        200,
        VersionsOut(
            versions=[document_out(call.handle.access, each) for each in page],
            next=page[-1].number if len(older) > len(page) else None,
        ),
    )


async def restore(document: Writable, call: Call, _query: Plain, body: RestoreBody) -> Answer:
    """Restore an earlier version."""
    access = _reach(call, document)
    kept = await call.brain.versions(access, document)
    if body.version not in {each.number for each in kept}:
        raise NotFound(f"There is no version {body.version} of the {LABELS[document]}.")
    result = await call.brain.restore(call.handle.request, access, document, body.version)
    return _became(call, document, result)


def _reach(call: Call, document: Document) -> AccessScope:
    """Return the person's access scope. Raises `Refused` if the document needs a project."""
    access = call.handle.access
    if document != "soul" and not access.project:
        raise Refused(404, "no_project", NO_PROJECT, "query.project")
    return access


def _became(call: Call, document: Writable, result: BrainResult) -> Answer:
    if result.written == "conflict":
        newest = result.version.number if result.version else 0
        message = f"The newest version of the {LABELS[document]} is {newest}."
        raise Refused(409, "conflict", message, "body.based_on")
    version = result.version
    return Answer(
        200 if result.written == "written" else 202,
        WrittenOut(
            outcome="written" if result.written == "written" else "proposed",
            document=document_out(call.handle.access, version) if version else None,
            review_id=result.review_id or None,
            notices=list(result.notices),
        ),
    )
