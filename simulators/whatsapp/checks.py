"""Checks `POST /{phone_number_id}/messages` as strictly as the Cloud API.

Limits: Meta, "Messages" reference and the guides on text, interactive reply buttons (body 1,024),
interactive lists (body 4,096), media captions (1,024) and template messages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from simulators.whatsapp.errors import GraphError

MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024
MAX_BUTTON_BODY: Final = 1024
MAX_LIST_BODY: Final = 4096
MEDIA_KINDS: Final = ("image", "video", "audio", "document", "sticker")

_COMMON: Final = {
    "messaging_product",
    "recipient_type",
    "to",
    "recipient",
    "type",
    "context",
    "biz_opaque_callback_data",
}
_BAD_PARAMETER: Final = re.compile(r"[\n\t]| {5,}")
_TEMPLATE_NAME: Final = re.compile(r"[a-z0-9_]{1,512}")


@dataclass(frozen=True, slots=True)
class Choice:
    """A reply button, or a row of a list."""

    id: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that passed: who gets it and what it shows."""

    kind: str
    address: str
    by: Literal["to", "recipient"]
    text: str = ""
    choices: tuple[Choice, ...] = ()
    choice_kind: Literal["", "button", "list"] = ""
    media_id: str = ""
    filename: str = ""
    reply_to: str = ""
    reaction_to: str = ""
    template: tuple[str, str] = ("", "")
    parameters: tuple[str, ...] = ()
    parameter_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadMark:
    """`status: read`, with or without the typing indicator."""

    message_id: str
    typing: bool


def check(body: Mapping[str, Any]) -> Draft | ReadMark:
    """The message in the request's body. Raises `GraphError`."""
    if body.get("messaging_product") != "whatsapp":
        raise GraphError(100, "The parameter messaging_product is required.")
    if "status" in body:
        return _read_mark(body)
    kind = body.get("type", "text")
    if kind not in ("text", "interactive", "template", "reaction", *MEDIA_KINDS):
        raise GraphError(100, f"Param type must be one of the known types - got {kind!r}.")
    for key in body:
        if key not in _COMMON and key != kind:
            raise GraphError(100, f'Unexpected key "{key}" on param.')
    if body.get("recipient_type", "individual") != "individual":
        raise GraphError(100, "Param recipient_type must be individual.")
    address, by = _address(body)
    content = _object(body, kind)
    return _CONTENT[kind if kind not in MEDIA_KINDS else "media"](
        content, kind, address, by, _reply_to(body)
    )


def _read_mark(body: Mapping[str, Any]) -> ReadMark:
    if body["status"] != "read":
        raise GraphError(100, "Param status must be one of {READ}.")
    if unexpected := set(body) - {"messaging_product", "status", "message_id", "typing_indicator"}:
        raise GraphError(100, f'Unexpected key "{min(unexpected)}" on param.')
    typing = body.get("typing_indicator")
    if typing is not None and typing != {"type": "text"}:
        raise GraphError(100, "Param typing_indicator['type'] must be one of {TEXT}.")
    return ReadMark(_string(body, "message_id", 1, 512), typing is not None)


def _address(body: Mapping[str, Any]) -> tuple[str, Literal["to", "recipient"]]:
    if "to" in body:
        digits = re.sub(r"[+ ()-]", "", _string(body, "to", 1, 64))
        if not re.fullmatch(r"[0-9]{5,15}", digits):
            raise GraphError(131009, "Param to must be a phone number.")
        return digits, "to"
    if "recipient" in body:
        recipient = _string(body, "recipient", 1, 140)
        if not re.fullmatch(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}", recipient):
            raise GraphError(131009, "Param recipient must be a business-scoped user ID.")
        return recipient, "recipient"
    raise GraphError(100, "The parameter to is required.")


def _reply_to(body: Mapping[str, Any]) -> str:
    if "context" not in body:
        return ""
    return _string(_object(body, "context"), "message_id", 1, 512)


def _text(
    content: Mapping[str, Any], kind: str, address: str, by: Literal["to", "recipient"], reply: str
) -> Draft:
    _only(content, "text", "body", "preview_url")
    return Draft(kind, address, by, text=_string(content, "body", 1, MAX_TEXT), reply_to=reply)


def _media(
    content: Mapping[str, Any], kind: str, address: str, by: Literal["to", "recipient"], reply: str
) -> Draft:
    voice = ("voice",) if kind == "audio" else ()
    _only(content, kind, "id", "link", "caption", "filename", *voice)
    if not isinstance(content.get("voice", False), bool):
        raise GraphError(100, "Param voice must be a boolean.")
    if ("id" in content) == ("link" in content):
        raise GraphError(100, f"Param {kind} needs exactly one of id and link.")
    caption = _optional(content, "caption", MAX_CAPTION)
    if caption and kind in ("audio", "sticker"):
        raise GraphError(100, f'Unexpected key "caption" on param "{kind}".')
    filename = _optional(content, "filename", 240)
    if filename and kind != "document":
        raise GraphError(100, f'Unexpected key "filename" on param "{kind}".')
    if "link" in content and not _string(content, "link", 1, 2048).startswith(("http:", "https:")):
        raise GraphError(131009, f"Param {kind}['link'] is not a valid URL.")
    media_id = _string(content, "id", 1, 128) if "id" in content else ""
    return Draft(
        kind, address, by, text=caption, media_id=media_id, filename=filename, reply_to=reply
    )


