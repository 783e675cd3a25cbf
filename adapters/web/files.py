"""The files that people sent and the assistant answered with: in memory, bounded."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from gateway.errors import BadInput


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file and whose it is; nobody else is given its bytes."""

    id: str
    owner: str
    name: str
    mime: str
    data: bytes = field(repr=False)


class FileStore:
    """Files by id, at most `max_bytes` together; the oldest go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._files: OrderedDict[str, StoredFile] = OrderedDict()

    def add(self, owner: str, name: str, mime: str, data: bytes) -> StoredFile:
        """Keep a file under a new, unguessable id. Raises `BadInput` when it can never fit."""
        if len(data) > self._max_bytes:
            raise BadInput(f"{name}: {len(data)} bytes, at most {self._max_bytes} can be kept")
        stored = StoredFile(secrets.token_urlsafe(16), owner, name, mime, data)
        self._files[stored.id] = stored
        self._bytes += len(data)
        while self._bytes > self._max_bytes:
            _, oldest = self._files.popitem(last=False)
            self._bytes -= len(oldest.data)
        return stored

    def get(self, file_id: str, owner: str) -> StoredFile | None:
        """The file, when it is still kept and belongs to `owner`."""
        found = self._files.get(file_id)
        return found if found is not None and found.owner == owner else None
