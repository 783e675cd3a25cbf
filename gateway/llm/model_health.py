"""The health of each model: which one fails, since when, with which error, and for how many people.

A model fails from a failed call until the next answered one, here or in another process. One log
line tells of each failed call, up to a number in a minute; the rest is counted. Calls of a watched
model have time limits and are timed, and their failures are noted here.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final, cast

import structlog
from msgspec import Struct

from gateway.errors import AnswerStalled, ContextTooLong, ModelError, ModelUnavailable, NoFirstToken
from gateway.immutable import replace
from gateway.latest import Latest
from gateway.observe.correlation import asking_person, timed
from gateway.observe.logs import MIN_SECRET, redacted
from gateway.policy.model_failures import OF_ONE_REQUEST, kind_of, status_of
from gateway.ports import (
    CanLoad,
    CanReportFindings,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFailure,
    ModelFinding,
    ModelFinished,
    ModelRequest,
    TextBlock,
    ToolCall,
)
from gateway.ports.model import TimeLimits

LINES: Final = 20
"""Log lines in a minute about the same failure of a model: more than the calls of one question."""
MINUTE: Final = 60.0
MAX_MODELS: Final = 50
MAX_PEOPLE: Final = 10_000
"""People of one failure who are counted."""
MAX_STATUSES: Final = 200
MAX_MESSAGE: Final = 200
"""Characters of a service's message that are kept."""
MAX_REQUEST_ID: Final = 100
CERTAIN: Final = 3
CERTAIN_ALONE: Final = 10
"""Calls in a row from which an error that may concern a single question is one of the model; with
the questions of one person alone, who may provoke it, there are more."""
_TAG: Final = re.compile(r"<[^<>]{0,200}>")
_QUOTED: Final = re.compile(
    r"\"[^\"]{40,1000}(?:\"|$)|(?<!\w)'[^']{40,1000}(?:'|$)|`[^`]{40,1000}(?:`|$)"
)
"""A quotation, also one whose end was cut; an apostrophe within a word begins none."""
LEAST_PART: Final = 4
"""Characters of a secret that are removed where its rest was cut."""

log = structlog.get_logger(__name__)


class _Failing:
    """The failed calls of a model since its last answer."""

    def __init__(self, failure: ModelFailure) -> None:
        self.failure = failure
        self.people: set[str] = set()


