"""The text of a turn that the person did not write: what the model stores may come from there."""

from collections.abc import Collection, Sequence
from typing import Final

from gateway.authorship import Authorship, Material
from memory.model.record import Provenance, Record, Scope, SourceType, Trust
from memory.model.trust import InputKind
from memory.write.statement import stands_in

MAX_TEXTS: Final = 100
MAX_TEXT: Final = 20_000
"""Texts that are looked through, and characters of each; more only counts as there."""
INSIDE: Final[frozenset[Authorship]] = frozenset({"your_answer"})
"""Not from outside: the assistant's own answer, quoted."""
WAYS: Final[dict[Authorship, InputKind]] = {
    "file": InputKind.DOCUMENT,
    "tool": InputKind.TOOL,
    "web": InputKind.WEB,
    "preview": InputKind.WEB,
    "advert": InputKind.WEB,
}
"""A file is believed as a tool's output is (sources 001: "File could be hostile"); what is not
named here is text of other people."""


class ExternalText:
    """Collects what the model reads in one turn that the person did not write."""

    def __init__(self, pieces: Sequence[Material] = ()) -> None:
        self._texts: list[tuple[InputKind, str]] = []
        self.any = False
        """True as soon as something came from outside, whatever it says."""
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Material) -> None:
        """Note a text, as the model is about to read it."""
        if piece.authorship in INSIDE:
            return
        self.any = True
        if len(self._texts) < MAX_TEXTS and piece.text.strip():
            way = WAYS.get(piece.authorship, InputKind.OTHERS_WORDS)
            self._texts.append((way, piece.text[:MAX_TEXT]))

    def kind_of_input(self, content: str, quote: str) -> InputKind:
        """The way in of what the model stores and the person did not say: that of the text in
        which the quote, or what is stored, stands; otherwise the assistant's conclusion."""
        for way, text in self._texts:
            if stands_in(quote, text) or stands_in(content, text):
                return way
        return InputKind.ASSISTANT


def shown_before(record: Record, persons: Collection[str]) -> tuple[Material, ...]:
    """A recalled memory as text of this turn, where it came from outside, or somebody else than
    these persons said it in the same room."""
    said = record.provenance
    if said.external:
        return (Material(_authorship(said), record.content),)
    others = record.scope is Scope.USER and said.person not in persons
    return (Material("room", record.content),) if others else ()


def _authorship(said: Provenance) -> Authorship:
    """The authorship that a memory from outside has when it is recalled: never one that is trusted
    more than it."""
    if said.trust is Trust.LOW:
        return "web"
    return "file" if said.source is SourceType.TOOL_OUTPUT else "forwarded"
