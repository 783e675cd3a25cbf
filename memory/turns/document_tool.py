"""The tool by which the model keeps a person's documents up to date."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import Field, StringConstraints

from gateway.errors import BadInput, ToolError
from gateway.ports import ToolSpec
from gateway.text import Sentence, Text, counted, text
from memory.documents.lines import (
    dropped_lines,
    number_of,
    with_line_added,
    with_line_changed,
    without_line,
)
from memory.documents.service import DocumentParts, DocumentResult, DocumentService
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import MAX_ARGUMENT, MAX_DOCUMENT, Draft, InputKind, Kind
from memory.service.handle import MemoryHandle, Writable
from memory.service.write import FROM_REPOSITORY, FROM_THREAD
from memory.text.display import quoted_lines
from memory.turns.arguments import Arguments, ShownIds, read_arguments
from memory.write.statement import ExternalText

MAX_ID: Final = 100
UPDATE: Final = ToolSpec(
    "update_customer_brain",
    "Edit SOUL (person), BIBLE (project), add to MEMORY",
    {
        "type": "object",
        "required": ["target", "content"],
        "properties": {
            "target": {"type": "string", "enum": ["soul", "bible", "memory"]},
            "content": {"type": "string"},
            "action": {"type": "string", "enum": ["add_line", "replace_line", "remove_line"]},
            "line": {"type": "string"},
            "quote": {"type": "string"},
            "supersedes": {"type": "string"},
        },
    },
    side_effects=False,
)
PROPOSED: Final[Mapping[str, Sentence]] = {
    "soul": text("A change of your preferences waits for your decision: `/memories review`"),
    "bible": text("I proposed a change of the project notes to the operators."),
}
"""The notice about a document that waits for a decision."""

WOULD_REMOVE: Final = counted(
    "My new version would remove {count} line: {lines}. Keep the new version?",
    "My new version would remove {count} lines: {lines}. Keep the new version?",
)
"""The question about a new version that removes much."""
NO_SUCH_LINE: Final = (
    "The document has no line with exactly this text, or more than one. `current` is its text."
)
NOT_HERE: Final = "`action` and `line` are for soul and bible."
TOO_MUCH: Final = (
    "It would remove lines that are still valid, so the person is asked. Use `action` to change "
    "single lines."
)
NO_LINE: Final = "`line`: give the line to replace, word for word."
NOT_SHOWN: Final = "This turn showed no memory with that id. Search for it, or omit `supersedes`."


class UpdateArguments(Arguments):
    """The arguments of `update_customer_brain`."""

    target: Annotated[
        Literal["soul", "bible", "memory"],
        Field(description="The person's document, the project's document, or a new memory."),
    ]
    content: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_DOCUMENT),
        Field(
            description="The line to add or to remove, or the new line; without `action` the whole "
            "new document, or the memory."
        ),
    ]
    action: Annotated[
        Literal["add_line", "replace_line", "remove_line"] | None,
        Field(description="The change of one line, the normal way to change a document."),
    ] = None
    line: Annotated[
        str,
        StringConstraints(max_length=MAX_DOCUMENT),
        Field(description="The line to replace, word for word."),
    ] = ""
    quote: Annotated[
        str,
        StringConstraints(max_length=MAX_ARGUMENT),
        Field(description="The sentence of the person that states it, word for word."),
    ] = ""
    supersedes: Annotated[
        str,
        StringConstraints(max_length=MAX_ID),
        Field(description="The id of the memory that it replaces."),
    ] = ""


class AskedChange(Struct, frozen=True):
    """A new version of a document that waits for the person, and the lines that it would
    remove."""

    review_id: str
    lost: tuple[str, ...]


class DocumentTool:
    """Implements `gateway.ports.ToolProvider`. `results` are the writes so far."""

    def __init__(
        self,
        handle: MemoryHandle,
        documents: DocumentService,
        external: ExternalText,
        shown: ShownIds,
    ) -> None:
        """`external` is the text that the model reads in this turn and the person did not write,
        `shown` are the memories that it reads."""
        self._handle = handle
        self._shown = shown
        self._external = external
        self._documents = documents
        self._based_on: dict[str, int] = {}
        self.results: list[WriteResult] = []
        self.notices: list[Text] = []
        self.asked: list[AskedChange] = []
        self._dropped: Counter[str] = Counter()
        self.written: list[str] = []
        """The versions that were written, each named as `/undo` takes it."""

    def has_read(self, parts: DocumentParts) -> None:
        """Note the versions that the model was shown, which a rewrite is based on."""
        self._based_on = {"soul": parts.soul_number, "bible": parts.bible_number}

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the specification of the tool."""
        return (UPDATE,)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """The answer as JSON. Raises `ToolError` for arguments that cannot be used."""
        if name != UPDATE.name:
            raise ToolError(f"there is no tool {name!r}")
        update = read_arguments(UpdateArguments, arguments)
        if update.target == "memory":
            if update.action or update.line:
                raise ToolError(NOT_HERE)
            return await self._remember(update)
        if self._external.from_repository:
            return as_json({"success": False, "error": FROM_REPOSITORY.english})
        if self._external.from_thread:
            return as_json({"success": False, "error": FROM_THREAD.english})
        try:
            return as_json(await self._changed(update.target, update))
        except BadInput as error:
            return as_json({"success": False, "error": str(error)})

    async def _changed(self, target: Writable, update: UpdateArguments) -> dict[str, object]:
        """Change a document, and return the answer. Raises `BadInput`."""
        if update.action is None:
            return self._noted(target, await self._write(target, update.content))
        if update.action == "replace_line" and not update.line.strip():
            return {"success": False, "error": NO_LINE}
        present = await self._handle.documents.read(target)
        before = present.content if present is not None else ""
        after = _edited(target, before, update)
        if after is None:
            return {"success": False, "error": NO_SUCH_LINE, "current": before}
        if after == before and present is not None:
            return {"success": True, "version": present.number}
        self._dropped[target] += len(dropped_lines(before, after))
        self._based_on[target] = present.number if present is not None else 0
        return self._noted(target, await self._write(target, after, self._dropped[target]))

    async def _write(
        self, target: Writable, content: str, dropped: int | None = None
    ) -> DocumentResult:
        return await self._documents.write(
            *(self._handle.request, self._handle.access, target, content, InputKind.ASSISTANT),
            based_on=self._based_on.get(target),
            external=self._external.any,
            dropped=dropped,
        )

    def _noted(self, target: Writable, written: DocumentResult) -> dict[str, object]:
        """Note a result for the person, and return the answer to the model."""
        if written.version is not None:
            self._based_on[target] = written.version.number
        if written.written == "written" and written.version is not None:
            self.written.append(f"{target}-{written.version.number}")
        self.notices += written.notices
        if written.written == "proposed":
            self.notices.append(PROPOSED[target])
        if written.lost:
            self.asked.append(AskedChange(written.review_id, written.lost))
        return _answer(written)

    async def _remember(self, update: UpdateArguments) -> str:
        old = replaced_id(update.supersedes, self._shown)
        if old is None:
            return as_json({"success": False, "error": NOT_SHOWN})
        draft = Draft(update.content, Kind.FACT, supersedes=old, quote=update.quote)
        result = await self._handle.write.infer(draft, self._external)
        self.results.append(result)
        return as_json(stored_answer(result))

    async def close(self) -> None:
        """Do nothing."""


