"""Limits of the Bot API (https://core.telegram.org/bots/api, version 10)."""

from typing import Final

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
