"""Detection of bots that answer each other endlessly: a fast exchange in a room leads to a
pause."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from gateway.policy.decision import Decision

STAGE = "loop_guard"
MAX_ROOMS = 10_000


class BotLoopLimits(Struct, frozen=True):
    """The number of bot messages in one room within `window` seconds that starts a pause."""

    messages: int = 10
    window: float = 60.0
    pause: float = 300.0


DEFAULT_LIMITS: Final = BotLoopLimits()


@dataclass(slots=True)
class _Pace:
    seen: deque[float] = field(default_factory=deque)
    paused_until: float = 0.0


class BotLoopGuard:
    """Counts bot messages per room, for the latest `MAX_ROOMS` rooms. A thread counts as its
    channel, because a bot can open a thread with every message.

    People are not counted: rate limits apply to them. A room that was forgotten starts again, which
    costs at most `BotLoopLimits.messages` answers.
    """

    def __init__(self, limits: BotLoopLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._paces: OrderedDict[str, _Pace] = OrderedDict()

    def check(self, room: str, *, by_bot: bool, now: float) -> Decision:
        """Count a message and decide if it is processed. `now` is in monotonic seconds."""
        if not by_bot:
            return Decision(STAGE, True, "person")
        pace = self._paces.setdefault(room, _Pace())
        self._paces.move_to_end(room)
        while len(self._paces) > MAX_ROOMS:
            self._paces.popitem(last=False)
        if now < pace.paused_until:
            return Decision(STAGE, False, "bot_loop_paused")
        while pace.seen and pace.seen[0] <= now - self._limits.window:
            pace.seen.popleft()
        pace.seen.append(now)
        if len(pace.seen) > self._limits.messages:
            pace.paused_until = now + self._limits.pause
            pace.seen.clear()
            return Decision(STAGE, False, "bot_loop")
        return Decision(STAGE, True, "bot")
