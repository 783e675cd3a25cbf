"""Two bots that answer each other for ever: noticed by their pace, ended by a pause."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from gateway.policy.decision import Decision

STAGE = "loop_guard"
MAX_ROOMS = 10_000


@dataclass(frozen=True, slots=True)
class BotLoopLimits:
    """So many messages of bots in one room within `window` seconds, then a pause."""

    messages: int = 10
    window: float = 60.0
    pause: float = 300.0


@dataclass(slots=True)
class _Pace:
    seen: deque[float] = field(default_factory=deque)
    paused_until: float = 0.0


class BotLoopGuard:
    """Remembers the pace of bots per room, the latest `MAX_ROOMS` of them: a thread is no room of
    its own, because a bot can open one with every message.

    People are not counted: a fast person is a matter of rate limits. A guard that forgot a room
    starts anew, which costs at most `BotLoopLimits.messages` answers.
    """

    def __init__(self, limits: BotLoopLimits = BotLoopLimits()) -> None:
        self._limits = limits
        self._paces: OrderedDict[str, _Pace] = OrderedDict()

    def check(self, room: str, *, by_bot: bool, now: float) -> Decision:
        """Count a message and say whether to go on. `now` in seconds, monotonic."""
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
