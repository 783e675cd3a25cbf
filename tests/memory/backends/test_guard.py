"""A memory backend of another package cannot delay, break or weaken the program."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from gateway.errors import MemoryUnavailable
from gateway.immutable import replace
from gateway.ports.memory_backend import BackendAccess, FoundStatement, Statement
from memory.backends import guard
from memory.backends.guard import FAILURES, PAUSE_SECONDS, GuardedBackend
from tests.support.clock import FakeClock
from tests.support.memory_backends import DictBackend, SearchingBackend

ADA, BOB = "chat:main:ada", "chat:main:bob"
ACCESS = BackendAccess("acme", ADA, (ADA,), private=True)
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
OWN = Statement("acme", "mem-1", "The gate opens at seven.", "fact", AT, ADA)


class Scripted(SearchingBackend):
    """Returns what a test wants, or raises it."""

    def __init__(self, answer: object = ()) -> None:
        super().__init__()
        self.answer = answer
        self.calls = 0

    async def given(self) -> object:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def list_statements(self, *_: object) -> Sequence[Statement]:
        return await self.given()  # type: ignore[return-value]  # what a backend may do wrong

    async def recall(self, *_: object) -> Sequence[FoundStatement]:
        return await self.given()  # type: ignore[return-value]  # what a backend may do wrong

    async def forget(self, *_: object) -> Sequence[str]:
        return await self.given()  # type: ignore[return-value]  # what a backend may do wrong

    async def export(self, *_: object) -> Sequence[Mapping[str, object]]:
        return await self.given()  # type: ignore[return-value]  # what a backend may do wrong


class Stubborn(DictBackend):
    """Ignores that its call was given up, until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()

    async def list_statements(self, *_: object) -> Sequence[Statement]:
        while not self.released.is_set():
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                continue
        return []


def guarded(backend: DictBackend, clock: FakeClock | None = None) -> GuardedBackend:
    return GuardedBackend("notes", backend, clock or FakeClock())


async def listed(backend: GuardedBackend) -> tuple[Statement, ...]:
    return (await backend.list_statements(ACCESS, None)).statements


WRONG = {
    "other person": replace(OWN, person=BOB),
    "other tenant": replace(OWN, tenant="globex"),
    "other project": replace(OWN, scope="project", project="chat:main:other"),
    "unknown kind": replace(OWN, kind="rumour"),
    "unknown scope": replace(OWN, scope="world"),  # type: ignore[arg-type]  # what a backend may do wrong
    "path as id": replace(OWN, id="../mem-1"),
    "no id": replace(OWN, id=""),
    "another kind of id": replace(OWN, id="file-1"),
    "naive time": replace(OWN, at=AT.replace(tzinfo=None)),
    "endless text": replace(OWN, text="x" * 200_000),
    "number as text": replace(OWN, text=7),  # type: ignore[arg-type]  # what a backend may do wrong
    "list of tags": replace(OWN, tags=["a"]),  # type: ignore[arg-type]  # what a backend may do wrong
    "many details": replace(OWN, details={str(n): "x" * 1_000 for n in range(9)}),
    "no statement": {"id": "mem-1"},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_a_foreign_or_malformed_statement_is_dropped(wrong: object) -> None:
    assert await listed(guarded(Scripted([wrong, OWN]))) == (OWN,)
    matches = [FoundStatement(wrong, 0.9), FoundStatement(OWN, 0.5)]  # type: ignore[arg-type]
    results = await guarded(Scripted(matches)).recall(ACCESS, "gate", 5)
    assert [one.statement for one in results] == [OWN]


@pytest.mark.parametrize("answer", [None, "mem-1", 5, {"a": 1}])
async def test_a_result_of_another_type_counts_as_empty(answer: object) -> None:
    backend = guarded(Scripted(answer))
    assert await listed(backend) == ()
    assert await backend.recall(ACCESS, "gate", 5) == []
    assert await backend.forget(ACCESS, ["mem-1"]) == []


async def test_no_more_results_are_taken_than_were_asked_for() -> None:
    many = [FoundStatement(replace(OWN, id=f"mem-{n}"), 0.5) for n in range(50)]
    assert len(await guarded(Scripted(many)).recall(ACCESS, "gate", 5)) == 5


async def test_scores_are_brought_into_their_range() -> None:
    scores = (7.0, -1.0, float("nan"), "high", 0.5)
    matches = [FoundStatement(replace(OWN, id=f"mem-{n}"), s) for n, s in enumerate(scores)]  # type: ignore[arg-type]
    results = await guarded(Scripted(matches)).recall(ACCESS, "gate", 9)
    assert [one.score for one in results] == [1.0, 0.5, 0.0, 0.0, 0.0]


async def test_only_ids_that_were_asked_for_count_as_deleted() -> None:
    assert await guarded(Scripted(["mem-9", "mem-1"])).forget(ACCESS, ["mem-1"]) == ["mem-1"]


async def test_an_exception_becomes_a_sentence_without_its_text() -> None:
    with pytest.raises(MemoryUnavailable) as raised:
        await listed(guarded(Scripted(RuntimeError("the text of ada"))))
    assert "notes" in str(raised.value)
    assert "ada" not in str(raised.value)


async def test_a_slow_call_ends_although_the_backend_ignores_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "READ_SECONDS", 0.05)
    stubborn = Stubborn()
    with pytest.raises(MemoryUnavailable):
        await listed(guarded(stubborn))
    stubborn.released.set()
    await asyncio.sleep(0)


