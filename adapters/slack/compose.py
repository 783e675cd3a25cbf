"""A rendered part as the body of Slack's posting methods: pure, no I/O."""

from collections.abc import Sequence
from typing import Final

from adapters.slack.manifest import MAX_BUTTONS
from adapters.slack.message_text import escape
from gateway.errors import FormatRejected, Permanent
from gateway.message import Button, Part

_MAX_BLOCKS: Final = 50
_SECTION: Final = 3_000
_LABEL: Final = 75


def compose(part: Part, buttons: Sequence[Button] = ()) -> dict[str, object]:
    """`text` and, where there are any, `blocks`: the same for posting, updating and answering.

    A payload that equals its plain text has no markup, and is shown letter by letter. Raises
    `Permanent` for more buttons than Slack takes, `FormatRejected` when they do not fit below the
    part's blocks.
    """
    if len(buttons) > MAX_BUTTONS:
        raise Permanent(f"Slack: at most {MAX_BUTTONS} buttons under a message")
    if isinstance(part.payload, str):
        literal = part.payload == part.text
        body: dict[str, object] = {"text": escape(part.payload) if literal else part.payload}
        if literal:
            body["mrkdwn"] = False
        blocks = _sections(part.payload, literal=literal) if buttons else []
    else:
        body = dict(part.payload)
        # Screen readers and notifications read the text; an empty one would leave them silent.
        body.setdefault("text", escape(part.text) or "–")
        given = body.get("blocks")
        blocks = list(given) if isinstance(given, list | tuple) else []
    if buttons:
        blocks.append(_actions(buttons))
    if len(blocks) > _MAX_BLOCKS:
        raise FormatRejected(f"Slack: no room for buttons below {len(blocks) - 1} blocks")
    if blocks:
        body["blocks"] = blocks
    return body


def _sections(payload: str, *, literal: bool) -> list[object]:
    """Buttons are blocks, and beside blocks the text is not shown: it becomes blocks as well."""
    kind = "plain_text" if literal else "mrkdwn"
    pieces = [payload[i : i + _SECTION] for i in range(0, len(payload), _SECTION)]
    return [
        {"type": "section", "text": {"type": kind, "text": piece}}
        for piece in pieces
        if piece.strip()
    ]


def _actions(buttons: Sequence[Button]) -> dict[str, object]:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": f"parley-{number}",
                "text": {"type": "plain_text", "text": _label(button)},
                "value": button.value,
            }
            for number, button in enumerate(buttons, 1)
        ],
    }


def _label(button: Button) -> str:
    label = button.label.strip() or button.value
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"
