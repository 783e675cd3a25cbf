"""Checks messages, commands and reactions as strictly as Discord does.

Limits: Discord's developer documentation, resources/message, components/reference and
interactions/application-commands.
"""

import re
from collections.abc import Mapping
from typing import Final

from simulators.discord.errors import EMPTY_MESSAGE, UNKNOWN_EMOJI, invalid_form, refuse

MAX_CONTENT: Final = 2000
MAX_NONCE: Final = 25
MAX_EMBEDS: Final = 10
MAX_FILES: Final = 10
MAX_FILE_BYTES: Final = 10 * 1024 * 1024
MAX_ROWS: Final = 5
MAX_BUTTONS_PER_ROW: Final = 5
MAX_CUSTOM_ID: Final = 100
MAX_LABEL: Final = 80
MAX_COMMANDS: Final = 100
MAX_EMOJI: Final = 16

BUTTON, ROW, LINK_STYLE, PREMIUM_STYLE = 2, 1, 5, 6
_COMMAND_NAME: Final = re.compile(r"^[-_'\w]{1,32}$")
_MENTION_KINDS: Final = {"roles", "users", "everyone"}

VOICE_MESSAGE: Final = 1 << 13

Body = Mapping[str, object]


def check_message(body: Body, *, files: int, editing: bool = False) -> None:
    """Raise the `ApiError` that Discord would answer to this message body."""
    _content(body.get("content"))
    _nonce(body)
    _embeds(body.get("embeds"))
    _allowed_mentions(body.get("allowed_mentions"))
    _components(body.get("components"))
    _attachments(body.get("attachments"), files)
    _reference(body.get("message_reference"))
    if is_voice_message(body):
        _voice_message(body, files)
    if not editing and not _says_something(body, files):
        raise refuse(EMPTY_MESSAGE)


def is_voice_message(body: Body) -> bool:
    """True for a body with the flag of a voice message."""
    flags = body.get("flags")
    return isinstance(flags, int) and bool(flags & VOICE_MESSAGE)


def _voice_message(body: Body, files: int) -> None:
    """Discord, "Voice messages": one file with a length and a waveform, and nothing else. The words
    of the refusals are ours."""
    attachments = body.get("attachments")
    if files != 1 or not isinstance(attachments, list) or len(attachments) != 1:
        raise invalid_form("attachments", "VOICE_MESSAGE_ATTACHMENTS", "Must be one audio file.")
    if body.get("content") or body.get("components") or body.get("embeds"):
        raise invalid_form("content", "VOICE_MESSAGE_CONTENT", "Must be empty.")
    for name, kind in (("duration_secs", (int, float)), ("waveform", str)):
        if not isinstance(attachments[0].get(name), kind):
            raise invalid_form(f"attachments.0.{name}", "BASE_TYPE_REQUIRED", "Required.")


