"""Whose a document of the brain is, and who may write it."""

from gateway.errors import BadInput
from memory.model.scope import AccessScope
from memory.ports import Document

SYSTEM = "system"
"""The author of what the program writes by itself."""


def owners_of(access: AccessScope, document: Document, *, reading: bool) -> tuple[str, ...]:
    """Whose document is meant, empty for nobody's: a SOUL is all linked identities', and read only
    where the person's own may be shown; the others are the project's."""
    if document == "soul":
        return access.persons if access.private or not reading else ()
    return (access.project,) if access.project else ()


def check_author(access: AccessScope, document: Document, author: str) -> None:
    """Raise `BadInput` unless this author may write: BIBLE by operators, HEARTBEAT by nobody."""
    if document != "soul" and not access.project:
        raise BadInput(f"the {document} belongs to a project; choose one with /project first")
    if author == SYSTEM:
        return
    if document == "heartbeat":
        raise BadInput("the heartbeat is written by the program alone")
    if document == "bible" and not access.operates:
        raise BadInput("the bible is written by operators")
