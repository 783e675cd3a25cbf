"""Calls a memory backend of another package, within limits.

Each call has a time limit and a slot. After several failures in a row the backend is paused: reads
and writes fail at once. Deletion, export and erasure are always tried. What a backend returns is
checked: a statement of another tenant, person or room is dropped.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypeGuard, TypeVar

import structlog
from msgspec import Struct

from gateway.errors import MemoryUnavailable
from gateway.ports import Clock
from gateway.ports.memory_backend import (
    MAX_PAGE,
    BackendAccess,
    CanBrief,
    CanClose,
    CanRecall,
    FoundStatement,
    MemoryBackend,
    Statement,
)
from gateway.ports.model import CanStart
from gateway.text import Sentence, text, verbatim
from memory.backends.conversion import is_valid
from safety.bounds import Frozen, InputBounds, OutOfBounds, snapshot

READ_SECONDS: Final = 2.0
"""Less than the gateway gives to recall in a turn."""
BRIEF_SECONDS: Final = 5.0
WRITE_SECONDS: Final = 5.0
PERSON_SECONDS: Final = 60.0
"""Export and erasure of a person."""
START_SECONDS: Final = 30.0
HEALTH_SECONDS: Final = 3.0
CLOSE_SECONDS: Final = 10.0
FAILURES: Final = 5
"""Failures in a row after which a backend is paused."""
PAUSE_SECONDS: Final = 30.0
CALLS: Final = 16
"""Concurrent calls; one that ignores its time limit keeps its slot until it ends."""
MAX_ERROR: Final = 200
MAX_EXPORTED: Final = 10_000
EXPORT_BOUNDS: Final = InputBounds(elements=200_000, total_bytes=20_000_000)
Done: TypeAlias = Literal["read", "stored", "deleted", "exported", "erased"]
NOT_ANSWERED: Final[Mapping[Done, Sentence]] = {
    "read": text(
        "The memory backend {name} does not answer. Nothing was read. Try again in 30 seconds. If "
        "it still does not answer then, tell the operator: `parley doctor` shows the reason."
    ),
    "stored": text(
        "The memory backend {name} does not answer. Nothing was stored. Try again in 30 "
        "seconds. If it still does not answer then, tell the operator: `parley doctor` shows the "
        "reason."
    ),
    "deleted": text(
        "The memory backend {name} does not answer. Nothing was deleted. Try again in 30 "
        "seconds. If it still does not answer then, tell the operator: `parley doctor` shows the "
        "reason."
    ),
    "exported": text(
        "The memory backend {name} does not answer. Nothing was exported. Try again in 30 "
        "seconds. If it still does not answer then, tell the operator: `parley doctor` shows the "
        "reason."
    ),
    "erased": text(
        "The memory backend {name} does not answer. Nothing was erased. Try again in 30 "
        "seconds. If it still does not answer then, tell the operator: `parley doctor` shows the "
        "reason."
    ),
}

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Page(Struct, frozen=True):
    """Statements, newest first, and the one after which the next page begins; None at the end."""

    statements: tuple[Statement, ...]
    next_after: Statement | None


class GuardedBackend:
    """A backend with limits around every call. Methods raise `MemoryUnavailable`."""

    def __init__(
        self,
        name: str,
        backend: MemoryBackend,
        clock: Clock,
        count: Callable[[str, str], None] | None = None,
    ) -> None:
        """`count` receives "memory_backend" and the name of a call with its end, such as
        "recall_slow"."""
        self.name = name
        self.backend = backend
        self._clock = clock
        self._count = count or (lambda what, detail: None)
        self._slots = asyncio.Semaphore(CALLS)
        self._opening = asyncio.Lock()
        self._open = False
        self.unfinished: set[asyncio.Task[object]] = set()
        self._failures = 0
        self._paused_until = 0.0

    @property
    def recalls(self) -> bool:
        """True if it searches by itself."""
        return isinstance(self.backend, CanRecall)

    @property
    def briefs(self) -> bool:
        """True if it writes the brief by itself."""
        return isinstance(self.backend, CanBrief)

    @property
    def paused(self) -> bool:
        """True while the backend is paused: reads and writes fail at once."""
        return self._clock.monotonic() < self._paused_until

    # --- start and end --------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the backend. Raises `MemoryUnavailable` with the reason, for operators."""
        async with self._opening:
            if self._open:
                return
            if isinstance(self.backend, CanStart):
                await self._with_error_text(self.backend.start, START_SECONDS)
            self._open = True

    async def probe(self) -> str:
        """Return the backend's own line about its state. Raises `MemoryUnavailable` with the
        reason, for operators."""
        await self.start()
        line: object = await self._with_error_text(self.backend.health, HEALTH_SECONDS)
        if not isinstance(line, str):
            raise MemoryUnavailable(verbatim(f"health() of {self.name} returns no text"))
        return _one_line(line)

    async def close(self) -> None:
        """End the calls that are left and close the backend."""
        for call in tuple(self.unfinished):
            call.cancel()
        if self._open and isinstance(self.backend, CanClose):
            await self._with_error_text(self.backend.close, CLOSE_SECONDS)
        self._open = False

    async def _with_error_text(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Return the result; the text of an exception is passed on."""
        try:
            return await self._limited(call, seconds)
        except TimeoutError:
            raise MemoryUnavailable(verbatim(f"it did not answer within {seconds:.0f} s")) from None
        except Exception as error:
            reason = _one_line(str(error)) or type(error).__name__
            raise MemoryUnavailable(verbatim(reason)) from error

    # --- reading --------------------------------------------------------------------------------

    async def recall(
        self, access: BackendAccess, question: str, limit: int
    ) -> list[FoundStatement]:
        """Return valid and visible results, best first; scores are 0 to 1."""
        backend = self.backend
        if not isinstance(backend, CanRecall):
            return []
        results = await self._call(
            "recall", lambda: backend.recall(access, question, limit), READ_SECONDS
        )
        statements = [one for one in _items(results, limit) if isinstance(one, FoundStatement)]
        visible = {id(one) for one in self._visible(access, [one.statement for one in statements])}
        kept = (one for one in statements if id(one.statement) in visible)
        scored = [FoundStatement(one.statement, _score(one.score)) for one in kept]
        return sorted(scored, key=lambda one: -one.score)

    async def list_statements(self, access: BackendAccess, after: Statement | None) -> Page:
        """Return a page of valid and visible statements, newest first."""
        items = _items(
            await self._call(
                "list",
                lambda: self.backend.list_statements(access, after, MAX_PAGE),
                READ_SECONDS,
            ),
            MAX_PAGE,
        )
        statements = self._visible(access, items)
        if after is not None:
            statements = [one for one in statements if one.order < after.order]
        statements.sort(key=lambda one: one.order, reverse=True)
        is_full = len(items) == MAX_PAGE and bool(statements)
        return Page(tuple(statements), statements[-1] if is_full else None)

    async def brief(self, access: BackendAccess, characters: int) -> str:
        """Return the brief as the backend wrote it, cut to a bound."""
        backend = self.backend
        if not isinstance(backend, CanBrief):
            return ""
        text: object = await self._call(
            "brief", lambda: backend.brief(access, characters), BRIEF_SECONDS
        )
        return text[:characters] if isinstance(text, str) else ""

    # --- writing --------------------------------------------------------------------------------

    async def remember(self, access: BackendAccess, statement: Statement) -> None:
        """Store a statement."""
        await self._call(
            "remember",
            lambda: self.backend.remember(access, statement),
            WRITE_SECONDS,
            done="stored",
        )

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> list[str]:
        """Delete statements; return their ids."""
        gone = await self._call(
            *("forget", lambda: self.backend.forget(access, tuple(ids)), WRITE_SECONDS),
            done="deleted",
            always=True,
        )
        requested, named = set(ids), _items(gone, MAX_PAGE)
        return [one for one in dict.fromkeys(filter(_is_str, named)) if one in requested]

    async def forget_messages(
        self, tenant: str, channel: str, message_ids: Sequence[str]
    ) -> list[Statement]:
        """Delete what derives from messages; return it."""
        gone = await self._call(
            "forget_messages",
            lambda: self.backend.forget_messages(tenant, channel, tuple(message_ids)),
            WRITE_SECONDS,
            done="deleted",
            always=True,
        )
        return [one for one in _items(gone, MAX_PAGE) if is_valid(one) and one.tenant == tenant]

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return everything about these people, as copies within bounds."""
        rows = await self._call(
            "export",
            lambda: self.backend.export(tenant, tuple(persons)),
            PERSON_SECONDS,
            done="exported",
            always=True,
        )
        try:
            copies = snapshot(_items(rows, MAX_EXPORTED), EXPORT_BOUNDS)
        except (OutOfBounds, TypeError, ValueError) as error:
            log.warning("memory_backend_export_unusable", backend=self.name, error=str(error)[:200])
            raise self._not_answered("exported") from error
        rows_read = copies if isinstance(copies, tuple) else ()
        return [
            {key: _plain(value) for key, value in row.items()}
            for row in rows_read
            if isinstance(row, Mapping)
        ]

    async def erase(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete everything about these people; return the number of statements."""
        number: object = await self._call(
            "erase",
            lambda: self.backend.erase(tenant, tuple(persons)),
            PERSON_SECONDS,
            done="erased",
            always=True,
        )
        return number if isinstance(number, int) and number >= 0 else 0

    def _not_answered(self, done: Done) -> MemoryUnavailable:
        return MemoryUnavailable(NOT_ANSWERED[done].of(name=verbatim(self.name)))

    # --- one call -------------------------------------------------------------------------------

    async def _call(
        self,
        name: str,
        call: Callable[[], Awaitable[T]],
        seconds: float,
        *,
        done: Done = "read",
        always: bool = False,
    ) -> T:
        """Return the result of a call. Raises `MemoryUnavailable` with a sentence for the person;
        `done` is what the call would have done."""
        problem = self._not_answered(done)
        if self.paused and not always:
            self._count("memory_backend", f"{name}_paused")
            raise problem
        failures = self._failures
        try:
            await self.start()
            result = await self._limited(call, seconds)
        except Exception as error:
            self._failed(name, error, failures)
            raise problem from error
        self._failures, self._paused_until = 0, 0.0
        return result

    def _failed(self, name: str, error: Exception, before: int) -> None:
        """Note a failure. `before` is the number of failures when the call began: calls that wait
        at the same time fail together, and count once."""
        self._failures = min(self._failures, before) + 1
        ended = "slow" if isinstance(error, TimeoutError) else "failed"
        self._count("memory_backend", f"{name}_{ended}")
        # The error's text may quote people, so only its type is logged.
        kind = type(error).__name__
        log.warning("memory_backend_failed", backend=self.name, call=name, error=kind)
        if self._failures >= FAILURES:
            self._paused_until = self._clock.monotonic() + PAUSE_SECONDS

    async def _limited(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Return the result within the time limit, even if the backend ignores a cancellation.
        Raises anything that the backend raises, and `TimeoutError`."""
        async with asyncio.timeout(seconds):
            await self._slots.acquire()
        task: asyncio.Task[T] = asyncio.ensure_future(self._run(call))
        self.unfinished.add(task)
        task.add_done_callback(self._ended)
        try:
            await asyncio.wait((task,), timeout=seconds)
            if not task.done():
                raise TimeoutError
            return task.result()
        finally:
            task.cancel()

    async def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        return await call()

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._slots.release()
        self.unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # read, so that the loop does not report it

    def _visible(self, access: BackendAccess, items: Sequence[object]) -> list[Statement]:
        """Return the items that are statements within bounds and visible."""
        valid = [one for one in items if is_valid(one)]
        visible = [one for one in valid if access.sees(one)]
        for number, reason in (
            (len(items) - len(valid), "invalid"),
            (len(valid) - len(visible), "not_visible"),
        ):
            if number:
                self._count("memory_backend", f"dropped_{reason}")
                log.warning(
                    "memory_backend_statements_dropped",
                    backend=self.name,
                    reason=reason,
                    statements=number,
                )
        return visible


def _items(value: object, most: int) -> list[object]:
    """Return the first items of a sequence; of another value none."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return []
    return list(value[:most])


def _is_str(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _plain(value: Frozen) -> object:
    """Return a frozen value as JSON knows it; its depth is bounded."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _score(value: object) -> float:
    number = float(value) if isinstance(value, int | float) else 0.0
    return 0.0 if math.isnan(number) else min(1.0, max(0.0, number))


def _one_line(text: str) -> str:
    return " ".join(text[: 10 * MAX_ERROR].split())[:MAX_ERROR]