async def test_calls_that_never_end_keep_no_more_than_their_slots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "READ_SECONDS", 0.02)
    monkeypatch.setattr(guard, "CALLS", 2)
    monkeypatch.setattr(guard, "FAILURES", 100)
    stubborn = Stubborn()
    backend = guarded(stubborn)
    for _ in range(4):
        with pytest.raises(MemoryUnavailable):
            await listed(backend)
    assert len(backend.unfinished) == 2
    stubborn.released.set()


async def test_a_failing_backend_rests_and_is_asked_again_later() -> None:
    clock, scripted = FakeClock(), Scripted(RuntimeError())
    backend = guarded(scripted, clock)
    for _ in range(FAILURES + 3):
        with pytest.raises(MemoryUnavailable):
            await listed(backend)
    assert scripted.calls == FAILURES
    clock.skip(PAUSE_SECONDS)
    scripted.answer = [OWN]
    assert await listed(backend) == (OWN,)


async def test_only_failures_in_a_row_count() -> None:
    scripted = Scripted(RuntimeError())
    backend = guarded(scripted)
    for answer in [*[RuntimeError()] * (FAILURES - 1), [OWN], *[RuntimeError()] * (FAILURES - 1)]:
        scripted.answer = answer
        with contextlib.suppress(MemoryUnavailable):
            await listed(backend)
    assert not backend.paused


async def test_calls_that_fail_together_count_as_one_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "READ_SECONDS", 0.02)
    stubborn = Stubborn()
    backend = guarded(stubborn)
    calls = (listed(backend) for _ in range(FAILURES + 3))
    ended = await asyncio.gather(*calls, return_exceptions=True)
    stubborn.released.set()
    await asyncio.sleep(0)
    assert all(isinstance(one, MemoryUnavailable) for one in ended)
    assert not backend.paused


async def test_a_paused_backend_is_still_asked_to_delete_and_erase() -> None:
    clock, scripted = FakeClock(), Scripted(RuntimeError())
    backend = guarded(scripted, clock)
    for _ in range(FAILURES):
        with pytest.raises(MemoryUnavailable):
            await listed(backend)
    scripted.answer = ["mem-1"]
    assert backend.paused
    assert await backend.forget(ACCESS, ["mem-1"]) == ["mem-1"]
    assert await backend.erase("acme", (ADA,)) == 0


async def test_an_export_that_is_no_json_is_an_error_and_not_empty() -> None:
    unusable: list[list[object]] = [
        [{"at": AT}],
        [object()],
        [{"a": {"b": {"c": {"d": {"e": {"f": {}}}}}}}],
    ]
    for rows in unusable:
        with pytest.raises(MemoryUnavailable, match="exported"):
            await guarded(Scripted(rows)).export("acme", (ADA,))


async def test_every_end_of_a_call_is_counted() -> None:
    counted: list[tuple[str, str]] = []
    backend = GuardedBackend(
        "notes",
        Scripted(RuntimeError()),
        FakeClock(),
        lambda what, how: counted.append((what, how)),
    )
    for _ in range(FAILURES + 1):
        with pytest.raises(MemoryUnavailable):
            await listed(backend)
    assert counted[0] == ("memory_backend", "list_failed")
    assert counted[-1] == ("memory_backend", "list_paused")


@pytest.mark.parametrize(
    ("name", "reason"), [("start", "could not reach the server"), ("health", "disk full")]
)
async def test_the_reason_of_a_failed_start_is_passed_on(name: str, reason: str) -> None:
    async def fail(*_: object) -> str:
        raise OSError(f"{reason}\nand more")

    backend = SearchingBackend()
    setattr(backend, name, fail)
    with pytest.raises(MemoryUnavailable, match=reason):
        await guarded(backend).probe()


async def test_a_backend_is_started_once_and_closed_once() -> None:
    done: list[str] = []

    class Opening(DictBackend):
        async def start(self) -> None:
            done.append("start")

        async def close(self) -> None:
            done.append("close")

    backend = guarded(Opening())
    await asyncio.gather(*(listed(backend) for _ in range(3)))
    await backend.close()
    await backend.close()
    assert done == ["start", "close"]
