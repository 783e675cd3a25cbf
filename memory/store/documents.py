"""Whose a document of the brain is, and who may write it."""

from gateway.errors import BadInput
from memory.scope import Reach
from memory.store.ports import Document

SYSTEM = "system"
"""The author of what the program writes by itself."""


def owners_of(reach: Reach, document: Document, *, reading: bool) -> tuple[str, ...]:
    """Whose document is meant, empty for nobody's: a SOUL is all linked identities', and read only
    where the person's own may be shown; the others are the project's."""
    if document == "soul":
        return reach.persons if reach.private or not reading else ()
    return (reach.project,) if reach.project else ()


def check_author(reach: Reach, document: Document, author: str) -> None:
    """Raise `BadInput` unless this author may write: BIBLE by operators, HEARTBEAT by nobody."""
    if document != "soul" and not reach.project:
        raise BadInput(f"the {document} belongs to a project; choose one with /project first")
    if author == SYSTEM:
        return
    if document == "heartbeat":
        raise BadInput("the heartbeat is written by the program alone")
    if document == "bible" and not reach.operates:
        raise BadInput("the bible is written by operators")
