"""Slack's deliveries as events: one pure function for any input.

It accepts every form in which Slack delivers: the body of an Events API request, the bare event in
it, a Socket Mode envelope around either, an interactive payload (as the object or as the form that
carries it) and a slash command's form.
"""

import json
from typing import Final

from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    identifier,
    items,
    mapping,
    text,
)
from adapters.slack.emoji import character
from adapters.slack.event_context import (
    EventContext,
    SlackBot,
    event_context_of,
    event_id,
    is_guest,
    message_ts,
)
from adapters.slack.message_text import read_text
from adapters.slack.messages import message_events
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MembershipChanged,
    MessageAuthor,
    Part,
    ReactionChanged,
)

_EVENTS: Final = {
    "message",
    "app_mention",
    "reaction_added",
    "reaction_removed",
    "member_joined_channel",
    "member_left_channel",
    "user_change",
}
"""The types of event that are parsed."""
_MAX_FORM: Final = 1_000_000
_MAX_ACTIONS: Final = 25
_MAX_BLOCKS: Final = 50
_MAX_SHOWN: Final = 100_000
"""Characters of a message's blocks that are kept until its buttons are removed."""
_MENUS: Final = {"static_select", "overflow", "radio_buttons"}


def parse(payload: dict[str, object], me: SlackBot | None = None) -> list[InboundEvent]:
    """The events of one delivery; empty for a delivery that is ignored. Never raises.

    `me` is the bot that received the delivery. Without it, the payload's first authorization names
    the bot's account.
    """
    body = _unwrapped(as_mapping(payload))
    context = event_context_of(body, me or SlackBot())
    kind = text(body, "type", 50)
    if text(body, "command", 50).startswith("/"):
        return _command(body, context)
    if kind == "block_actions":
        return _actions(body, context)
    return _event(body if kind in _EVENTS else mapping(body, "event"), context)


def _unwrapped(body: JsonObject) -> JsonObject:
    """The content of an envelope, or of the form field of an interactive request."""
    inner = body.get("payload")
    if isinstance(inner, str) and len(inner) <= _MAX_FORM:
        try:
            return as_mapping(json.loads(inner))
        except (ValueError, RecursionError):
            return {}
    return as_mapping(inner) if "envelope_id" in body else body


def _event(event: JsonObject, context: EventContext) -> list[InboundEvent]:
    match text(event, "type", 50):
        case "message":
            return message_events(event, context, addressed=False)
        case "app_mention":
            return message_events(event, _mentioned(context, event), addressed=True)
        case "reaction_added" | "reaction_removed" as kind:
            return _reaction(event, context, added=kind == "reaction_added")
        case "member_joined_channel" | "member_left_channel" as kind:
            return _membership(event, context, joined=kind == "member_joined_channel")
        case "user_change":
            return _user_changed(event, context)
        case _:
            return []


def _mentioned(context: EventContext, event: JsonObject) -> EventContext:
    """The context without a bot that is not mentioned: the authorization then names another one."""
    mine = context.me.user_id
    if not mine or f"<@{mine}" in text(event, "text"):
        return context
    return replace(context, me=replace(context.me, user_id=""))


def _reaction(event: JsonObject, context: EventContext, *, added: bool) -> list[InboundEvent]:
    item, user = mapping(event, "item"), identifier(event, "user")
    channel, ts = identifier(item, "channel"), message_ts(item, "ts")
    name, when = identifier(event, "reaction"), identifier(event, "event_ts")
    if not (user and channel and ts and name) or user == context.me.user_id:
        return []
    fallback = event_id(text(event, "type", 50), channel, ts, user, name, when)
    place = context.place(channel, text(item, "channel_type", 50))
    emoji, author = character(name), context.member(user)
    return [ReactionChanged(context.event_id or fallback, place, author, ts, emoji, added)]


def _membership(event: JsonObject, context: EventContext, *, joined: bool) -> list[InboundEvent]:
    user, channel = identifier(event, "user"), identifier(event, "channel")
    if not (user and channel):
        return []
    when = identifier(event, "event_ts")
    return [
        MembershipChanged(
            event_id=context.event_id or event_id(text(event, "type", 50), channel, user, when),
            place=context.place(channel, text(event, "channel_type", 50)),
            member=context.member(user),
            joined=joined,
            is_self=user == context.me.user_id,
        )
    ]


