"""The addresses of the actions over HTTP."""

from typing import Annotated, Final

from pydantic import StringConstraints

from gateway.ports.action import Input
from memory.actions import agents, documents, memories, pools, privacy, reviews
from memory.actions.call import Number
from memory.model.record import MAX_DOCUMENT
from memory.ports.documents import LABELS
from memory.service.handle import Writable
from parley.http.api import personal_data
from parley.http.api.operations import Operation, rest

_PROJECT: Final = {404: "You do not belong to this project."}
_MISSING: Final = {404: "It does not exist, or is not yours."}
_NO_DOCUMENT: Final = {
    404: "There is no such document, or you do not belong to the project.",
    409: "No project is chosen.",
}
_NOT_WRITTEN: Final = {
    **_NO_DOCUMENT,
    409: "The document was changed meanwhile: read it, then write again. Or no project is chosen, "
    "or too many proposals wait for a decision.",
    422: "No part of the text can be stored.",
}
_PROPOSED: Final = "Proposed to the operators, who decide."
_MEMORY: Final = "/brain/memories/{id}"
_REVIEW: Final = "/brain/reviews/{id}"
_AGENTS: Final = "/brain/agents"
_AGENT: Final = f"{_AGENTS}/{{id}}"
_SESSION: Final = "/brain/sessions/{id}"
_HANDOFFS: Final = "/brain/handoffs"
_ENDED: Final = {404: "It has ended, or is not yours."}
_POOLS: Final = "/brain/pools"
_POOL: Final = f"{_POOLS}/{{id}}"
_INVITATIONS: Final = "/brain/invitations"
_CHOICES: Final = "/brain/choices"