def check_commands(body: object) -> list[dict[str, object]]:
    """The commands of a bulk registration. Raises `ApiError`."""
    if not isinstance(body, list):
        raise invalid_form("_", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if len(body) > MAX_COMMANDS:
        raise invalid_form("_", "APPLICATION_COMMANDS_MAX", "Maximum number of commands reached")
    seen: set[object] = set()
    for index, command in enumerate(body):
        if not isinstance(command, dict):
            raise invalid_form(str(index), "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        _command(command, str(index))
        key = (command.get("type", 1), command["name"])
        if key in seen:
            raise invalid_form(
                "_", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Command names must be unique"
            )
        seen.add(key)
    return body


def check_emoji(emoji: str) -> None:
    """Raise 10014 unless it looks like a Unicode emoji or a custom `name:id`."""
    custom = re.fullmatch(r"\w{2,32}:\d{1,20}", emoji)
    unicode = len(emoji) <= MAX_EMOJI and any(ord(c) > 0x203B for c in emoji)
    if not custom and not unicode and not re.fullmatch(r"[0-9#*]\ufe0f?\u20e3", emoji):
        raise refuse(UNKNOWN_EMOJI)


def _says_something(body: Body, files: int) -> bool:
    content = body.get("content")
    return bool(
        (isinstance(content, str) and content.strip())
        or files
        or body.get("embeds")
        or body.get("sticker_ids")
        or body.get("poll")
    )


def _content(content: object) -> None:
    if content is None:
        return
    if not isinstance(content, str):
        raise invalid_form("content", "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    if len(content) > MAX_CONTENT:
        raise invalid_form(
            "content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length."
        )


def _nonce(body: Body) -> None:
    nonce = body.get("nonce")
    if nonce is None:
        if body.get("enforce_nonce"):
            raise invalid_form("nonce", "BASE_TYPE_REQUIRED", "This field is required")
        return
    if isinstance(nonce, bool) or not isinstance(nonce, str | int):
        raise invalid_form("nonce", "NONCE_TYPE_INVALID", "Must be a string or an integer.")
    if isinstance(nonce, str) and len(nonce) > MAX_NONCE:
        raise invalid_form(
            "nonce", "NONCE_TYPE_TOO_LONG", f"Must be {MAX_NONCE} or fewer in length."
        )


def _embeds(embeds: object) -> None:
    if embeds is None:
        return
    if not isinstance(embeds, list) or len(embeds) > MAX_EMBEDS:
        raise invalid_form(
            "embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_EMBEDS} or fewer in length."
        )


def _allowed_mentions(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise invalid_form("allowed_mentions", "DICT_TYPE_CONVERT", "Only dictionaries may be used")
    parse = value.get("parse", [])
    if not isinstance(parse, list):
        raise invalid_form(
            "allowed_mentions.parse", "LIST_TYPE_CONVERT", "Only iterables may be used"
        )
    for index, kind in enumerate(parse):
        if kind not in _MENTION_KINDS:
            raise invalid_form(
                f"allowed_mentions.parse.{index}",
                "BASE_TYPE_CHOICES",
                "Value must be one of {'roles', 'users', 'everyone'}.",
            )
    for kind in ("users", "roles"):
        if kind in parse and value.get(kind):
            raise invalid_form(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )


def _components(rows: object) -> None:
    if rows is None:
        return
    if not isinstance(rows, list) or len(rows) > MAX_ROWS:
        raise invalid_form(
            "components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_ROWS} in length."
        )
    seen: set[object] = set()
    for number, row in enumerate(rows):
        path = f"components.{number}"
        if not isinstance(row, dict) or row.get("type") != ROW:
            raise invalid_form(
                f"{path}.type", "UNION_TYPE_CHOICES", "Value of field must be one of (1,)."
            )
        buttons = row.get("components")
        if not isinstance(buttons, list) or not 1 <= len(buttons) <= MAX_BUTTONS_PER_ROW:
            raise invalid_form(
                f"{path}.components",
                "BASE_TYPE_BAD_LENGTH",
                f"Must be between 1 and {MAX_BUTTONS_PER_ROW} in length.",
            )
        for position, button in enumerate(buttons):
            _button(button, f"{path}.components.{position}", seen)


def _button(button: object, path: str, seen: set[object]) -> None:
    if not isinstance(button, dict) or button.get("type") != BUTTON:
        raise invalid_form(
            f"{path}.type", "UNION_TYPE_CHOICES", "Value of field must be one of (2,)."
        )
    style = button.get("style")
    if style not in range(1, 7):
        raise invalid_form(
            f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}."
        )
    label = button.get("label", "")
    if not isinstance(label, str) or len(label) > MAX_LABEL:
        raise invalid_form(
            f"{path}.label", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_LABEL} in length."
        )
    if not label and not button.get("emoji"):
        raise invalid_form(
            path, "BUTTON_COMPONENT_INVALID_LABEL", "A button needs a label or an emoji"
        )
    if style == LINK_STYLE:
        if not str(button.get("url", "")).startswith(("http://", "https://", "discord://")):
            raise invalid_form(f"{path}.url", "BASE_TYPE_REQUIRED", "A url is required")
        return
    if style == PREMIUM_STYLE:
        return
    _custom_id(button.get("custom_id"), path, seen)


def _custom_id(value: object, path: str, seen: set[object]) -> None:
    if not isinstance(value, str) or not value:
        raise invalid_form(
            f"{path}.custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required"
        )
    if len(value) > MAX_CUSTOM_ID:
        raise invalid_form(
            f"{path}.custom_id",
            "BASE_TYPE_BAD_LENGTH",
            f"Must be between 1 and {MAX_CUSTOM_ID} in length.",
        )
    if value in seen:
        raise invalid_form(
            f"{path}.custom_id",
            "COMPONENT_CUSTOM_ID_DUPLICATED",
            "Component custom id cannot be duplicated",
        )
    seen.add(value)


def _attachments(attachments: object, files: int) -> None:
    if files > MAX_FILES:
        raise invalid_form(
            "attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_FILES} or fewer in length."
        )
    if attachments is None:
        return
    if not isinstance(attachments, list):
        raise invalid_form("attachments", "LIST_TYPE_CONVERT", "Only iterables may be used")
    for index, item in enumerate(attachments):
        number = item.get("id") if isinstance(item, dict) else None
        if not str(number).isdigit():
            raise invalid_form(
                f"attachments.{index}.id",
                "NUMBER_TYPE_COERCE",
                f'Value "{number}" is not snowflake.',
            )


def _reference(reference: object) -> None:
    if reference is None:
        return
    if not isinstance(reference, dict) or not str(reference.get("message_id", "")).isdigit():
        raise invalid_form(
            "message_reference.message_id", "BASE_TYPE_REQUIRED", "This field is required"
        )


def _command(command: dict[str, object], path: str) -> None:
    name, description = command.get("name"), command.get("description", "")
    chat_input = command.get("type", 1) == 1
    if (
        not isinstance(name, str)
        or not _COMMAND_NAME.match(name)
        or (chat_input and name != name.lower())
    ):
        raise invalid_form(
            f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"
        )
    if chat_input and (not isinstance(description, str) or not 1 <= len(description) <= 100):
        raise invalid_form(
            f"{path}.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."
        )
    options = command.get("options") or []
    if not isinstance(options, list) or len(options) > 25:
        raise invalid_form(
            f"{path}.options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."
        )
    for number, option in enumerate(options):
        where = f"{path}.options.{number}"
        if not isinstance(option, dict) or option.get("type") not in range(1, 12):
            raise invalid_form(f"{where}.type", "BASE_TYPE_CHOICES", "Unknown option type")
        if not _COMMAND_NAME.match(str(option.get("name", ""))):
            raise invalid_form(
                f"{where}.name", "APPLICATION_COMMAND_INVALID_NAME", "Option name is invalid"
            )
        if not 1 <= len(str(option.get("description", ""))) <= 100:
            raise invalid_form(
                f"{where}.description",
                "BASE_TYPE_BAD_LENGTH",
                "Must be between 1 and 100 in length.",
            )