class _Lines:
    """The log lines about one failure in this minute, and those that were left out."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.written = 0
        self.left_out = 0


class ModelHealth:
    """The health of the models that this process calls."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failing: Latest[tuple[str, str], _Failing] = Latest(MAX_MODELS)
        self._answered: Latest[tuple[str, str], datetime] = Latest(MAX_MODELS)
        self._lines: Latest[tuple[str, str, str], _Lines] = Latest(MAX_STATUSES)
        self._failed: Counter[tuple[str, str]] = Counter()

    def failures(self) -> tuple[ModelFailure, ...]:
        """Return the models that fail, the one that began first first."""
        seen = (each.failure for each in self._failing.values() if _is_certain(each.failure))
        return tuple(sorted(seen, key=lambda failure: failure.since))

    def answered(self) -> Mapping[tuple[str, str], datetime]:
        """Return when each model last answered, by its name and its server."""
        return dict(self._answered)

    def failed_calls(self) -> Mapping[tuple[str, str], int]:
        """Return the failed calls since the start, by model and status."""
        return dict(self._failed)

    def call_failed(
        self, model: str, server: str, error: ModelError, seconds: float, secrets: Sequence[str]
    ) -> None:
        """Note a failed call. `secrets` are values that its message must not show. A conversation
        that is too long is no failure of the model."""
        status = status_of(error)
        if (model, status) in self._failed or len(self._failed) < MAX_STATUSES:
            self._failed[model, status] += 1
        failure = self._noted(model, server, error, secrets)
        self._write(failure, status, seconds)

    def call_answered(self, model: str, server: str) -> None:
        """Note an answer: the model no longer fails."""
        self._well_since(model, server, self._clock.now())

    def answered_elsewhere(self, model: str, server: str, at: datetime) -> None:
        """Note an answer that another process got."""
        failing = self._failing.get((model, server))
        if failing is not None and failing.failure.last < at:
            self._well_since(model, server, at)

    def _noted(
        self, model: str, server: str, error: ModelError, secrets: Sequence[str]
    ) -> ModelFailure:
        now, before = self._clock.now(), self._failing.get((model, server))
        people = before.people if before is not None else set()
        if (person := asking_person()) and len(people) < MAX_PEOPLE:
            people.add(person)
        failure = ModelFailure(
            model,
            server,
            before.failure.since if before is not None else now,
            now,
            kind_of(error),
            error.status,
            message_of(error, secrets),
            "".join(c for c in error.request_id if c.isprintable())[:MAX_REQUEST_ID],
            before.failure.calls + 1 if before is not None else 1,
            len(people),
        )
        if isinstance(error, ContextTooLong):
            return failure
        failing = self._failing[model, server] = before or _Failing(failure)
        failing.failure, failing.people = failure, people
        return failure

    def _well_since(self, model: str, server: str, at: datetime) -> None:
        self._answered[model, server] = at
        failing = self._failing.pop((model, server), None)
        if failing is None:
            return
        ended = failing.failure
        log.info(
            "model_answers_again",
            model=model,
            server=server,
            failed_calls=ended.calls,
            people=ended.people,
            seconds=round((at - ended.since) / timedelta(seconds=1)),
        )

    def _write(self, failure: ModelFailure, status: str, seconds: float) -> None:
        key, now = (failure.model, failure.server, status), self._clock.monotonic()
        lines = self._lines.get(key)
        if lines is None or now - lines.began >= MINUTE:
            left_out = lines.left_out if lines is not None else 0
            lines = self._lines[key] = _Lines(now)
        else:
            left_out = 0
        if lines.written >= LINES:
            lines.left_out += 1
            return
        lines.written += 1
        more = {"request_id": failure.request_id} if failure.request_id else {}
        more |= {"not_logged_before": str(left_out)} if left_out else {}
        log.warning(
            "model_call_failed",
            model=failure.model,
            server=failure.server,
            status=failure.status,
            kind=failure.kind,
            message=failure.message,
            seconds=round(seconds, 1),
            **more,
        )


def message_of(error: ModelError, secrets: Sequence[str] = ()) -> str:
    """Return the service's message on one line, without tags of HTML, credentials and long
    quotations: those may be words of people."""
    known = [secret for secret in secrets if len(secret) >= MIN_SECRET]
    text = _QUOTED.sub("…", _TAG.sub(" ", _without_cut_secret(str(error), known)))
    plain = "".join(c if c.isprintable() else " " for c in text)
    plain = redacted(" ".join(plain.split()), known)
    return plain if len(plain) <= MAX_MESSAGE else f"{plain[: MAX_MESSAGE - 1]}…"


def _without_cut_secret(text: str, secrets: Sequence[str]) -> str:
    """Remove the beginning of a secret at the end of a text, which was cut to a length."""
    for secret in secrets:
        for size in range(len(secret) - 1, LEAST_PART - 1, -1):
            if text.endswith(secret[:size]):
                return text[:-size]
    return text


def _is_certain(failure: ModelFailure) -> bool:
    needed = CERTAIN_ALONE if failure.people == 1 else CERTAIN
    return failure.kind not in OF_ONE_REQUEST or failure.calls >= needed


KEPT: Final = timedelta(days=1)
"""For how long a finding is shown after it was made for the last time."""
USED_UP: Final = "Reasoning used up the length limit of an answer before its first word"
LONGER: Final = "model.max_tokens: a larger number"


class WatchedModel(Struct, frozen=True):
    """A model as the watch sees it: its name, its address as people may see it, the time limits of
    a call, the secrets of its configuration, which no message may show, and its section."""

    name: str
    server: str
    limits: TimeLimits
    secrets: Sequence[str] = ()
    section: str = "model"