class DocumentBody(Input):
    """A complete document. `based_on` is the number of the version that it replaces, 0 for none. If
    that is no longer the newest version, nothing is written."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
    """The text, in Markdown."""
    based_on: Number | None = None


def document_operations() -> tuple[Operation, ...]:
    """Return the operations on documents."""
    return (
        rest("GET", "/brain", "brain", documents.read_all, "The documents.", _PROJECT),
        *(
            rest(
                *("GET", f"/brain/{document}", f"read_{document}", documents.read),
                *("The newest version.", _NO_DOCUMENT),
                summary=f"Read the {label} ({document.upper()})",
                fixed={"document": document},
            )
            for document, label in LABELS.items()
        ),
        *(one for document in ("soul", "bible") for one in _changes(document)),
    )


def _changes(document: Writable) -> tuple[Operation, ...]:
    path, fixed = f"/brain/{document}", {"document": document}
    named = f"the {LABELS[document]} ({document.upper()})"
    return (
        rest(
            *("PUT", path, f"write_{document}", documents.write, "Written.", _NOT_WRITTEN),
            summary=f"Replace {named}",
            fixed=fixed,
            body=DocumentBody,
            waits=_PROPOSED,
        ),
        rest(
            *("GET", f"{path}/versions", f"{document}_versions", documents.versions),
            *("A page of versions.", _NO_DOCUMENT),
            summary=f"List the versions of {named}",
            fixed=fixed,
        ),
        rest(
            *(
                "POST",
                f"{path}/restore",
                f"restore_{document}",
                documents.restore,
                "Written.",
                _NOT_WRITTEN,
            ),
            summary=f"Restore an earlier version of {named}",
            fixed=fixed,
            waits=_PROPOSED,
        ),
    )


def memory_operations() -> tuple[Operation, ...]:
    """Return the operations on memories and reviews."""
    return (
        rest(
            *("GET", "/brain/memories", "memories", memories.search, "A page of memories."),
            {404: "You do not belong to this project, or `after` is not a memory of yours."},
        ),
        rest(
            *("POST", "/brain/memories", "remember", memories.remember, "Stored."),
            {
                404: "The memory that it supersedes does not exist, or is not yours.",
                409: "It is stored already, it is asked about already or was rejected, the plan or "
                "the review queue is full, memory is off, or no project is chosen.",
                422: "No part of it can be stored.",
            },
            status=201,
            waits="It waits for review.",
        ),
        rest("GET", _MEMORY, "memory", memories.read, "The memory.", _MISSING),
        rest("DELETE", _MEMORY, "forget", memories.delete, "Deleted.", _MISSING),
        rest(
            *(
                "POST",
                f"{_MEMORY}/restore",
                "restore_memory",
                memories.restore,
                "It is valid again.",
            ),
            {
                404: "It was not replaced, does not exist, or is not yours.",
                409: "It is stored already, or the plan is full.",
            },
        ),
        rest(
            *("POST", f"{_MEMORY}/settle", "settle_memories", memories.settle, "Recorded."),
            {404: "This is decided already, or one of the two memories is gone."},
        ),
        rest(
            *("GET", "/brain/reviews", "reviews", reviews.waiting),
            *("The entries, oldest first.", _PROJECT),
        ),
        rest(
            *("GET", "/brain/decisions", "decisions", reviews.decisions),
            *("The decisions, the latest first.", _PROJECT),
        ),
        rest(
            *("POST", f"{_REVIEW}/approve", "approve", reviews.approve, "Stored."),
            {
                **_MISSING,
                409: "It is stored already, the plan is full, or memory is off.",
                422: "It cannot be stored.",
            },
            fixed={"keep_both": False},
        ),
        rest("POST", f"{_REVIEW}/reject", "reject", reviews.reject, "Rejected.", _MISSING),
    )


def choice_operations() -> tuple[Operation, ...]:
    """Return the operations on settings."""
    return (
        rest("GET", _CHOICES, "choices", privacy.choices, "The settings.", _PROJECT),
        rest("PUT", _CHOICES, "choose", privacy.choose, "The changed settings.", _PROJECT),
    )


def transfer_operations() -> tuple[Operation, ...]:
    """Return the operations for export and import."""
    return (
        rest("GET", "/brain/export", "export", personal_data.give_out, "The file.", _PROJECT),
        rest(
            *(
                "POST",
                "/brain/import",
                "import",
                personal_data.bring_in,
                "The outcome of each entry.",
            ),
            {
                **_PROJECT,
                409: "Too many files were imported lately.",
                422: "The file is not an export, or has more than 500 entries.",
            },
            most=personal_data.MAX_IMPORT,
        ),
    )


def usage_operations() -> tuple[Operation, ...]:
    """Return the operation on usage."""
    text = "The cost by model, and your budgets."
    return (rest("GET", "/usage", "usage", personal_data.usage, text, _PROJECT),)


def agent_operations() -> tuple[Operation, ...]:
    """Return the operations on agents, sessions and handoffs."""
    return (
        rest(
            *("GET", _AGENTS, "agents", agents.agents, "The agents."),
            {404: "You do not belong to this project, or only operators may list `all`."},
        ),
        rest(
            *("POST", _AGENTS, "register", agents.register, "Registered."),
            {
                **_PROJECT,
                409: "The installation has its maximum of agents.",
                422: "Agents of this type cannot have these capabilities.",
            },
            status=201,
        ),
        rest("GET", _AGENT, "agent", agents.page, "The agent.", _MISSING),
        rest("DELETE", _AGENT, "unregister", agents.unregister, "Unregistered.", _MISSING),
        rest("POST", f"{_AGENT}/take-back", "take_back", agents.take_back, "Taken back.", _MISSING),
        rest(
            *("POST", f"{_AGENT}/sessions", "start_session", agents.start_session, "Started."),
            {**_MISSING, 409: "The installation has its maximum of open sessions."},
            status=201,
        ),
        rest("POST", _SESSION, "use_session", agents.use_session, "Open.", _ENDED),
        rest("DELETE", _SESSION, "end_session", agents.end_session, "Ended.", _ENDED),
        rest("GET", _HANDOFFS, "handoffs", agents.handoffs, "The handoffs.", _PROJECT),
        rest(
            *("POST", f"{_HANDOFFS}/{{id}}/reject", "reject_handoff", agents.reject, "Rejected."),
            {**_MISSING, 409: "It is not pending any more."},
        ),
    )


def pool_operations() -> tuple[Operation, ...]:
    """Return the operations on pools."""
    return (
        rest(
            *("GET", _POOLS, "pools", pools.pools, "The pools."),
            {404: "You do not belong to this project, or only operators may list `all`."},
        ),
        rest("GET", _POOL, "pool", pools.page, "The pool.", _MISSING),
        rest("DELETE", _POOL, "delete_pool", pools.delete, "Deleted.", _MISSING),
        rest(
            *("POST", f"{_POOL}/update", "update_shared", pools.update, "Updated."),
            {
                403: "The agent lacks the capability `memory_write`, or the permission WRITE.",
                404: "The agent is not yours, you cannot use the pool, or no such memory is shared "
                "in it.",
                422: "The text cannot be stored, or it would change the behaviour of others.",
            },
            waits="The text waits for review; nothing changed in the pool.",
            conflict="Another agent was faster: nothing was stored.",
        ),
        rest(
            *("POST", f"{_POOL}/unshare", "unshare", pools.unshare, "No longer shared."),
            {404: "It is not shared there, or is not yours."},
        ),
        rest(
            *("POST", f"{_POOL}/leave", "leave", pools.leave, "It is out of the pool."),
            {404: "It is not there, or is not yours."},
        ),
        rest(
            *("GET", _INVITATIONS, "invitations", pools.invitations),
            *("The invitations.", _PROJECT),
        ),
        rest(
            *("POST", f"{_INVITATIONS}/{{id}}/decline", "decline_invitation", pools.decline),
            *("Declined.", _MISSING),
        ),
    )


OPERATIONS: Final = (
    *document_operations(),
    *memory_operations(),
    *choice_operations(),
    *transfer_operations(),
    *usage_operations(),
    *agent_operations(),
    *pool_operations(),
)
"""Every operation, in the order of the description."""
