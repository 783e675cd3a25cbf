"""Stores a record, with everything that speaks against it asked in the same step.

Whoever writes for a person holds the lock of everybody that person is linked with, so that of two
writers the second sees what the first stored. Two round trips: the questions, and the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from db import FOR_UPDATE, Params, Row, Statement, Work, among, execute, fetch, lock, together
from db.fragments import listed, within
from db.work import Change, Execute, Fetch
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope
from memory.model.scope_sql import MAY_CHANGE, OWN, SEES, TENANT, parameters
from memory.ports.memories import Duplicate, Insertion
from memory.stores.duplicates import DuplicateKeys, duplicate_in
from memory.stores.partitions import duplicate_partitions
from memory.stores.rows import INSERT, origins_of, values_of

CURRENT: Final = "m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > :now)"
COUNT: Final = Statement(f"""
    SELECT count(*) FROM memories m WHERE m.tenant = :for_tenant AND {OWN}
        AND m.role = '' AND m.tier <> 'working' AND {CURRENT}
""")  # noqa: S608 - constants
"""What counts towards a plan: what was learned, not the turns of conversations."""
KNOWN: Final = Statement("SELECT id FROM memories WHERE id = :id")
KNOWN_AMONG: Final = Statement(f"SELECT id FROM memories WHERE {among('id', 'ids')}")  # noqa: S608
TARGET: Final = Statement(f"""
    SELECT m.seq, m.superseded_by = '' FROM memories m
    WHERE m.id = :target AND {SEES} AND {MAY_CHANGE} AND m.superseded_by IN ('', :id)
        AND (m.expires_at IS NULL OR m.expires_at > :now) {FOR_UPDATE}
""")  # noqa: S608 - constants
"""By this very record it may be replaced already: both came from an export, the older one first."""
CANDIDATES: Final = Statement(f"""
    SELECT m.id, m.content FROM memories m WHERE {
    within(
        "m.seq",
        f"SELECT w.memory FROM memory_words w WHERE {among('w.word', 'alike')}"
        " AND w.size BETWEEN :least AND :most",
    )
} AND {TENANT} AND m.scope = :scope AND m.project = :project
        AND (m.scope <> 'user' OR {OWN}) AND m.id <> :target AND {CURRENT}
""")  # noqa: S608 - constants
REPLACED: Final = Statement(f"""
    DELETE FROM memories AS m WHERE m.id = :id AND m.role <> '' AND {MAY_CHANGE}
""")  # noqa: S608 - constants
FILE: Final = Statement(f"""
    INSERT INTO memory_words (word, size, memory)
    SELECT filed.value, :size, m.seq
    FROM memories m, {listed("stored", "filed", "bigint")} WHERE m.id = :id ON CONFLICT DO NOTHING
""")  # noqa: S608 - constants
DERIVE: Final = Statement(
    "INSERT INTO memory_origins (origin, memory) SELECT :origin, seq FROM memories WHERE id = :id"
)
SUPERSEDE: Final = Statement(
    "UPDATE memories SET superseded_by = :id, superseded_at = :at WHERE seq = :old"
)


UNCOMPARED: Final = DuplicateKeys()
"""Of a turn, which is compared with nothing."""


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record on its way into the store: for whom, its words, and the step that sets its
    vector."""

    access: AccessScope
    record: Record
    filed: DuplicateKeys = UNCOMPARED
    vector: Execute | None = None


def insert(new: NewRecord, *, threshold: float, quota: int | None, now: int) -> Work[Insertion]:
    """What `MemoryStore.insert` does."""
    access, record = new.access, new.record
    yield from lock(*duplicate_partitions(access, record))
    asked = looked_up(new, now)
    questions = {"known": Fetch(KNOWN, asked)}
    if record.supersedes:
        questions["target"] = Fetch(TARGET, asked)
    if record.current and new.filed.lookup:
        questions["alike"] = Fetch(CANDIDATES, asked)
    if record.current and quota is not None and record.scope is Scope.USER and not record.role:
        questions["count"] = Fetch(COUNT, asked)
    told = yield from together(*questions.values())
    answers = dict(zip(questions, told, strict=True))
    if answers["known"]:
        return Insertion(True)
    against = _against(new, answers, threshold, quota)
    if against is not None:
        return against
    old = answers["target"][0][0] if record.supersedes else None
    yield from _put(new, values_of(record), old)
    return Insertion(True)


def keep_turns(turns: Sequence[NewRecord], *, locked: bool = False) -> Work[None]:
    """What `MemoryStore.keep_turns` does; of several with one id the last is kept. With `locked`,
    whoever stores the same turn waits until this one is stored."""
    by_id = {turn.record.id: turn for turn in turns}
    if locked:
        yield from lock(*(f"turn {id_}" for id_ in by_id))
    known = yield from fetch(KNOWN_AMONG, {"ids": list(by_id)})
    there = [str(id_) for (id_,) in known]
    if there:
        steps = [Change(REPLACED, parameters(by_id[id_].access) | {"id": id_}) for id_ in there]
        gone = yield from together(*steps)
        for id_, count in zip(there, gone, strict=True):
            if not count:
                del by_id[id_]
    for turn in by_id.values():
        yield from _put(turn, values_of(turn.record), None)


def looked_up(new: NewRecord, now: int) -> dict[str, object]:
    """What the questions take."""
    least, most = new.filed.sizes
    return parameters(new.access) | {
        "id": new.record.id,
        "now": now,
        "target": new.record.supersedes,
        "alike": list(new.filed.lookup),
        "least": least,
        "most": most,
        "scope": new.record.scope.value,
        "project": new.record.project,
    }


def _against(
    new: NewRecord, answers: Mapping[str, list[Row]], threshold: float, quota: int | None
) -> Insertion | None:
    """What speaks against the record, None for nothing."""
    target = answers.get("target", ())
    if new.record.supersedes and not target:
        return Insertion(False, missing=new.record.supersedes)
    same = like(new.filed, answers.get("alike", ()), threshold)
    if same is not None:
        return Insertion(False, duplicate=same)
    if "count" in answers and quota is not None:
        used = int(answers["count"][0][0]) - bool(target and target[0][1])
        if used >= quota:
            return Insertion(False, quota=(used, quota))
    return None


def like(filed: DuplicateKeys, candidates: Sequence[Row], threshold: float) -> Duplicate | None:
    """The row of `CANDIDATES` that is the same memory."""
    return duplicate_in(filed, ((str(id_), str(text)) for id_, text in candidates), threshold)


def _put(new: NewRecord, values: dict[str, Any], old: int | None) -> Work[None]:
    """Store the record; `old` is the number of what it supersedes."""
    yield from execute(INSERT, values)
    id_: Params = {"id": new.record.id}
    if new.filed.stored:
        words = {"stored": list(new.filed.stored), "size": new.filed.size}
        yield from execute(FILE, {**id_, **words})
    origins = origins_of(new.record)
    if origins:
        yield from execute(DERIVE, *({**id_, "origin": origin} for origin in origins))
    if new.vector is not None:
        yield new.vector
    if old is not None:
        yield from execute(SUPERSEDE, {**id_, "at": values["at"], "old": old})
