"""Stores a record together with its checks: duplicates, the plan's limit, the replaced memory.

Writers lock the partitions of all linked identities, so the second of two writers sees what the
first stored. It takes two round trips: the checks and the write.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from db import FOR_UPDATE, Params, Row, Statement, Work, among, execute, fetch, lock, together
from db.statements import listed, within
from db.transaction import Change, Execute, Fetch
from memory.model.record import Record, Scope
from memory.model.scope import MAY_CHANGE, OWN, SEES, TENANT, AccessScope
from memory.ports.memories import Duplicate, Insertion
from memory.stores.partitions import duplicate_partitions, owner_of, word_key
from memory.stores.rows import INSERT, origins_of, values_of
from memory.text.similarity import (
    duplicate_of,
    in_order,
    lookup_keys,
    says_otherwise,
    size_bounds,
    stored_keys,
    turned_round,
)


class DuplicateKeys(Struct, frozen=True):
    """The words of a record and their index keys; `ordered` are the words in order.

    `stored` are its own keys, `lookup` those of possible duplicates, `sizes` the range of a
    duplicate's number of words.
    """

    words: frozenset[str] = frozenset()
    ordered: tuple[str, ...] = ()
    stored: tuple[int, ...] = ()
    lookup: tuple[int, ...] = ()
    sizes: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """The number of distinct words."""
        return len(self.words)


def duplicate_keys_of(
    access: AccessScope, record: Record, threshold: float | None
) -> DuplicateKeys:
    """Return the keys of a record; without a threshold no `lookup` keys. What a client stored that
    may have read a restricted repository is no duplicate of what the person stores later."""
    if record.role:
        return DuplicateKeys()
    ordered, own = in_order(record.content), owner_of(record)
    of = frozenset(ordered)
    within = f"{record.project}\x1f{_firm(of)}"
    if record.agent_private:
        within = f"{within}\x1f{record.provenance.agent}"
    sought = [within]
    if record.provenance.from_repository:
        within = f"{within}\x1frepository"
        sought.append(within)
    stored = tuple(word_key(own, within, word) for word in stored_keys(of))
    if threshold is None:
        return DuplicateKeys(of, ordered, stored)
    lookup = tuple(
        word_key(partition, one, word)
        for one in sought
        for partition in duplicate_partitions(access, record)
        for word in lookup_keys(of, threshold)
    )
    return DuplicateKeys(of, ordered, stored, lookup, size_bounds(len(of), threshold))


def duplicate_in(
    filed: DuplicateKeys, candidates: Iterable[tuple[str, str]], threshold: float
) -> Duplicate | None:
    """Return the candidate (id, text) that is a duplicate. The same words in another order may have
    the opposite meaning, and are no duplicate."""
    ordered = ((id_, in_order(text)) for id_, text in candidates)
    kept = (
        (id_, frozenset(words)) for id_, words in ordered if not turned_round(filed.ordered, words)
    )
    return duplicate_of(filed.words, kept, threshold)


def _firm(of: frozenset[str]) -> str:
    """Return the numbers and negations, which are equal in a duplicate. As part of the key they
    exclude most candidates."""
    return " ".join(sorted(word for word in of if says_otherwise(frozenset((word,)), frozenset())))


CURRENT: Final = "m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > :now)"
COUNT: Final = Statement(f"""
    SELECT count(*) FROM memories m WHERE m.tenant = :for_tenant AND {OWN}
        AND m.role = '' AND m.tier <> 'working' AND {CURRENT}
""")
"""Memories that count towards a plan: those learned, not turns."""
KNOWN: Final = Statement("SELECT id FROM memories WHERE id = :id")
KNOWN_AMONG: Final = Statement(f"SELECT id FROM memories WHERE {among('id', 'ids')}")
TARGET: Final = Statement(f"""
    SELECT m.seq, m.superseded_by = '' AND {OWN} FROM memories m
    WHERE m.id = :target AND {SEES} AND {MAY_CHANGE} AND m.superseded_by IN ('', :id)
        AND (m.expires_at IS NULL OR m.expires_at > :now) {FOR_UPDATE}
""")
"""The replaced memory, and whether it makes room in the plan. The same record may already have
replaced it, if both came from an export, older first."""
CANDIDATES: Final = Statement(f"""
    SELECT m.id, m.content FROM memories m WHERE {
    within(
        "m.seq",
        f"SELECT w.memory FROM memory_words w WHERE {among('w.word', 'alike')}"
        " AND w.size BETWEEN :least AND :most",
    )
} AND {TENANT} AND m.scope = :scope AND m.project = :project
        AND (m.scope <> 'user' OR {OWN}) AND m.id <> :target AND {CURRENT}
""")
REPLACED: Final = Statement(f"""
    DELETE FROM memories AS m WHERE m.id = :id AND m.role <> '' AND {MAY_CHANGE}
