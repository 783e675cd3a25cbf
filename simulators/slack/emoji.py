"""The reactions people add in tests and in the demo: characters and Slack's names for them."""

from typing import Final

NAMES: Final[dict[str, str]] = {
    "👍": "+1",
    "👎": "-1",
    "❤️": "heart",
    "😀": "grinning",
    "😄": "smile",
    "😂": "joy",
    "🙂": "slightly_smiling_face",
    "😉": "wink",
    "😊": "blush",
    "😍": "heart_eyes",
    "🤔": "thinking_face",
    "😮": "open_mouth",
    "😢": "cry",
    "😭": "sob",
    "😡": "rage",
    "😱": "scream",
    "😎": "sunglasses",
    "🤣": "rolling_on_the_floor_laughing",
    "🙏": "pray",
    "👏": "clap",
    "👋": "wave",
    "👌": "ok_hand",
    "🙌": "raised_hands",
    "💪": "muscle",
    "🤝": "handshake",
    "👀": "eyes",
    "🔥": "fire",
    "🎉": "tada",
    "🚀": "rocket",
    "💯": "100",
    "✅": "white_check_mark",
    "☑️": "ballot_box_with_check",
    "✔️": "heavy_check_mark",
    "❌": "x",
    "⚠️": "warning",
    "❓": "question",
    "❗": "exclamation",
    "⏳": "hourglass_flowing_sand",
    "⌛": "hourglass",
    "🔄": "arrows_counterclockwise",
    "🛑": "octagonal_sign",
    "💡": "bulb",
    "📌": "pushpin",
    "📝": "memo",
    "🤖": "robot_face",
    "⭐": "star",
    "✨": "sparkles",
    "🐛": "bug",
}
KNOWN: Final = set(NAMES.values()) | {"thumbsup", "thumbsdown", "robot", "thinking"}


def name_of(emoji: str) -> str:
    """The name of a character, or what was given if it is a name already. Raises KeyError."""
    bare = emoji.strip(":")
    return bare if bare in KNOWN else NAMES[emoji]