def _edited(target: Writable, content: str, update: UpdateArguments) -> str | None:
    """Return a document with one line added, changed or deleted; None if the line is not there.
    Raises `BadInput` above the limit of a document."""
    if update.action == "add_line":
        known = number_of(content, update.content)
        return content if known else with_line_added(target, content, update.content)
    number = number_of(content, update.line if update.action == "replace_line" else update.content)
    if not number:
        return None
    if update.action == "remove_line":
        return without_line(target, content, number)
    return with_line_changed(target, content, number, update.content)


def would_remove(lost: Sequence[str]) -> Text:
    """Return the question about a new version that removes these lines; the first ones are
    quoted."""
    return WOULD_REMOVE.of(count=len(lost), lines=quoted_lines(lost))


def _answer(result: DocumentResult) -> dict[str, object]:
    if result.written == "written" and result.version is not None:
        return {"success": True, "version": result.version.number}
    if result.written == "proposed":
        return {
            "success": False,
            "status": "waiting_for_review",
            "error": TOO_MUCH
            if result.lost
            else "It waits for the review of a person who may change it.",
        }
    current = result.version.content if result.version else ""
    return {
        "success": False,
        "error": "It was changed meanwhile. `current` is its text now; write all of it again.",
        "current": current,
    }


def as_json(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def replaced_id(name: str | None, shown: ShownIds) -> str | None:
    """Return the id of the memory that the model replaces, empty for none; None if it was not
    shown."""
    return shown.named(name) if name else ""


def stored_answer(result: WriteResult) -> dict[str, object]:
    """Return the result of a write for the model."""
    if result.outcome is Outcome.STORED:
        answer: dict[str, object] = {"success": True, "id": result.memory_id}
    elif result.outcome is Outcome.REVIEW:
        answer = {
            "success": False,
            "status": "waiting_for_the_person",
            "error": result.reason.english,
        }
    else:
        answer = {"success": False, "error": result.reason.english}
    if result.notices:
        answer["notices"] = [one.english for one in result.notices]
    return answer
