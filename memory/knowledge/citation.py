"""The citation of a part of a file, and its address on the web where the remote's host is known."""

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from memory.knowledge.model import ChunkHit

SHORT_COMMIT: Final = 12
MAX_REMOTE: Final = 2_000
_REMOTE: Final = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@\s]{1,200}@)?|[\w.-]{1,100}@)"
    r"(?P<host>[A-Za-z0-9.-]{1,200})(?::(?:\d{1,5}/)?|/)/?(?P<path>[\w./~+-]{1,500}?)(?:\.git)?/?"
)


def citation_of(hit: ChunkHit) -> str:
    """Return `path:first-last@commit`."""
    lines = f"{hit.first_line}-{hit.last_line}"
    if hit.first_line == hit.last_line:
        lines = str(hit.first_line)
    return f"{hit.path}:{lines}@{hit.commit[:SHORT_COMMIT]}"


def link_of(hit: ChunkHit) -> str:
    """Return the address of the lines, empty without a remote on a known host."""
    found = _REMOTE.fullmatch(hit.repository.remote[:MAX_REMOTE])
    if found is None:
        return ""
    form = _FORMS.get(found["host"].lower())
    if form is None or ".." in found["path"]:
        return ""
    repository = f"https://{found['host'].lower()}/{quote(found['path'])}"
    return repository + form(hit.commit, quote(hit.path), hit.first_line, hit.last_line)


_FORMS: Final[Mapping[str, Callable[[str, str, int, int], str]]] = {
    "github.com": "/blob/{}/{}#L{}-L{}".format,
    "gitlab.com": "/-/blob/{}/{}#L{}-{}".format,
    "bitbucket.org": "/src/{}/{}#lines-{}:{}".format,
    "codeberg.org": "/src/commit/{}/{}#L{}-L{}".format,
}