def _interactive(
    content: Mapping[str, Any], kind: str, address: str, by: Literal["to", "recipient"], reply: str
) -> Draft:
    _only(content, "interactive", "type", "header", "body", "footer", "action")
    form = content.get("type")
    if form not in ("button", "list"):
        raise GraphError(131009, "Param interactive['type'] must be one of {button, list}.")
    limit = MAX_BUTTON_BODY if form == "button" else MAX_LIST_BODY
    text = _string(_object(content, "body"), "text", 1, limit)
    if "header" in content:
        _string(_object(content, "header"), "text", 1, 60)
    if "footer" in content:
        _string(_object(content, "footer"), "text", 1, 60)
    action = _object(content, "action")
    choices = _reply_buttons(action) if form == "button" else _rows(action)
    if len({choice.id for choice in choices}) != len(choices):
        raise GraphError(131009, "Duplicated reply id in interactive action.")
    return Draft(kind, address, by, text=text, choices=choices, choice_kind=form, reply_to=reply)


def _reply_buttons(action: Mapping[str, Any]) -> tuple[Choice, ...]:
    _only(action, "action", "buttons")
    choices: list[Choice] = []
    for button in _list(action, "buttons", 3):
        _only(button, "button", "type", "reply")
        if button.get("type") != "reply":
            raise GraphError(131009, "Button type must be reply.")
        reply = _object(button, "reply")
        _only(reply, "reply", "id", "title")
        identity = _string(reply, "id", 1, 256)
        if identity != identity.strip():
            raise GraphError(131009, "Button id must not have leading or trailing spaces.")
        choices.append(Choice(identity, _string(reply, "title", 1, 20)))
    if len({choice.title for choice in choices}) != len(choices):
        raise GraphError(131009, "Duplicated reply title in interactive action.")
    return tuple(choices)


def _rows(action: Mapping[str, Any]) -> tuple[Choice, ...]:
    _only(action, "action", "button", "sections")
    _string(action, "button", 1, 20)
    sections = _list(action, "sections", 10)
    choices: list[Choice] = []
    for section in sections:
        _only(section, "section", "title", "rows")
        _string(section, "title", 1 if len(sections) > 1 else 0, 24, required=len(sections) > 1)
        for row in _list(section, "rows", 10):
            _only(row, "row", "id", "title", "description")
            choices.append(
                Choice(
                    _string(row, "id", 1, 200),
                    _string(row, "title", 1, 24),
                    _optional(row, "description", 72),
                )
            )
    if len(choices) > 10:
        raise GraphError(131009, "Total row count exceed max allowed count: 10.")
    return tuple(choices)


def _template(
    content: Mapping[str, Any], kind: str, address: str, by: Literal["to", "recipient"], reply: str
) -> Draft:
    _only(content, "template", "name", "language", "components", "namespace")
    name = _string(content, "name", 1, 512)
    if not _TEMPLATE_NAME.fullmatch(name):
        raise GraphError(132001, f"template name ({name[:60]}) does not exist")
    language = _string(_object(content, "language"), "code", 2, 12)
    parameters: list[str] = []
    names: list[str] = []
    for component in _list(content, "components", 10) if "components" in content else []:
        if component.get("type") != "body":
            continue
        for parameter in _list(component, "parameters", 20):
            _only(parameter, "parameter", "type", "text", "parameter_name")
            if parameter.get("type") != "text":
                raise GraphError(132012, "body: only text parameters are known here")
            value = _string(parameter, "text", 1, 32_768)
            if _BAD_PARAMETER.search(value):
                raise GraphError(
                    132018,
                    "Param text cannot have new-line/tab characters or more than 4 "
                    "consecutive spaces",
                )
            parameters.append(value)
            names.append(str(parameter.get("parameter_name", "")))
    return Draft(
        kind,
        address,
        by,
        template=(name, language),
        parameters=tuple(parameters),
        parameter_names=tuple(names),
        reply_to=reply,
    )


def _reaction(
    content: Mapping[str, Any], kind: str, address: str, by: Literal["to", "recipient"], reply: str
) -> Draft:
    _only(content, "reaction", "message_id", "emoji")
    return Draft(
        kind,
        address,
        by,
        text=_string(content, "emoji", 0, 20),
        reaction_to=_string(content, "message_id", 1, 512),
        reply_to=reply,
    )


_CONTENT: Final = {
    "text": _text,
    "media": _media,
    "interactive": _interactive,
    "template": _template,
    "reaction": _reaction,
}


def _object(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    if not isinstance(value, dict):
        raise GraphError(131008 if value is None else 100, f"The parameter {key} is required.")
    return value


def _list(holder: Mapping[str, Any], key: str, most: int) -> list[Mapping[str, Any]]:
    value = holder.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(x, dict) for x in value):
        raise GraphError(131008 if value is None else 100, f"The parameter {key} is required.")
    if len(value) > most:
        raise GraphError(131009, f"Invalid {key} count. Max allowed: {most}.")
    return value


def _only(holder: Mapping[str, Any], name: str, *keys: str) -> None:
    for key in holder:
        if key not in keys:
            raise GraphError(100, f'Unexpected key "{key}" on param "{name}".')


def _optional(holder: Mapping[str, Any], key: str, most: int) -> str:
    return _string(holder, key, 0, most, required=False)


def _string(
    holder: Mapping[str, Any], key: str, least: int, most: int, *, required: bool = True
) -> str:
    value = holder.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise GraphError(131008 if value is None else 100, f"The parameter {key} is required.")
    if not least <= len(value) <= most or (least and not value.strip()):
        raise GraphError(
            100, f"Param {key} must be at least {least} and at most {most} characters long."
        )
    return value
