"""Buttons, menus and slash commands."""

import json
from typing import Final

from adapters.slack.event_context import EventContext
from adapters.slack.json_readers import Raw, event_id, identifier, items, mapping, stamp, text
from adapters.slack.message_text import read
from gateway.message import ButtonPressed, CommandInvoked, InboundEvent, MessageAuthor, Part

_MAX_ACTIONS: Final = 25
_MAX_BLOCKS: Final = 50
_MAX_TEXT: Final = 40_000
_MAX_SHOWN: Final = 100_000
"""Characters of a message's blocks that are kept until its buttons are gone."""
_CHOICES: Final = {"static_select", "overflow", "radio_buttons"}


def command_events(form: Raw, frame: EventContext) -> list[InboundEvent]:
    """A slash command. The arguments' mentions are resolved as in a message."""
    name = text(form, "command", 50).removeprefix("/").lower()
    user, channel = identifier(form, "user_id"), identifier(form, "channel_id")
    if not (name and user and channel):
        return []
    arguments = text(form, "text")
    # A trigger id is made anew for every invocation and kept on redelivery.
    invoked = identifier(form, "trigger_id") or event_id(channel, user, name, arguments)
    return [
        CommandInvoked(
            event_id=event_id("command", invoked),
            place=frame.place(channel, text(form, "channel_name", 100)),
            author=MessageAuthor(
                user,
                text(form, "user_name", 80) or frame.me.names.get(user, ""),
                outside=frame.is_outside(identifier(form, "team_id")),
            ),
            name=name,
            arguments=read(arguments, "", frame.me.names).content,
            reply_handle=text(form, "response_url", 1000),
        )
    ]


def action_events(payload: Raw, frame: EventContext) -> list[InboundEvent]:
    """Buttons pressed and menu entries chosen under a message; those in modals are not ours."""
    container, message = mapping(payload, "container"), mapping(payload, "message")
    where, who = mapping(payload, "channel"), mapping(payload, "user")
    channel = identifier(where, "id") or identifier(container, "channel_id")
    user = identifier(who, "id")
    if not (channel and user):
        return []
    ts = stamp(container, "message_ts") or stamp(message, "ts")
    thread = stamp(container, "thread_ts") or stamp(message, "thread_ts")
    place = frame.place(channel, text(where, "name", 100), "" if thread == ts else thread)
    name = text(who, "name", 80) or text(who, "username", 80)
    author = MessageAuthor(user, name, outside=frame.is_outside(identifier(who, "team_id")))
    found: list[InboundEvent] = []
    for action in items(payload, "actions", _MAX_ACTIONS):
        chosen = _chosen(action)
        if chosen is None:
            continue
        value, label = chosen
        which = text(action, "action_id", 255)
        when = stamp(action, "action_ts") or identifier(payload, "trigger_id")
        found.append(
            ButtonPressed(
                event_id=event_id("action", channel, ts, user, which, when),
                place=place,
                author=author,
                value=value,
                label=label,
                message_id=ts,
                reply_handle=text(payload, "response_url", 1000),
                shown=_without_buttons(message),
            )
        )
    return found


def _without_buttons(message: Raw) -> Part | None:
    """What a message of ours says; None where Slack does not tell, as for ephemeral ones."""
    said = text(message, "text", _MAX_TEXT)
    blocks = [dict(one) for one in items(message, "blocks", _MAX_BLOCKS)]
    kept: list[object] = [one for one in blocks if one.get("type") != "actions"]
    if not said and not kept:
        return None
    payload: dict[str, object] = {"text": said, "blocks": kept}
    return Part(payload, said) if len(json.dumps(kept)) <= _MAX_SHOWN else Part(said, said)


def _chosen(action: Raw) -> tuple[str, str] | None:
    """Value and label of what was pressed; None for controls that we never send."""
    kind = text(action, "type", 50)
    if kind == "button":
        option = action
    elif kind in _CHOICES:
        option = mapping(action, "selected_option")
    else:
        return None
    value = text(option, "value", 2000) or text(action, "action_id", 255)
    return (value, text(mapping(option, "text"), "text", 100)) if value else None
