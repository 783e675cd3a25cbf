"""Slack's names of common emoji, in both directions."""

from typing import Final

_NAMES: Final[dict[str, str]] = {
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
_ALIASES: Final = {"thumbsup": "👍", "thumbsdown": "👎", "robot": "🤖", "thinking": "🤔"}
_CHARACTERS: Final = {name: char for char, name in _NAMES.items()} | _ALIASES
_PLAIN: Final = {char.removesuffix("\ufe0f"): name for char, name in _NAMES.items()}


def character(name: str) -> str:
    """The character of a reaction's name (without a skin tone); ":name:" if it has none here."""
    bare = name.partition("::")[0]
    return _CHARACTERS.get(bare, f":{bare}:")


def name_of(emoji: str) -> str:
    """The name of an emoji: of a known character, or of ":name:". Empty if there is none."""
    if len(emoji) > 2 and emoji[0] == emoji[-1] == ":":
        return emoji[1:-1]
    return _PLAIN.get(emoji.removesuffix("\ufe0f"), "")
