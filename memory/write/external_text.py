"""External text of a turn: what the model reads and the person did not write."""

from collections.abc import Collection, Sequence
from typing import Final

from gateway.authorship import Authorship, Material
from memory.model.record import Provenance, Record, Scope, SourceType, Trust
from memory.model.trust import InputKind
from memory.write.statement import stands_in

MAX_TEXTS: Final = 100
MAX_TEXT: Final = 20_000
"""Texts that are searched, and characters of each; further ones only count."""
INSIDE: Final[frozenset[Authorship]] = frozenset({"your_answer"})
"""Not external: the assistant's own answer, quoted."""
INPUT_KINDS: Final[dict[Authorship, InputKind]] = {
    "file": InputKind.DOCUMENT,
    "repository": InputKind.DOCUMENT,
    "tool": InputKind.TOOL,
    "web": InputKind.WEB,
    "preview": InputKind.WEB,
    "advert": InputKind.WEB,
}
"""A file is trusted like the output of a tool, because it may be hostile; other
authorships are text of other people."""


class ExternalText:
    """The external texts of one turn."""

    def __init__(self, pieces: Sequence[Material] = ()) -> None:
        self._texts: list[tuple[InputKind, str]] = []
        self.any = False
        """True after any external text, whatever its content."""
        self.from_repository = False
        """True after text of a repository that not everybody may read, or after an answer that was
        made from it. A memory is recalled in other places than the repository, so the turn leaves
        none but the person's own sentences."""
        self.from_thread = False
        """True after messages of a thread that were not addressed to the assistant, or after an
        answer that was made from them. Nothing of them is kept, so the turn leaves none but the
        person's own sentences."""
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Material) -> None:
        """Note a text that the model is about to read."""
        if piece.authorship in INSIDE:
            return
        self.any = True
        self.from_repository |= piece.authorship == "repository"
        self.from_thread |= piece.authorship == "thread"
        if len(self._texts) < MAX_TEXTS and piece.text.strip():
            kind = INPUT_KINDS.get(piece.authorship, InputKind.OTHERS_WORDS)
            self._texts.append((kind, piece.text[:MAX_TEXT]))

    def kind_of_input(self, content: str, quote: str) -> InputKind:
        """Return the input kind of what the model stores: that of the external text which contains
        it, or else the assistant's inference."""
        for kind, text in self._texts:
            if stands_in(quote, text) or stands_in(content, text):
                return kind
        return InputKind.ASSISTANT


def shown_before(record: Record, persons: Collection[str]) -> tuple[Material, ...]:
    """Return a recalled memory as external text, if its source is external, another person wrote it
    in this room, or it may contain text of a restricted repository."""
    provenance = record.provenance
    if provenance.from_repository:
        return (Material("repository", record.content),)
    if provenance.external:
        return (Material(_authorship(provenance), record.content),)
    others = record.scope is Scope.USER and provenance.person not in persons
    return (Material("room", record.content),) if others else ()


def _authorship(provenance: Provenance) -> Authorship:
    """Return the authorship of an external memory when it is recalled, never one with more
    trust."""
    if provenance.trust is Trust.LOW:
        return "web"
    return "file" if provenance.source is SourceType.TOOL_OUTPUT else "forwarded"
