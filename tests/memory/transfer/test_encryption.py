"""An encrypted file can be read with its key only, and every change of it is detected."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import BadInput
from memory.transfer.encryption import CHUNK, MAGIC, NOT_THE_KEY, TAG, Opener, Sealer, check_key
from memory.transfer.exporter import written
from tests.support.property_cases import cases

KEY = "correct horse battery"
CHEAP = 4
"""log2 of scrypt's N, so that hundreds of files are sealed in a test."""
HEADER = len(MAGIC) + 4 + 16 + 7 + 16


def sealed(text: bytes, key: str = KEY, cost: int = CHEAP) -> bytes:
    target = io.BytesIO()
    with Sealer(target, key, cost=cost) as sealer:
        sealer.write(text)
    return target.getvalue()


def opened(data: bytes, key: str = KEY) -> bytes:
    with io.BufferedReader(Opener(io.BytesIO(data), key)) as reader:
        return reader.read()


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7])
def test_an_encrypted_text_is_decrypted_unchanged(size: int) -> None:
    text = bytes(i % 251 for i in range(size))
    data = sealed(text)
    assert opened(data) == text
    chunks = max(1, -(-size // CHUNK))
    assert len(data) == HEADER + size + chunks * TAG


def test_lines_are_readable_during_decryption() -> None:
    lines = [b"%d " % number + b"x" * (number % 500) + b"\n" for number in range(2_000)]
    with io.BufferedReader(Opener(io.BytesIO(sealed(b"".join(lines))), KEY)) as reader:
        assert list(reader) == lines


def test_two_encryptions_of_one_text_have_nothing_in_common() -> None:
    one, other = sealed(b"the same" * 100), sealed(b"the same" * 100)
    assert one[HEADER:] != other[HEADER:]
    assert b"the same" not in one


def test_the_default_cost_works() -> None:
    target = io.BytesIO()
    with Sealer(target, KEY) as sealer:
        sealer.write(b"text")
    assert opened(target.getvalue()) == b"text"


def test_a_wrong_key_is_distinguished_from_a_damaged_file() -> None:
    data = sealed(b"text")
    with pytest.raises(BadInput, match="does not decrypt the file"):
        opened(data, "another long key")
    with pytest.raises(BadInput, match="changed or cut off"):
        opened(data[:-1] + bytes([data[-1] ^ 1]))


@settings(deadline=None, max_examples=cases(150))
@given(st.data())
def test_a_changed_truncated_or_reordered_file_is_refused(
    data: st.DataObject,
) -> None:
    text = bytes(range(256)) * (3 * CHUNK // 256)
    whole = SEALED[text] if text in SEALED else SEALED.setdefault(text, sealed(text))
    kind = data.draw(st.sampled_from(("flip", "cut", "swap", "drop", "append")))
    size = CHUNK + TAG
    if kind == "flip":
        at = data.draw(st.integers(0, len(whole) - 1))
        bit = 1 << data.draw(st.integers(0, 7))
        mutated = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
    elif kind == "cut":
        mutated = whole[: data.draw(st.integers(0, len(whole) - 1))]
    elif kind == "swap":
        head, first = whole[:HEADER], whole[HEADER : HEADER + size]
        mutated = head + whole[HEADER + size : HEADER + 2 * size] + first
        mutated += whole[HEADER + 2 * size :]
    elif kind == "drop":
        number = data.draw(st.integers(0, 2))
        at = HEADER + number * size
        mutated = whole[:at] + whole[at + size :]
    else:
        mutated = whole + data.draw(st.binary(min_size=1, max_size=100))
    with pytest.raises(BadInput):
        opened(mutated)


SEALED: dict[bytes, bytes] = {}


@settings(deadline=None, max_examples=cases(100))
@given(st.binary(max_size=200))
def test_other_files_are_refused(data: bytes) -> None:
    for given_bytes in (data, MAGIC + data):
        with pytest.raises(BadInput):
            opened(given_bytes)


def test_a_file_cannot_request_more_memory_than_the_default() -> None:
    data = bytearray(sealed(b"text"))
    data[len(MAGIC) + 1] = 30
    with pytest.raises(BadInput) as refused:
        opened(bytes(data))
    assert str(refused.value) == NOT_THE_KEY


@pytest.mark.parametrize("key", ["", "too short", "x" * 1_001])
def test_a_key_has_a_minimum_length(key: str) -> None:
    with pytest.raises(BadInput, match="12 to 1000 characters"):
        check_key(key)


def test_the_line_break_of_a_key_file_is_not_part_of_the_key() -> None:
    assert check_key(KEY + "\r\n") == KEY


def test_a_file_appears_complete_and_is_private(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with written(target) as file:
        file.write(b"text")
        assert not target.exists()
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(BadInput, match="--force"), written(target):
        pass
    with pytest.raises(ZeroDivisionError), written(target, overwrite=True) as file:
        file.write(b"half of %d" % (1 // 0))
    assert target.read_bytes() == b"text"
    assert list(tmp_path.iterdir()) == [target]
