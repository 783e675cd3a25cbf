"""The error for a document that cannot be read, with the sentence for people."""

from collections.abc import Mapping
from typing import Final

from gateway.documents.model import UnreadableReason
from gateway.errors import BadInput
from gateway.text import Size, Text, text

SENTENCES: Final[Mapping[UnreadableReason, Text]] = {
    "encrypted": text("The document is protected by a password."),
    "damaged": text("The document is damaged or incomplete."),
    "empty": text("The document is empty."),
    "expands_too_much": text("The document unpacks to more data than can be read."),
    "too_slow": text("Reading the document takes too long."),
    "too_much_memory": text("Reading the document needs too much memory."),
    "unsafe": text("The document has parts that are not safe to read."),
    "unsupported": text("Documents of this kind cannot be read."),
    "library_missing": text(
        "The libraries that read this kind of document are not installed. An operator installs them"
        " with `pip install 'parley-gateway[documents]'`."
    ),
    "broke_down": text("The program that reads documents failed at this one."),
    "busy": text("Too many documents are being read at this moment; send it again later."),
}
_TOO_LARGE: Final = text("The document is larger than {size}.")


class UnreadableDocument(BadInput):
    """A document cannot be read, for `reason`."""

    code = "unreadable_document"

    def __init__(self, reason: UnreadableReason, most: int = 0) -> None:
        """`most` is the number of bytes that a document may have, for the reason `too_large`."""
        sentence = _TOO_LARGE.of(size=Size(most)) if reason == "too_large" else SENTENCES[reason]
        super().__init__(sentence)
        self.reason: UnreadableReason = reason
