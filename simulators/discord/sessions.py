"""A gateway session: what it may see, and what it can be sent again after a lost connection."""

import secrets
from collections import deque
from dataclasses import dataclass
from typing import Final

MAX_REPLAY: Final = 10_000
"""Events a session keeps for a client that resumes."""


class Bits:
    """Intents, as bits (Discord: events/gateway#gateway-intents)."""

    GUILDS: Final = 1 << 0
    GUILD_MEMBERS: Final = 1 << 1
    GUILD_PRESENCES: Final = 1 << 8
    GUILD_MESSAGES: Final = 1 << 9
    GUILD_MESSAGE_REACTIONS: Final = 1 << 10
    GUILD_MESSAGE_TYPING: Final = 1 << 11
    DIRECT_MESSAGES: Final = 1 << 12
    DIRECT_MESSAGE_REACTIONS: Final = 1 << 13
    DIRECT_MESSAGE_TYPING: Final = 1 << 14
    MESSAGE_CONTENT: Final = 1 << 15
    PRIVILEGED: Final = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT


_CONTENT_FIELDS: Final = ("content", "embeds", "attachments", "components", "poll")


@dataclass(frozen=True, slots=True)
class Entry:
    """A dispatched event."""

    sequence: int
    event: str
    data: dict[str, object]


class Session:
    """The events of one identified client, numbered from 1."""

    def __init__(self, intents: int) -> None:
        self.id = secrets.token_hex(16)
        self.intents = intents
        self.introduced = False
        self.resumable = True
        self._sequence = 0
        self._log: deque[Entry] = deque()
        self._trimmed = 0

    def add(
        self,
        event: str,
        data: dict[str, object],
        *,
        direct: bool = False,
        bot_id: str,
        times: int = 1,
    ) -> None:
        """Queue an event, if this session's intents cover it; `times` repeats the same delivery."""
        needed = _intent_for(event, direct)
        if needed and not self.intents & needed:
            return
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            data = self._redacted(data, direct, bot_id)
        self._sequence += 1
        for _ in range(times):
            self._log.append(Entry(self._sequence, event, data))
        while len(self._log) > MAX_REPLAY:
            self._log.popleft()
            self._trimmed += 1

    def can_resume(self, sequence: int) -> bool:
        """True when everything after `sequence` is still here."""
        oldest = self._log[0].sequence if self._log else self._sequence + 1
        return self.resumable and oldest - 1 <= sequence <= self._sequence

    def position_after(self, sequence: int) -> int:
        """The position to continue from for a client that has seen `sequence`."""
        seen = sum(1 for entry in self._log if entry.sequence <= sequence)
        return self._trimmed + seen

    def at(self, position: int) -> Entry | None:
        """The event at a position, None while there is none yet."""
        index = max(0, position - self._trimmed)
        return self._log[index] if index < len(self._log) else None

    def _redacted(self, data: dict[str, object], direct: bool, bot_id: str) -> dict[str, object]:
        """Without MESSAGE_CONTENT only direct messages, mentions and own messages have content."""
        mentions, author = data.get("mentions"), data.get("author")
        mentioned = isinstance(mentions, list) and any(m.get("id") == bot_id for m in mentions)
        own = isinstance(author, dict) and author.get("id") == bot_id
        if self.intents & Bits.MESSAGE_CONTENT or direct or mentioned or own:
            return data
        hidden: dict[str, object] = {name: [] for name in _CONTENT_FIELDS if name in data}
        return data | hidden | {"content": ""}


def _intent_for(event: str, direct: bool) -> int:
    if event.startswith("MESSAGE_REACTION"):
        return Bits.DIRECT_MESSAGE_REACTIONS if direct else Bits.GUILD_MESSAGE_REACTIONS
    if event.startswith("MESSAGE_"):
        return Bits.DIRECT_MESSAGES if direct else Bits.GUILD_MESSAGES
    if event == "TYPING_START":
        return Bits.DIRECT_MESSAGE_TYPING if direct else Bits.GUILD_MESSAGE_TYPING
    if event.startswith("GUILD_MEMBER_"):
        return Bits.GUILD_MEMBERS
    if event.startswith(("GUILD_", "CHANNEL_", "THREAD_")):
        return Bits.GUILDS
    return 0
