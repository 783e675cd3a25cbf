"""The reader of the documents that people send."""

from gateway.documents.model import MB, DocumentLimits
from gateway.documents.reader import DocumentReader
from parley.config import Settings


def document_reader(settings: Settings) -> DocumentReader | None:
    """Return the reader within the configured limits; None if documents are not read."""
    documents = settings.documents
    if not documents.enabled:
        return None
    limits = DocumentLimits(
        bytes=documents.max_megabytes * MB, picture_pages=documents.picture_pages
    )
    return DocumentReader(limits)