class WatchedProvider:
    """Implements `LLMProvider` around another one. An exception that is no `ModelError` becomes
    one.

    The running turn records the duration of each call, from the request to the end of the answer,
    with its tokens and its `cost` in millionths of a dollar."""

    def __init__(
        self,
        provider: LLMProvider,
        model: WatchedModel,
        health: ModelHealth,
        clock: Clock,
        cost: Callable[[ModelFinished], int] = lambda _: 0,
    ) -> None:
        self._provider = provider
        self._model = model
        self._health = health
        self._clock = clock
        self._cost = cost
        self._used_up: datetime | None = None

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        began, model = self._clock.monotonic(), request.model or self._model.name
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        with timed("model", model, self._clock) as figures:
            try:
                async with aclosing(within(self._model.limits, stream)) as events:
                    async for event in events:
                        if isinstance(event, ModelFinished):
                            self._finished(model, event)
                            figures[:] = self._figures(event)
                        yield event
            except ModelError as error:
                self._failed(model, error, began)
                raise
            except Exception as error:
                reason = f"the provider failed: {type(error).__name__}"
                failed = ModelUnavailable(reason, passes=False)
                failed.__cause__ = error
                self._failed(model, failed, began)
                raise failed from error

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what the provider found out about its server, and what its answers show."""
        found = findings_of(self._provider)
        if self._used_up is not None and self._clock.now() - self._used_up <= KEPT:
            own = ModelFinding(self._model.name, self._model.server, USED_UP, LONGER)
            found = (*found, own)
        return tuple(replace(one, setting=self._of_section(one.setting)) for one in found)

    async def load(self) -> None:
        """Implement `CanLoad` for a provider that does."""
        if isinstance(self._provider, CanLoad):
            await self._provider.load()

    async def close(self) -> None:
        await self._provider.close()

    def _of_section(self, setting: str) -> str:
        """Return a setting of the section `model` as one of this model."""
        key = setting.removeprefix("model.")
        return setting if key == setting else f"{self._model.section}.{key}"

    def _finished(self, model: str, finished: ModelFinished) -> None:
        self._health.call_answered(model, self._model.server)
        said = any(
            isinstance(block, ToolCall) or (isinstance(block, TextBlock) and block.text.strip())
            for block in finished.message.content
        )
        if finished.stop == "max_tokens" and not said:
            self._used_up = self._clock.now()
            log.warning("model_reasoned_too_long", model=model, hint="raise model.max_tokens")

    def _figures(self, finished: ModelFinished) -> tuple[int, ...]:
        used = finished.usage
        return (
            *(used.input_tokens, used.output_tokens),
            *(used.cache_read_tokens, used.cache_write_tokens),
            self._cost(finished),
        )

    def _failed(self, model: str, error: ModelError, began: float) -> None:
        seconds = self._clock.monotonic() - began
        self._health.call_failed(model, self._model.server, error, seconds, self._model.secrets)


def findings_of(provider: LLMProvider) -> tuple[ModelFinding, ...]:
    """Return the findings of a provider; none if it finds nothing out."""
    return provider.findings() if isinstance(provider, CanReportFindings) else ()


async def within(
    limits: TimeLimits, stream: AsyncGenerator[ModelEvent, None]
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a call. Any event counts as a sign of work; the time that the reader
    spends on one does not. Raises `NoFirstToken` and `AnswerStalled`."""
    seconds, began = limits.first_token, False
    async with aclosing(stream) as events:
        while True:
            try:
                async with asyncio.timeout(seconds) as bound:
                    event = await anext(events, None)
            except TimeoutError as error:
                if not bound.expired():
                    raise
                if began:
                    raise AnswerStalled(f"no further token within {seconds:g} s") from error
                raise NoFirstToken(f"no first token within {seconds:g} s") from error
            if event is None:
                return
            seconds, began = limits.between_tokens, True
            yield event
