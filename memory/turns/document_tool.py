"""The tool by which the model keeps a person's documents up to date."""

import json
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, ToolError
from gateway.ports import ToolSpec
from gateway.text import Sentence, Text, text
from memory.documents.service import DocumentParts, DocumentResult, DocumentService
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import MAX_ARGUMENT, MAX_DOCUMENT, Draft, InputKind, Kind
from memory.service.handle import MemoryHandle
from memory.service.write import FROM_REPOSITORY, FROM_THREAD
from memory.turns.arguments import Arguments, ShownIds, read_arguments
from memory.write.statement import ExternalText

MAX_ID: Final = 100
UPDATE: Final = ToolSpec(
    "update_customer_brain",
    "Replace SOUL (person) or BIBLE (project), add to MEMORY",
    {
        "type": "object",
        "required": ["target", "content"],
        "properties": {
            "target": {"type": "string", "enum": ["soul", "bible", "memory"]},
            "content": {"type": "string", "maxLength": MAX_DOCUMENT},
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
        Field(description="The whole new document, or the memory."),
    ]
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
            return await self._remember(update)
        if self._external.from_repository:
            return as_json({"success": False, "error": FROM_REPOSITORY.english})
        if self._external.from_thread:
            return as_json({"success": False, "error": FROM_THREAD.english})
        try:
            written = await self._documents.write(
                self._handle.request,
                self._handle.access,
                update.target,
                update.content,
                InputKind.ASSISTANT,
                based_on=self._based_on.get(update.target),
                external=self._external.any,
            )
        except BadInput as error:
            return as_json({"success": False, "error": str(error)})
        if written.version is not None:
            self._based_on[update.target] = written.version.number
        if written.written == "written" and written.version is not None:
            self.written.append(f"{update.target}-{written.version.number}")
        self.notices += written.notices
        if written.written == "proposed":
            self.notices.append(PROPOSED[update.target])
        return as_json(_answer(written))

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


def _answer(result: DocumentResult) -> dict[str, object]:
    if result.written == "written" and result.version is not None:
        return {"success": True, "version": result.version.number}
    if result.written == "proposed":
        return {
            "success": False,
            "status": "waiting_for_review",
            "error": "It waits for the review of a person who may change it.",
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
