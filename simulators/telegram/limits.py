"""Limits of the Bot API (https://core.telegram.org/bots/api, version 10), and flood control
(https://core.telegram.org/bots/faq#broadcasting-to-users)."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from simulators.telegram.params import ApiError
from simulators.telegram.world import Chat

MAX_TEXT: Final = 4096
"""UTF-16 units of a message, after its markup was parsed."""
MAX_CAPTION: Final = 1024
MAX_PHOTO: Final = 10 * 1024 * 1024
MAX_DOCUMENT: Final = 50 * 1024 * 1024
MAX_DOWNLOAD: Final = 20 * 1024 * 1024
MAX_COMMANDS: Final = 100
MAX_INLINE_RESULTS: Final = 50
MAX_POLL_SECONDS: Final = 50

REACTIONS: Final = frozenset(
    [
        "❤",
        "👍",
        "👎",
        "🔥",
        "🥰",
        "👏",
        "😁",
        "🤔",
        "🤯",
        "😱",
        "🤬",
        "😢",
        "🎉",
        "🤩",
        "🤮",
        "💩",
        "🙏",
        "👌",
        "🕊",
        "🤡",
        "🥱",
        "🥴",
        "😍",
        "🐳",
        "❤\u200d🔥",
        "🌚",
        "🌭",
        "💯",
        "🤣",
        "⚡",
        "🍌",
        "🏆",
        "💔",
        "🤨",
        "😐",
        "🍓",
        "🍾",
        "💋",
        "🖕",
        "😈",
        "😴",
        "😭",
        "🤓",
        "👻",
        "👨\u200d💻",
        "👀",
        "🎃",
        "🙈",
        "😇",
        "😨",
        "🤝",
        "✍",
        "🤗",
        "🫡",
        "🎅",
        "🎄",
        "☃",
        "💅",
        "🤪",
        "🗿",
        "🆒",
        "💘",
        "🙉",
        "🦄",
        "😘",
        "💊",
        "🙊",
        "😎",
        "👾",
        "🤷\u200d♂",
        "🤷",
        "🤷\u200d♀",
        "😡",
    ]
)


MAX_CHATS: Final = 10_000
OVERALL: Final = (30, 1.0)
"""Sends to all chats together, within so many seconds."""
PRIVATE: Final = (3, 3.0)
"""One a second; short bursts go through."""
GROUP: Final = (20, 60.0)


class FloodControl:
    """Refuses sends that come too fast. Off unless `enabled`."""

    def __init__(self, enabled: bool, now: Callable[[], float] = time.monotonic) -> None:
        self.enabled = enabled
        self._now = now
        self._sends: dict[int, deque[float]] = {}

    def check(self, chat: Chat) -> None:
        """Count a send to this chat. Raises `ApiError` 429 when it comes too early."""
        if not self.enabled:
            return
        now = self._now()
        limits = ((0, OVERALL), (chat.id, GROUP if chat.is_group else PRIVATE))
        wait = max(self._wait(key, limit, now) for key, limit in limits)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            raise ApiError(
                429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds}
            )
        if len(self._sends) > MAX_CHATS:
            self._sends.clear()
        for key, _ in limits:
            self._sends.setdefault(key, deque()).append(now)

    def _wait(self, key: int, limit: tuple[int, float], now: float) -> float:
        count, seconds = limit
        sends = self._sends.get(key)
        if sends is None:
            return 0.0
        while sends and now - sends[0] >= seconds:
            sends.popleft()
        return seconds - (now - sends[0]) if len(sends) >= count else 0.0
