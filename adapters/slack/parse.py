"""Everything Slack sends, as events: one pure function, total over any input.

It takes each of the forms in which Slack delivers: the body of an Events API request, the bare
event in it, a Socket Mode envelope around either, an interactive payload (as the object or as the
form that carries it) and a slash command's form.
"""

import json
from dataclasses import replace
from typing import Final

from adapters.slack.emoji import character
from adapters.slack.event_context import BotIdentity, EventContext, event_context_of, is_guest
from adapters.slack.interactions import action_events, command_events
from adapters.slack.json_readers import Raw, as_mapping, event_id, identifier, mapping, stamp, text
from adapters.slack.messages import message_events
from gateway.message import InboundEvent, MembershipChanged, MessageAuthor, ReactionChanged

_BARE: Final = {
    "message",
    "app_mention",
    "reaction_added",
    "reaction_removed",
    "member_joined_channel",
    "member_left_channel",
    "user_change",
}
"""Types of the events that are understood."""

_LONGEST_FORM: Final = 1_000_000


def parse(payload: dict[str, object], me: BotIdentity | None = None) -> list[InboundEvent]:
    """The events in one delivery; empty for what is ignored. Never raises.

    `me` is the bot that the delivery reached; without it the payload's first authorization says
    which account is mentioned.
    """
    body = _unwrapped(as_mapping(payload))
    frame = event_context_of(body, me or BotIdentity())
    kind = text(body, "type", 50)
    if text(body, "command", 50).startswith("/"):
        return command_events(body, frame)
    if kind == "block_actions":
        return action_events(body, frame)
    if kind in _BARE:
        return _events(body, frame)
    return _events(mapping(body, "event"), frame)


def _unwrapped(body: Raw) -> Raw:
    """What lies in an envelope, or in the form field of an interactive request."""
    inner = body.get("payload")
    if isinstance(inner, str) and len(inner) <= _LONGEST_FORM:
        try:
            return as_mapping(json.loads(inner))
        except (ValueError, RecursionError):
            return {}
    if "envelope_id" in body:
        return as_mapping(inner)
    return body


def _events(event: Raw, frame: EventContext) -> list[InboundEvent]:
    match text(event, "type", 50):
        case "message":
            return message_events(event, frame, addressed=False)
        case "app_mention":
            return message_events(event, _mentioned(frame, event), addressed=True)
        case "reaction_added" | "reaction_removed" as kind:
            return _reaction(event, frame, added=kind == "reaction_added")
        case "member_joined_channel" | "member_left_channel" as kind:
            return _membership(event, frame, joined=kind == "member_joined_channel")
        case "user_change":
            return _user_changed(event, frame)
        case _:
            return []


def _mentioned(frame: EventContext, event: Raw) -> EventContext:
    """The frame without a bot that is not mentioned: then the authorization meant somebody else."""
    mine = frame.me.user_id
    if not mine or f"<@{mine}" in text(event, "text"):
        return frame
    return replace(frame, me=replace(frame.me, user_id=""))


def _reaction(event: Raw, frame: EventContext, *, added: bool) -> list[InboundEvent]:
    item, user = mapping(event, "item"), identifier(event, "user")
    channel, ts = identifier(item, "channel"), stamp(item, "ts")
    name = identifier(event, "reaction")
    if not (user and channel and ts and name) or user == frame.me.user_id:
        return []
    when = identifier(event, "event_ts")
    fallback = event_id(text(event, "type", 50), channel, ts, user, name, when)
    return [
        ReactionChanged(
            event_id=frame.event_id or fallback,
            place=frame.place(channel, text(item, "channel_type", 50)),
            author=MessageAuthor(user, frame.me.names.get(user, "")),
            message_id=ts,
            emoji=character(name),
            added=added,
        )
    ]


def _membership(event: Raw, frame: EventContext, *, joined: bool) -> list[InboundEvent]:
    user, channel = identifier(event, "user"), identifier(event, "channel")
    if not (user and channel):
        return []
    when = identifier(event, "event_ts")
    return [
        MembershipChanged(
            event_id=frame.event_id or event_id(text(event, "type", 50), channel, user, when),
            place=frame.place(channel, text(event, "channel_type", 50)),
            member=MessageAuthor(user, frame.me.names.get(user, "")),
            joined=joined,
            is_self=user == frame.me.user_id,
        )
    ]


def _user_changed(event: Raw, frame: EventContext) -> list[InboundEvent]:
    """A person whose account was deactivated, or who became a guest, has left the workspace."""
    about = mapping(event, "user")
    user = identifier(about, "id")
    if not (user and frame.team_id) or not (about.get("deleted") is True or is_guest(about)):
        return []
    when = identifier(event, "event_ts") or identifier(event, "cache_ts")
    return [
        MembershipChanged(
            event_id=frame.event_id or event_id("user_change", user, when),
            place=frame.place(frame.team_id),
            member=MessageAuthor(user, frame.me.names.get(user, "")),
            joined=False,
            is_self=user == frame.me.user_id,
            whole_workspace=True,
        )
    ]
