"""Send rates of one account: for all chats together, per chat, and per room."""

from dataclasses import dataclass, field

from gateway.latest import Latest
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import Clock, SendPace

MAX_CHATS = 10_000
"""Chats whose rate is stored; the least recently used is removed first."""
MAX_BURST = 5
"""Sends that may leave at once after a pause, within the limit."""


@dataclass(slots=True)
class _Gate:
    """Lets one send pass every `interval` seconds; `burst` of them at once after a pause."""

    interval: float
    burst: int = 1
    next_free: float = 0.0

    def reserve(self, now: float) -> float:
        """Reserve the next slot; returns the seconds until then."""
        if self.interval <= 0:
            return 0.0
        slot = self._slot(now)
        self.next_free = slot + self.interval
        return max(0.0, slot - now)

    def is_free(self, now: float) -> bool:
        """Return True if a slot is free now."""
        return self.interval <= 0 or self._slot(now) <= now

    def has_spare(self, now: float) -> bool:
        """Return True if a slot is free now, and with a burst a second one too."""
        needed = min(self.burst, 2) - 1
        return self.interval <= 0 or self._slot(now) + needed * self.interval <= now

    def _slot(self, now: float) -> float:
        return max(self.next_free, now - (self.burst - 1) * self.interval)


@dataclass(slots=True)
class _Chat:
    gates: list[_Gate] = field(default_factory=list)
    penalty_until: float = 0.0


class Pacer:
    """Send budgets of one account. A penalty of one chat never delays another; a penalty of the
    account delays all."""

    def __init__(self, pace: SendPace, clock: Clock) -> None:
        self._pace = pace
        self._clock = clock
        self._platform = _gate(pace.platform_per_second, 1.0, pace.platform_per_second / 10)
        self._penalty_until = 0.0
        self._chats: Latest[str, _Chat] = Latest(MAX_CHATS)

    async def wait(self, place: Place) -> None:
        """Wait until a send to this place may start."""
        chat = self._chat(place)
        await self._served(chat)
        now = self._clock.monotonic()
        delay = max((gate.reserve(now) for gate in (self._platform, *chat.gates)), default=0.0)
        if delay > 0:
            await self._clock.sleep(delay)
            await self._served(chat)  # a live edit may have been refused meanwhile

    def free(self, place: Place) -> bool:
        """Return True if a send to this place could start now. Reserves nothing."""
        now, chat = self._clock.monotonic(), self._chat(place)
        gates = (self._platform, *chat.gates)
        return self._until(chat) <= now and all(gate.is_free(now) for gate in gates)

    def spare(self, place: Place) -> bool:
        """Reserve a slot for an optional request, if one is free. The next send is delayed by at
        most one interval of the chat, never by the room's or the account's."""
        now, chat = self._clock.monotonic(), self._chat(place)
        gates = (self._platform, *chat.gates)
        if self._until(chat) > now or not all(gate.has_spare(now) for gate in gates):
            return False
        for gate in gates:
            gate.reserve(now)
        return True

    def penalise(self, place: Place, seconds: float, *, whole_account: bool = False) -> None:
        """Record that the platform refuses sends to this chat, or all sends of the account, for
        some seconds."""
        chat, until = self._chat(place), self._clock.monotonic() + seconds
        chat.penalty_until = max(chat.penalty_until, until)
        if whole_account:
            self._penalty_until = max(self._penalty_until, until)

    def penalised(self, place: Place) -> bool:
        """Return True while sends to this chat are refused."""
        return self._until(self._chat(place)) > self._clock.monotonic()

    def _until(self, chat: _Chat) -> float:
        return max(chat.penalty_until, self._penalty_until)

    def _chat(self, place: Place) -> _Chat:
        chat = self._chats.get(place.channel_id)
        if chat is None:
            chat = self._chats[place.channel_id] = _Chat(self._gates(place))
        self._chats.move_to_end(place.channel_id)
        return chat

    async def _served(self, chat: _Chat) -> None:
        """Wait until the penalties of the chat and the account are over."""
        while (penalty := self._until(chat) - self._clock.monotonic()) > 0:
            await self._clock.sleep(penalty)

    def _gates(self, place: Place) -> list[_Gate]:
        gates = [_gate(self._pace.chat_per_second, 1.0)]
        if place.audience is not Audience.DIRECT:
            gates.append(_gate(self._pace.room_per_minute, 60.0, self._pace.room_per_minute / 4))
        return gates


def _gate(limit: float, window: float, burst: float = 1.0) -> _Gate:
    """Return a gate that lets at most `limit` sends pass in any `window` seconds, bursts included;
    0 is no limit."""
    if limit <= 0:
        return _Gate(0.0)
    most = max(1, min(MAX_BURST, int(burst)))
    return _Gate(window / (limit - most + 1), most)