""")
FILE: Final = Statement(f"""
    INSERT INTO memory_words (word, size, memory)
    SELECT filed.value, :size, m.seq
    FROM memories m, {listed("stored", "filed", "bigint")} WHERE m.id = :id ON CONFLICT DO NOTHING
""")
DERIVE: Final = Statement(
    "INSERT INTO memory_origins (origin, memory) SELECT :origin, seq FROM memories WHERE id = :id"
)
SUPERSEDE: Final = Statement(
    "UPDATE memories SET superseded_by = :id, superseded_at = :at WHERE seq = :old"
)


UNCOMPARED: Final = DuplicateKeys()
"""The keys of a turn, which is not compared."""


class NewRecord(Struct, frozen=True):
    """A record to store: its access, its index keys and the step that sets its vector."""

    access: AccessScope
    record: Record
    keys: DuplicateKeys = UNCOMPARED
    vector: Execute | None = None


def insert(
    new: NewRecord, *, threshold: float | None, quota: int | None, now: int
) -> Work[Insertion]:
    """Do `MemoryStore.insert`."""
    access, record = new.access, new.record
    yield from lock(*duplicate_partitions(access, record))
    params = looked_up(new, now)
    questions = {"known": Fetch(KNOWN, params)}
    if record.supersedes:
        questions["target"] = Fetch(TARGET, params)
    if record.current and new.keys.lookup:
        questions["alike"] = Fetch(CANDIDATES, params)
    if record.current and quota is not None and record.scope is Scope.USER and not record.role:
        questions["count"] = Fetch(COUNT, params)
    results = yield from together(*questions.values())
    answers = dict(zip(questions, results, strict=True))
    if answers["known"]:
        return Insertion(True)
    against = _against(new, answers, threshold, quota)
    if against is not None:
        return against
    old = answers["target"][0][0] if record.supersedes else None
    yield from _put(new, values_of(record), old)
    return Insertion(True)


def keep_turns(turns: Sequence[NewRecord], *, locked: bool = False) -> Work[None]:
    """Do `MemoryStore.keep_turns`; of equal ids the last is stored. With `locked`, concurrent
    writers of a turn wait."""
    by_id = {turn.record.id: turn for turn in turns}
    if locked:
        yield from lock(*(f"turn {id_}" for id_ in by_id))
    known = yield from fetch(KNOWN_AMONG, {"ids": list(by_id)})
    there = [str(id_) for (id_,) in known]
    if there:
        steps = [Change(REPLACED, by_id[id_].access.parameters() | {"id": id_}) for id_ in there]
        gone = yield from together(*steps)
        for id_, count in zip(there, gone, strict=True):
            if not count:
                del by_id[id_]
    for turn in by_id.values():
        yield from _put(turn, values_of(turn.record), None)


def looked_up(new: NewRecord, now: int) -> dict[str, object]:
    """Return the parameters of the checks."""
    least, most = new.keys.sizes
    return new.access.parameters() | {
        "id": new.record.id,
        "now": now,
        "target": new.record.supersedes,
        "alike": list(new.keys.lookup),
        "least": least,
        "most": most,
        "scope": new.record.scope.value,
        "project": new.record.project,
    }


def _against(
    new: NewRecord, answers: Mapping[str, list[Row]], threshold: float | None, quota: int | None
) -> Insertion | None:
    """Return the failed check, None for none."""
    target = answers.get("target", ())
    if new.record.supersedes and not target:
        return Insertion(False, missing=new.record.supersedes)
    alike = answers.get("alike", ())
    same = None if threshold is None else like(new.keys, alike, threshold)
    if same is not None:
        return Insertion(False, duplicate=same)
    if "count" in answers and quota is not None:
        used = int(answers["count"][0][0]) - bool(target and target[0][1])
        if used >= quota:
            return Insertion(False, quota=(used, quota))
    return None


def like(keys: DuplicateKeys, candidates: Sequence[Row], threshold: float) -> Duplicate | None:
    """Return the row of `CANDIDATES` that is a duplicate."""
    return duplicate_in(keys, ((str(id_), str(text)) for id_, text in candidates), threshold)


def _put(new: NewRecord, values: dict[str, Any], old: int | None) -> Work[None]:
    """Store the record; `old` is the number of what it supersedes."""
    yield from execute(INSERT, values)
    id_: Params = {"id": new.record.id}
    if new.keys.stored:
        words = {"stored": list(new.keys.stored), "size": new.keys.size}
        yield from execute(FILE, {**id_, **words})
    origins = origins_of(new.record)
    if origins:
        yield from execute(DERIVE, *({**id_, "origin": origin} for origin in origins))
    if new.vector is not None:
        yield new.vector
    if old is not None:
        yield from execute(SUPERSEDE, {**id_, "at": values["at"], "old": old})
