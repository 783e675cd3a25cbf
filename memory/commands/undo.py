"""`/undo` and its button: delete memories that the assistant stored without a question."""

from typing import Final

from gateway.message import Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from memory.model.record import ID_PREFIX
from memory.service.handle import MemoryHandle
from memory.service.undo import UndoResult, document_named
from memory.text.display import one_line

SPEC: Final = CommandSpec(
    "undo", "Delete what you noted on your own", True, "id", True, "an id; alone: the latest"
)
MAX_NAME: Final = 60
MAX_SHOWN: Final = 5
TAKEN_BACK: Final = "I deleted what I had noted."
RESTORED: Final = "Valid again:"
DOCUMENT: Final = "I undid my change of the {name}."
NO_DOCUMENT: Final = (
    "It was changed since then, or I wrote it more than a day ago. `/{name} undo` restores the "
    "previous version."
)


async def undone(handle: MemoryHandle, caller: Caller, name: str) -> Reply:
    """Undo the turn of one memory, one version of a document, or the latest turn. Raises `NotFound`
    if this person has none."""
    name = name.strip().strip("`")[:MAX_NAME]
    document = document_named(name)
    if document is not None:
        which, number = document
        if await handle.documents.take_back(which, number):
            return Reply(DOCUMENT.format(name=which.upper()))
        return Reply(NO_DOCUMENT.format(name=which))
    memory_id = f"{ID_PREFIX}{name}" if name and not name.startswith(ID_PREFIX) else name
    result = await handle.write.undo(memory_id)
    quiet = caller.place.audience is not Audience.DIRECT and not caller.alone
    return Reply(TAKEN_BACK if quiet else undo_text(result))


def undo_text(result: UndoResult) -> str:
    """Return the deleted memories and those that are valid again."""
    gone = [f"- {one_line(one.content)}" for one in result.gone[:MAX_SHOWN]]
    more = len(result.gone) - MAX_SHOWN
    parts = [TAKEN_BACK, "\n".join(gone), f"and {more} more" if more > 0 else ""]
    if result.restored:
        again = [f"- {one_line(one.content)}" for one in result.restored[:MAX_SHOWN]]
        parts += [RESTORED, "\n".join(again)]
    return "\n\n".join(filter(None, parts))
