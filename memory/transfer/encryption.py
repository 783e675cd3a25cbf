"""Encrypted files: AES-256-GCM in chunks, with a key derived by scrypt."""

import hashlib
import hmac
import io
import os
import struct
from typing import TYPE_CHECKING, BinaryIO, Final

from msgspec import Struct

from gateway.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC: Final = b"parley-sealed\n"
VERSION: Final = 1
CHUNK: Final = 64 * 1024
TAG: Final = 16
MAX_CHUNKS: Final = 2**20
"""64 GiB; the chunk's number has room for more."""
COST: Final = 17
"""log2 of N: 128 MiB and some tenths of a second for each guess (OWASP's figure for scrypt)."""
MAX_COST: Final = 18
BLOCK: Final = 8
MIN_KEY: Final = 12
"""Characters of a key that a person may choose."""
MAX_KEY: Final = 1_000

_HEAD: Final = struct.Struct(f">{len(MAGIC)}sBBBB16s7s")
_PROOF: Final = 16
NOT_THE_KEY: Final = "this key does not decrypt the file (or its first line was changed)"


class _Keys(Struct, frozen=True):
    """The keys derived from a person's key: one encrypts, the other proves the key."""

    header: bytes
    cipher: "AESGCM"
    nonce: bytes

    def nonce_of(self, number: int, last: bool) -> bytes:
        """Never the same twice in a file, and the file's part never the same for a salt."""
        return self.nonce + number.to_bytes(4) + bytes([last])


def check_key(key: str) -> str:
    """The key without the line break at the end of its file.

    Raises `BadInput` for one of fewer than 12 or more than 1,000 characters.
    """
    plain = key.rstrip("\r\n")
    if not MIN_KEY <= len(plain) <= MAX_KEY:
        raise UsageError(f"a key has {MIN_KEY} to {MAX_KEY} characters; this one has {len(plain)}")
    return plain


def is_sealed(beginning: bytes) -> bool:
    """True if a file begins like an encrypted export."""
    return beginning.startswith(MAGIC)


class Sealer(io.RawIOBase):
    """Writes an encrypted file; `close` writes its end and leaves `target` open."""

    def __init__(self, target: BinaryIO, key: str, *, cost: int = COST) -> None:
        self._target = target
        salt, nonce = os.urandom(16), os.urandom(7)
        head = _HEAD.pack(MAGIC, VERSION, cost, BLOCK, 1, salt, nonce)
        self._keys = _keys_of(head, key)
        self._held = bytearray()
        self._number = 0
        target.write(self._keys.header)

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        """Accept text; full chunks are written."""
        self._held += data
        while len(self._held) > CHUNK:
            self._put(bytes(self._held[:CHUNK]), last=False)
            del self._held[:CHUNK]
        return memoryview(data).nbytes

    def close(self) -> None:
        """Write the last chunk. Without it the file cannot be read."""
        if not self.closed:
            self._put(bytes(self._held), last=True)
        super().close()

    def _put(self, text: bytes, *, last: bool) -> None:
        if self._number >= MAX_CHUNKS:
            raise UsageError("this is too much for one encrypted file")
        nonce = self._keys.nonce_of(self._number, last)
        self._target.write(self._keys.cipher.encrypt(nonce, text, self._keys.header))
        self._number += 1


class Opener(io.RawIOBase):
    """Reads an encrypted file; wrap it into `io.BufferedReader` for lines.

    Raises `BadInput` for another key, and at a changed or missing part.
    """

    def __init__(self, source: BinaryIO, key: str) -> None:
        self._source = source
        self._keys = _proven(source, key)
        self._ahead = source.read(CHUNK + TAG)
        self._text = b""
        self._number = 0
        self._ended = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Some of the text, nothing at its end."""
        while not self._text and not self._ended:
            self._text = self._next()
        view = memoryview(buffer).cast("B")
        some, self._text = self._text[: len(view)], self._text[len(view) :]
        view[: len(some)] = some
        return len(some)

    def _next(self) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - loaded with the first use

        if self._number >= MAX_CHUNKS:
            raise UsageError("the encrypted file is larger than any that this program writes")
        sealed, self._ahead = self._ahead, self._source.read(CHUNK + TAG)
        self._ended = not self._ahead
        nonce = self._keys.nonce_of(self._number, self._ended)
        self._number += 1
        try:
            return self._keys.cipher.decrypt(nonce, sealed, self._keys.header)
        except (InvalidTag, ValueError):
            at = (self._number - 1) * CHUNK
            raise UsageError(
                f"the encrypted file was changed or cut off after byte {at:,}"
            ) from None


def _proven(source: BinaryIO, key: str) -> _Keys:
    head, proof = source.read(_HEAD.size), source.read(_PROOF)
    if len(proof) < _PROOF or not is_sealed(head):
        raise UsageError("this is not an encrypted file of Parley, or it is cut off")
    _, version, cost, block, lanes, _, _ = _HEAD.unpack(head)
    if version != VERSION:
        raise UsageError(f"the file has encryption version {version}; this program reads {VERSION}")
    if not 1 <= cost <= MAX_COST or block != BLOCK or lanes != 1:
        raise UsageError(NOT_THE_KEY)
    keys = _keys_of(head, key)
    if not hmac.compare_digest(keys.header, head + proof):
        raise UsageError(NOT_THE_KEY)
    return keys


def _keys_of(head: bytes, key: str) -> _Keys:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 20 ms, 10 MB

    _, _, cost, block, lanes, salt, nonce = _HEAD.unpack(head)
    made = hashlib.scrypt(
        check_key(key).encode(),
        salt=salt,
        n=2**cost,
        r=block,
        p=lanes,
        maxmem=2 * 128 * block * 2**cost,
        dklen=64,
    )
    proof = hmac.new(made[32:], head, hashlib.sha256).digest()[:_PROOF]
    return _Keys(head + proof, AESGCM(made[:32]), nonce)
