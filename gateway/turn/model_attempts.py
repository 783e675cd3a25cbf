"""The attempts of one call of the model: the conversation fits its window, and a call without an
answer is repeated after a pause. Every step of fitting makes the conversation smaller.

The system prompt and the tools, which cannot be cut, are measured first. Then the oldest turns of
the history are removed. Only if all of it is removed are the longest texts of the turn itself
shortened. A text that still does not fit is refused.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from gateway.errors import ContextTooLong, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.calibration import Calibration
from gateway.llm.known_windows import HALF
from gateway.llm.tokens import estimate, estimate_block, estimate_messages, estimate_tools
from gateway.ports import (
    Clock,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    ModelMessage,
    OpaqueBlock,
    TextBlock,
    ToolOutcome,
    ToolSpec,
)
from gateway.turn.prompt import clip

RETRIES: Final = 2
"""Attempts after the service said that a request is too long."""

EXACT_SHARE: Final = 0.98
"""The used share of a room that the service named."""

LEAST_STEP: Final = 16
"""Tokens by which each attempt is at least smaller than the one before."""

SHORTEST: Final = 400
"""Characters to which a text may be shortened, not further."""

IMAGE_LEFT_OUT: Final = TextBlock("(A picture was left out here, because it did not fit.)")


class Fitted(Struct, frozen=True):
    """Messages that fit. `tokens` are the estimate of the whole prompt; `dropped` messages of the
    history are missing, `shortened` texts or pictures of the turn are not whole."""

    messages: tuple[ModelMessage, ...]
    tokens: int
    dropped: int = 0
    shortened: int = 0

    @property
    def changed(self) -> bool:
        """True when anything was left out."""
        return bool(self.dropped or self.shortened)


def fit(
    system: str,
    tools: Sequence[ToolSpec],
    history: Sequence[ModelMessage],
    own: Sequence[ModelMessage],
    room: int,
    calibration: Calibration,
) -> Fitted | None:
    """Return history and the turn's own messages in at most `room` tokens; None if that is
    impossible."""
    overhead = estimate(system, calibration) + estimate_tools(tools, calibration)
    overhead += round(calibration.constant)
    left = room - overhead
    if left <= 0:
        return None
    own_size = estimate_messages(own, calibration)
    start, kept_size = _first_that_fits(history, left - own_size, calibration)
    kept = tuple(history[start:])
    if own_size <= left:
        messages = kept + (_without_reasoning(own) if start else tuple(own))
        return Fitted(messages, overhead + own_size + kept_size, dropped=start)
    shorter, cuts = _shortened(_without_reasoning(own), left, calibration)
    size = estimate_messages(shorter, calibration)
    if size > left:
        return None
    return Fitted(shorter, overhead + size, dropped=len(history), shortened=cuts)


def smaller_room(sent: Fitted, error: ContextTooLong, answer: int) -> int:
    """Return the room for the prompt of the next attempt, always less than before.

    `answer` is the length of the answer in tokens, for which the window needs room too. Named
    figures are in the service's tokens: they also tell how far the estimate is off.
    """
    tokens, limit, excess = error.tokens or 0, error.limit or 0, error.excess or 0
    target = max(limit - answer, limit // 2) * EXACT_SHARE
    if tokens > 0 and limit > 0:
        room = sent.tokens * target / tokens
    elif excess > 0:
        room = sent.tokens - 1.2 * excess
    else:
        room = target
    return int(room) if 0 < room <= sent.tokens - LEAST_STEP else int(sent.tokens * HALF)


def _first_that_fits(
    history: Sequence[ModelMessage], left: int, calibration: Calibration
) -> tuple[int, int]:
    """Return the start of the history, and the tokens from there on: at a question of the person,
    never between a call and its result."""
    whole = estimate_messages(history, calibration)
    if history and whole <= left and _is_question(history[0]):
        return 0, whole  # nearly always
    start, size, kept = len(history), 0, 0
    for index in range(len(history) - 1, -1, -1):
        size += estimate_messages(history[index : index + 1], calibration)
        if size > left:
            break
        if _is_question(history[index]):
            start, kept = index, size
    return start, kept


def _is_question(message: ModelMessage) -> bool:
    return message.role == "user" and not any(
        isinstance(block, ToolOutcome) for block in message.content
    )


def _without_reasoning(own: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """Remove signed reasoning, which is valid only after an unchanged history."""
    return tuple(
        replace(
            message,
            content=tuple(block for block in message.content if not isinstance(block, OpaqueBlock)),
        )
        for message in own
    )


def _shortened(
    own: Sequence[ModelMessage], left: int, calibration: Calibration
) -> tuple[tuple[ModelMessage, ...], int]:
    """Cut the longest texts, then omit pictures, until the rest fits or nothing can be cut."""
    blocks = [list(message.content) for message in own]
    places = [(m, b) for m, message in enumerate(blocks) for b in range(len(message))]
    places.sort(key=lambda place: -estimate_block(blocks[place[0]][place[1]], calibration))
    excess = estimate_messages(own, calibration) - left
    cuts = 0
    for message, number in places:
        if excess <= 0:
            break
        if own[message].role != "user":
            continue
        block = blocks[message][number]
        shorter = _shorter(block, excess, calibration)
        saved = estimate_block(block, calibration) - estimate_block(shorter, calibration)
        if saved > 0:
            blocks[message][number] = shorter
            excess -= saved
            cuts += 1
    shorter_own = (
        replace(message, content=tuple(content))
        for message, content in zip(own, blocks, strict=True)
    )
    return tuple(shorter_own), cuts


def _shorter(block: ContentBlock, excess: int, calibration: Calibration) -> ContentBlock:
    """Return the block with about `excess` tokens less, or as short as possible."""
    match block:
        case TextBlock(text=text):
            return TextBlock(_cut(text, excess, calibration))
        case ToolOutcome(content=content):
            return replace(block, content=_cut(content, excess, calibration))
        case ImageBlock():
            return IMAGE_LEFT_OUT
        case DocumentBlock(instead=instead):
            return TextBlock(instead)
        case _:
            return block


def _cut(text: str, excess: int, calibration: Calibration) -> str:
    if len(text) <= SHORTEST:
        return text
    size = estimate(text, calibration)
    share = max(0.0, 1 - 1.1 * (excess + 20) / size)
    return clip(text, max(SHORTEST, int(len(text) * share)))


FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 15.0
"""Seconds between two rounds of attempts; the pause doubles in between."""
JITTER: Final = 0.5
"""The random part of a pause, so that turns that failed together do not retry together."""
LATER: Final = 0.1
"""The random extension of a pause that the service requested, for the same reason."""
LEAST_LEFT: Final = 1.0
"""The minimum seconds left after a pause; with less there is no further attempt."""
MAX_ROUNDS: Final = 20
"""Maximum further rounds of attempts in one turn, for any duration."""

Pause = Callable[[float], Awaitable[None]]


class Retrying:
    """Retries within one turn.

    `seconds` is counted from now; `chance` returns numbers from 0 to 1, and `pause` waits for a
    number of seconds. Only calls to the model are repeated, from the same messages: no tool runs
    twice for it.
    """

    def __init__(
        self, clock: Clock, seconds: float, chance: Callable[[], float], pause: Pause
    ) -> None:
        self._clock = clock
        self._pause = pause
        self._chance = chance
        self._until = clock.monotonic() + seconds
        self._rounds = 0
        self.failing = False
        """True from a failed call until the next answered one."""

    async def again(self, error: ModelUnavailable) -> bool:
        """Wait before the next call of the model; False if a retry is useless."""
        left = self._until - self._clock.monotonic()
        pause = pause_before(self._rounds, error, left, self._chance())
        if pause is None:
            return False
        self._rounds += 1
        await self._pause(pause)
        return True


def pause_before(rounds: int, error: ModelUnavailable, left: float, chance: float) -> float | None:
    """Return the seconds to wait after so many further rounds, never less than the service
    requested; None if the error is permanent, the rounds are used up or `left` is too short."""
    if not error.passes or rounds >= MAX_ROUNDS:
        return None
    backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**rounds) * (1 - JITTER * chance)
    requested = (error.retry_after or 0.0) * (1 + LATER * chance)
    pause = max(backoff, requested)
    return pause if pause + LEAST_LEFT <= left else None