def _user_changed(event: JsonObject, context: EventContext) -> list[InboundEvent]:
    """A deactivated account, or one that became a guest's, has left the workspace."""
    about = mapping(event, "user")
    user = identifier(about, "id")
    left = about.get("deleted") is True or is_guest(about)
    if not (user and context.team_id and left):
        return []
    when = identifier(event, "event_ts") or identifier(event, "cache_ts")
    return [
        MembershipChanged(
            event_id=context.event_id or event_id("user_change", user, when),
            place=context.place(context.team_id),
            member=context.member(user),
            joined=False,
            is_self=user == context.me.user_id,
            whole_workspace=True,
        )
    ]


def _command(form: JsonObject, context: EventContext) -> list[InboundEvent]:
    """A slash command. Mentions in its arguments are resolved as in a message."""
    name = text(form, "command", 50).removeprefix("/").lower()
    user, channel = identifier(form, "user_id"), identifier(form, "channel_id")
    if not (name and user and channel):
        return []
    arguments = text(form, "text")
    # A trigger id is unique to an invocation and stays the same on redelivery.
    invocation = identifier(form, "trigger_id") or event_id(channel, user, name, arguments)
    outside = context.is_outside(identifier(form, "team_id"))
    user_name = text(form, "user_name", 80) or context.me.names.get(user, "")
    return [
        CommandInvoked(
            event_id=event_id("command", invocation),
            place=context.place(channel, text(form, "channel_name", 100)),
            author=MessageAuthor(user, user_name, outside=outside),
            name=name,
            arguments=read_text(arguments, "", context.me.names).content,
            reply_handle=text(form, "response_url", 1000),
        )
    ]


def _actions(payload: JsonObject, context: EventContext) -> list[InboundEvent]:
    """Pressed buttons and selected menu entries under a message. Parley uses no modals."""
    container, message = mapping(payload, "container"), mapping(payload, "message")
    where, who = mapping(payload, "channel"), mapping(payload, "user")
    channel = identifier(where, "id") or identifier(container, "channel_id")
    user = identifier(who, "id")
    if not (channel and user):
        return []
    ts = message_ts(container, "message_ts") or message_ts(message, "ts")
    thread = message_ts(container, "thread_ts") or message_ts(message, "thread_ts")
    place = context.place(channel, text(where, "name", 100), "" if thread == ts else thread)
    name = text(who, "name", 80) or text(who, "username", 80)
    author = MessageAuthor(user, name, outside=context.is_outside(identifier(who, "team_id")))
    events: list[InboundEvent] = []
    for action in items(payload, "actions", _MAX_ACTIONS):
        choice = _choice(action)
        if choice is None:
            continue
        action_id = text(action, "action_id", 255)
        when = message_ts(action, "action_ts") or identifier(payload, "trigger_id")
        events.append(
            ButtonPressed(
                event_id=event_id("action", channel, ts, user, action_id, when),
                place=place,
                author=author,
                value=choice[0],
                label=choice[1],
                message_id=ts,
                reply_handle=text(payload, "response_url", 1000),
                shown=_without_buttons(message),
            )
        )
    return events


def _without_buttons(message: JsonObject) -> Part | None:
    """The content of a message of the bot; None where Slack omits it, as for ephemeral ones."""
    content = text(message, "text")
    blocks: list[object] = [
        dict(block)
        for block in items(message, "blocks", _MAX_BLOCKS)
        if block.get("type") != "actions"
    ]
    if not content and not blocks:
        return None
    fits = len(json.dumps(blocks)) <= _MAX_SHOWN
    return Part({"text": content, "blocks": blocks} if fits else content, content)


def _choice(action: JsonObject) -> tuple[str, str] | None:
    """Value and label of a choice; None for controls that Parley never sends."""
    kind = text(action, "type", 50)
    if kind != "button" and kind not in _MENUS:
        return None
    option = action if kind == "button" else mapping(action, "selected_option")
    value = text(option, "value", 2000) or text(action, "action_id", 255)
    return (value, text(mapping(option, "text"), "text", 100)) if value else None
