"""For every change of a file, each line has a clear outcome and the import never fails."""

import io
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.errors import BadInput
from memory.model.record import MAX_DOCUMENT, MAX_TAGS
from memory.transfer.importer import LineOutcome, LineReport, bring_in
from memory.transfer.line_format import (
    MAX_LINE,
    TABLES,
    Elsewhere,
    ImportLine,
    PairLine,
    Read,
    Unreadable,
    header_from,
    line_from,
)
from memory.transfer.parquet import ParquetWriter, read_parquet
from tests.memory.rig import memory_rig
from tests.memory.stores.records import record
from tests.support.property_cases import cases

HEADER = b'{"format":"parley-memory","version":1,"person":"telegram:main:ada"}\n'
WHOLE = HEADER + b"".join(
    json.dumps(
        {
            "id": f"mem-0b8f2c0e-6a55-4c1c-9a77-2f7a4f9a1f{n:02d}",
            "content": f"Remembers the number {n}",
            "kind": "fact",
            "tags": ["a", "b"],
            "role": "",
            "created_at": "2026-11-01T10:00:00Z",
            "superseded_by": "",
            "superseded_at": None,
        }
    ).encode()
    + b"\n"
    for n in range(4)
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
fields = st.sampled_from([*ImportLine.model_fields, "trust", "embedding", "x"])


async def told_of(data: bytes, tmp_path: Path) -> list[LineReport]:
    file = tmp_path / "mutated"
    file.write_bytes(data)
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        try:
            return [answer async for answer in bring_in(ada, file, "a key that is long enough")]
        except BadInput as error:
            return [LineReport(2, LineOutcome.REFUSED, error.text)]


@settings(
    deadline=None,
    max_examples=cases(120),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
async def test_a_mutated_file_gives_a_result_for_every_line(
    tmp_path: Path, data: st.DataObject
) -> None:
    mutated = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(mutated)))
        kind = data.draw(st.sampled_from(("flip", "put", "take")))
        if kind == "flip" and at < len(mutated):
            mutated[at] ^= data.draw(st.integers(1, 255))
        elif kind == "put":
            mutated[at:at] = data.draw(st.binary(min_size=1, max_size=30))
        else:
            del mutated[at : at + data.draw(st.integers(1, 60))]
    for answer in await told_of(bytes(mutated), tmp_path):
        assert answer.line >= 2
        assert answer.reason or answer.outcome in (LineOutcome.STORED, LineOutcome.WAITING)
        assert len(answer.reason.english) < 2_000


@settings(deadline=None, max_examples=cases(400))
@given(st.dictionaries(fields, json_values, max_size=6))
def test_any_object_is_a_line_or_has_a_reason_that_does_not_repeat_it(values: Any) -> None:
    read = line_from(json.dumps(values).encode())
    if isinstance(read, Unreadable):
        assert read.reason
        assert len(read.reason.english) < 1_000
    elif isinstance(read, Elsewhere):
        assert read.table in TABLES
    elif isinstance(read, PairLine):
        assert read.older
        assert read.newer
        assert read.noticed_at.tzinfo is not None
    else:
        line = read.line
        assert 1 <= len(line.content) <= MAX_DOCUMENT
        assert len(line.tags) <= MAX_TAGS
        for at in (line.created_at, line.expires_at, line.true_from, line.true_until):
            assert at is None or at.tzinfo is not None


@settings(deadline=None, max_examples=cases(300))
@given(st.binary(max_size=300))
def test_any_bytes_are_a_line_or_have_a_reason(data: bytes) -> None:
    assert isinstance(line_from(data), Read)
    problem = "line 1"
    try:
        header_from(data)
    except BadInput as error:
        problem = str(error)
    assert "line 1" in problem


def test_the_reason_does_not_contain_the_text() -> None:
    read = line_from(
        json.dumps({"content": ["hunter2"], "kind": "hunter2", "role": "hunter2"}).encode()
    )
    assert isinstance(read, Unreadable)
    assert "hunter2" not in read.reason.english
    assert "content" in read.reason.english


async def test_a_line_that_is_too_long_is_skipped_and_the_rest_is_imported(tmp_path: Path) -> None:
    good = WHOLE.splitlines(keepends=True)[1]
    for size in (MAX_LINE + 1, 3 * MAX_LINE, 3 * MAX_LINE + 1):
        data = HEADER + b"x" * size + b"\n" + good + b"not json\n" + b"x" * size
        answer = await told_of(data, tmp_path)
        assert [(t.line, t.outcome) for t in answer] == [
            (2, LineOutcome.UNREADABLE),
            (3, LineOutcome.STORED),
            (4, LineOutcome.UNREADABLE),
            (5, LineOutcome.UNREADABLE),
        ]
        assert "longer than 262,144 bytes" in answer[0].reason.english


@settings(deadline=None, max_examples=cases(100))
@given(st.data())
def test_a_mutated_parquet_file_is_read_or_refused(data: st.DataObject) -> None:
    mutated = bytearray(PARQUET)
    for _ in range(data.draw(st.integers(1, 4))):
        mutated[data.draw(st.integers(0, len(mutated) - 1))] ^= data.draw(st.integers(1, 255))
    del mutated[data.draw(st.integers(0, len(mutated))) :]
    try:
        header, *rows = read_parquet(io.BytesIO(bytes(mutated)))
    except BadInput:
        return
    assert isinstance(header, bytes)
    for row in rows:
        assert isinstance(line_from(row), ImportLine | Unreadable)


def _parquet() -> bytes:
    target = io.BytesIO()
    with ParquetWriter(target, {"format": "parley-memory", "version": 1}, lambda _: "") as writer:
        for number in range(5):
            writer.add(record(f"Remembers the number {number}"))
    return target.getvalue()


PARQUET = _parquet()
