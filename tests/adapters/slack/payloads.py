"""Deliveries as Slack makes them, for one imagined workspace."""

from typing import Any

BOT, ANNA, TEAM, ROOM = "U0BOT", "U0ANNA", "T0TEAM", "C0ROOM"
TS = "1700000000.000100"


def callback(event: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The body of an Events API request."""
    return {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": "A0APP",
        "event_id": "Ev0EVENT",
        "event_time": 1700000000,
        "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
        "event": event,
    } | changes


def message(text: str = "hello", **changes: Any) -> dict[str, Any]:
    """A message event."""
    return {
        "type": "message",
        "user": ANNA,
        "text": text,
        "ts": TS,
        "channel": ROOM,
        "channel_type": "channel",
        "event_ts": TS,
        "team": TEAM,
    } | changes


def edited(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """A message_changed event."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "channel": ROOM,
        "channel_type": "channel",
        "ts": "1700000009.000100",
        "hidden": True,
        "message": now,
        "previous_message": before,
    }


def block_actions(*actions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An interactive payload: something below a message was pressed."""
    return {
        "type": "block_actions",
        "user": {"id": ANNA, "username": "anna", "name": "anna", "team_id": TEAM},
        "team": {"id": TEAM, "domain": "team"},
        "container": {"type": "message", "message_ts": TS, "channel_id": ROOM},
        "channel": {"id": ROOM, "name": "room"},
        "trigger_id": "1.2.3",
        "response_url": "https://hooks.slack.com/actions/T0TEAM/1/x",
        "actions": list(actions),
    } | changes


BUTTON = {
    "type": "button",
    "action_id": "parley-1",
    "text": {"type": "plain_text", "text": "Yes"},
    "value": "yes",
    "action_ts": "1700000001.000001",
}
MENU = {
    "type": "static_select",
    "action_id": "menu",
    "selected_option": {"text": {"type": "plain_text", "text": "Two"}, "value": "2"},
    "action_ts": "1700000001.000002",
}
COMMAND = {
    "command": "/Ask",
    "text": "what does <@U0BEN|ben> say &amp; <#C0ROOM|room>",
    "team_id": TEAM,
    "channel_id": ROOM,
    "channel_name": "room",
    "user_id": ANNA,
    "user_name": "anna",
    "trigger_id": "9.8.7",
    "response_url": "https://hooks.slack.com/commands/T0TEAM/1/x",
}
RICH = [
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "user", "user_id": BOT},
                    {"type": "text", "text": " a < b "},
                    {"type": "link", "url": "https://example.org"},
                    {"type": "emoji", "name": "wave"},
                ],
            },
            {
                "type": "rich_text_list",
                "style": "bullet",
                "elements": [
                    {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
                    {"type": "rich_text_section", "elements": [{"type": "text", "text": "two"}]},
                ],
            },
        ],
    }
]

EVERYTHING: list[dict[str, Any]] = [
    callback(message("hi <@U0BOT> and <@U0BEN|ben> in <#C0ROOM> <!here> <https://a.b|a>")),
    callback({"type": "app_mention", "user": ANNA, "text": "<@U0BOT>", "ts": TS, "channel": ROOM}),
    callback(message("", blocks=RICH)),
    callback(
        message(
            "files",
            subtype="file_share",
            files=[{"id": "F1", "mimetype": "image/png", "url_private": "https://x", "size": 5}],
        )
    ),
    callback(
        message(
            "",
            attachments=[{"is_share": True, "text": "quoted", "ts": TS, "author_id": "U0BEN"}],
        )
    ),
    callback(edited(message("new", edited={"ts": "1.2"}), message("old"))),
    callback(
        {
            "type": "message",
            "subtype": "message_deleted",
            "channel": ROOM,
            "deleted_ts": TS,
            "previous_message": message(),
        }
    ),
    callback(
        {
            "type": "reaction_added",
            "user": ANNA,
            "reaction": "+1",
            "item": {"type": "message", "channel": ROOM, "ts": TS},
            "event_ts": "1.2",
        }
    ),
    callback({"type": "member_joined_channel", "user": BOT, "channel": ROOM, "channel_type": "C"}),
    block_actions(BUTTON, MENU),
    COMMAND,
    {"envelope_id": "e", "type": "events_api", "payload": callback(message())},
    {"envelope_id": "e", "type": "slash_commands", "payload": COMMAND},
]
"""One of each form and kind."""
