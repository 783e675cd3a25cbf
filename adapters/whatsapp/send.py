"""Outbound messages as bodies of `POST /{phone_number_id}/messages`. Pure.

An `Outbound` is exactly one message. Up to three buttons that fit are reply buttons under a text of
at most 1,024 characters; other choices are a list, whose text may have 4,096 (Meta, "Interactive
reply buttons messages" and "Interactive list messages"). So the text is never cut and never sent
in two messages.
"""

from datetime import datetime
from typing import Final, TypeAlias

from adapters.whatsapp.manifest import MEDIA, TEXTUAL
from adapters.whatsapp.service_window import WhatsAppTemplate, filled
from gateway.errors import Permanent, WindowClosed
from gateway.message import Button, Outbound, OutboundFile, Part
from gateway.text import ENGLISH, Language, label

Body: TypeAlias = dict[str, object]

MAX_REPLY_BUTTONS: Final = 3
MAX_ROWS: Final = 10
BUTTON_TITLE: Final = 20
BUTTON_BODY: Final = 1024
ROW_TITLE: Final = 24
ROW_DESCRIPTION: Final = 72
LIST_BODY: Final = 4096
LIST_BUTTON: Final = label("Choose")


def message_to(address: str, reply_to: str = "") -> Body:
    """The fields of every message: `to` for a phone number, `recipient` for a BSUID."""
    field = "to" if address.isascii() and address.isdigit() else "recipient"
    body: Body = {"messaging_product": "whatsapp", "recipient_type": "individual", field: address}
    if reply_to:
        body["context"] = {"message_id": reply_to}
    return body


def free_form(outbound: Outbound, language: Language = ENGLISH) -> Body:
    """A message without a file, inside the 24-hour window, to a reader of this language. Raises
    `Permanent`."""
    text = text_body(outbound.part) if outbound.part is not None else ""
    if outbound.buttons:
        return choice_message(text, outbound.buttons, language)
    if not text.strip():
        raise Permanent("WhatsApp: there is nothing to send")
    return text_message(text)


def as_template(
    outbound: Outbound, template: WhatsAppTemplate | None, assistant: str, now: datetime
) -> Body:
    """A message outside the 24-hour window. Raises `WindowClosed` for anything but a text, and
    without a template."""
    if template is None or outbound.part is None or outbound.file or outbound.buttons:
        raise WindowClosed(
            "WhatsApp: more than 24 hours since the person wrote; only a template with a text "
            "may be sent (platforms.whatsapp.template)"
        )
    return template_message(text_body(outbound.part), template, assistant, now)


def text_body(part: Part) -> str:
    """The text of a part."""
    return part.payload if isinstance(part.payload, str) else part.text


def text_message(text: str) -> Body:
    """A text, without a preview of its links."""
    return {"type": "text", "text": {"body": text, "preview_url": False}}


def choice_message(text: str, buttons: tuple[Button, ...], language: Language = ENGLISH) -> Body:
    """A text with choices. Raises `Permanent` for choices that WhatsApp cannot show."""
    if len(buttons) > MAX_ROWS:
        raise Permanent(f"WhatsApp: {len(buttons)} choices; a message has at most {MAX_ROWS}")
    if not text.strip():
        raise Permanent("WhatsApp: choices need a text above them")
    if _fit_as_buttons(text, buttons):
        action: Body = {
            "buttons": [
                {"type": "reply", "reply": {"id": b.value, "title": b.label}} for b in buttons
            ]
        }
        return _interactive("button", text, action)
    if len(text) > LIST_BODY:
        raise Permanent(f"WhatsApp: {len(text)} characters above choices; at most {LIST_BODY}")
    action = {
        "button": language.shown(LIST_BUTTON),
        "sections": [{"rows": [_row(b) for b in buttons]}],
    }
    return _interactive("list", text, action)


def template_message(text: str, template: WhatsAppTemplate, assistant: str, at: datetime) -> Body:
    """A message by template: the text in its variable. Raises `WindowClosed` when the text does not
    fit."""
    flat = " ".join(text.split())
    if not flat or len(flat) > template.max_chars:
        raise WindowClosed(
            f"WhatsApp: the 24-hour window is closed, and {len(flat)} characters do not fit the "
            f"template {template.name} (at most {template.max_chars})"
        )
    facts = {"text": flat, "assistant": assistant, "date": f"{at:%Y-%m-%d}"}
    return {
        "type": "template",
        "template": {
            "name": template.name,
            "language": {"code": template.language},
            "components": [{"type": "body", "parameters": filled(template, facts)}],
        },
    }


def upload_type(file: OutboundFile) -> tuple[str, str]:
    """Kind of message and upload type of a file. Raises `Permanent` for unsupported types."""
    mime = file.mime.partition(";")[0].strip().lower()
    if mime not in MEDIA and (mime.startswith("text/") or mime in TEXTUAL):
        mime = "text/plain"
    known = MEDIA.get(mime)
    if known is None:
        raise Permanent(f"WhatsApp accepts no files of type {mime[:80] or 'unknown'}")
    kind, limit = known
    if len(file.data) > limit:
        raise Permanent(f"WhatsApp: {len(file.data)} bytes; at most {limit} for {mime}")
    return kind, f"{mime}; codecs=opus" if file.voice is not None else mime


def media_message(
    kind: str, media_id: str, name: str, caption: str = "", *, voice: bool = False
) -> Body:
    """An uploaded file. Only documents have a name, and audio has no caption; with `voice` it is a
    voice message (Meta, "Audio messages": OGG with Opus)."""
    content: Body = {"id": media_id}
    if voice and kind == "audio":
        content["voice"] = True
    if kind == "document":
        content["filename"] = name[:240] or "file"
    if caption and kind != "audio":
        content["caption"] = caption
    return {"type": kind, kind: content}


def _fit_as_buttons(text: str, buttons: tuple[Button, ...]) -> bool:
    labels = {button.label for button in buttons}
    return (
        len(buttons) <= MAX_REPLY_BUTTONS
        and len(text) <= BUTTON_BODY
        and len(labels) == len(buttons)
        and all(len(b.label) <= BUTTON_TITLE and not b.description for b in buttons)
    )


def _row(button: Button) -> Body:
    """A row of a list. The description contains a label that is too long for the title."""
    row: Body = {"id": button.value, "title": button.label}
    description = button.description
    if len(button.label) > ROW_TITLE:
        row["title"] = button.label[: ROW_TITLE - 1].rstrip() + "…"
        description = f"{button.label}: {description}" if description else button.label
    if len(description) > ROW_DESCRIPTION:
        description = description[: ROW_DESCRIPTION - 1].rstrip() + "…"
    if description:
        row["description"] = description
    return row


def _interactive(kind: str, text: str, action: Body) -> Body:
    interactive = {"type": kind, "body": {"text": text}, "action": action}
    return {"type": "interactive", "interactive": interactive}
