"""Splitting files into chunks that are found and shown as one.

Code is split at its definitions, documents at their headings, anything else by lines. The chunks of
a file, joined in order, are the file; time grows with its length and with nothing else.
"""

from memory.knowledge.model import FileKind, SplitFile
from memory.knowledge.splitting.code import split_code
from memory.knowledge.splitting.decisions import Standing, standing_of
from memory.knowledge.splitting.documents import front_matter, headings_in, split_document, title_of
from memory.knowledge.splitting.kinds import DOCUMENTS, kind_of, language_of, services_of, topics_of
from memory.knowledge.splitting.pieces import lines_of

__all__ = ["split_file"]


def split_file(path: str, text: str) -> SplitFile:
    """Split a file. `path` is relative to its repository, with "/" between folders."""
    language = language_of(path)
    lines = lines_of(text)
    if language not in DOCUMENTS:
        return SplitFile(
            kind_of(path, language, ()),
            language,
            services=services_of(path, {}, ()),
            topics=topics_of(path, {}),
            chunks=split_code(language, lines),
        )
    fields, begin = front_matter(lines)
    headings = headings_in(language, lines, begin)
    kind = kind_of(path, language, headings)
    standing = Standing()
    if kind in {FileKind.DECISION, FileKind.INCIDENT}:
        standing = standing_of(path, lines, headings, fields)
    title = " ".join(fields.get("title", ())) or title_of(headings)
    return SplitFile(
        kind,
        language,
        title,
        standing.status,
        standing.date,
        standing.supersedes,
        standing.superseded_by,
        services_of(path, fields, lines if kind is FileKind.INCIDENT else ()),
        topics_of(path, fields),
        split_document(lines, headings),
    )
