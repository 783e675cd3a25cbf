"""The payloads of Slack's events, commands and button presses, exactly as Slack sends them."""

import time
from collections.abc import Mapping
from typing import Final, TypeAlias

from simulators.slack.world import Message, World

Payload: TypeAlias = dict[str, object]

CHECK_FILE_INFO: Final = {"mode": "file_access", "file_access": "check_file_info", "created": 0}
"""All that a message in a channel with another company says of a file, besides its id
(docs.slack.dev, "File object", Slack Connect files)."""


def callback(world: World, event: Payload) -> Payload:
    """An event in the wrapping that the Events API gives it."""
    return {
        "token": "deprecated-verification-token",
        "team_id": world.team,
        "api_app_id": world.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": world.new_id("Ev"),
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": world.team,
                "user_id": world.bot_user,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": _is_shared(world, event),
        "event_context": f"4-{world.new_id('EC')}",
    }


def _is_shared(world: World, event: Payload) -> bool:
    place = event.get("channel") or event.get("item")
    channel = str(place.get("channel") if isinstance(place, dict) else place)
    return channel in world.channels and world.channels[channel].shared


def user_changed(world: World, user: str) -> Payload:
    """Something about a person changed."""
    return {"type": "user_change", "user": user_object(world, user), "event_ts": world.new_ts()}


def user_object(world: World, user: str) -> Payload:
    """A user, as events and `users.info` tell them."""
    name, team = world.name_of(user), world.team_of(user)
    is_bot = user == world.bot_user or world.people[user].is_bot
    return {
        "id": user,
        "team_id": team,
        "name": name.lower(),
        "is_bot": is_bot,
        "deleted": user in world.deactivated,
        "is_restricted": user in world.guests,
        "is_ultra_restricted": False,
        **({"is_stranger": True} if team != world.team else {}),
        "profile": {"real_name": name, "display_name": name},
    }


def file_object(file_url: str, world: World, message: Message) -> list[Payload]:
    """The files of a message, with the address from which the bot may fetch them."""
    return [
        {
            "id": file.id,
            "name": file.name,
            "title": file.name,
            "mimetype": file.mime,
            "filetype": file.name.rpartition(".")[2],
            "user": file.user,
            "mode": "hosted",
            "size": len(file.data),
            **_clip(file.name, file.mime),
            "url_private": f"{file_url}/files-pri/{world.team}-{file.id}/{file.name}",
            "url_private_download": (
                f"{file_url}/files-pri/{world.team}-{file.id}/download/{file.name}"
            ),
        }
        for file in message.files
    ]


def _clip(name: str, mime: str) -> Payload:
    """The fields that Slack adds to a clip of its client, which is named "audio_message"."""
    if not (name.startswith("audio_message") and mime.startswith("audio/")):
        return {}
    return {"subtype": "slack_audio", "duration_ms": 2_000, "transcription": {"status": "none"}}


def message_body(world: World, message: Message, base: str) -> Payload:
    """A message as it stands in events and in the Web API's answers."""
    body: Payload = {
        "type": "message",
        "user": message.user,
        "ts": message.ts,
        "text": message.text,
        "team": world.team_of(message.user),
    }
    if message.by_bot:
        body |= {"bot_id": world.bot_id, "app_id": world.app_id}
    if message.blocks:
        body["blocks"] = message.blocks
    if message.attachments:
        body["attachments"] = message.attachments
    if message.thread_ts:
        body |= {"thread_ts": message.thread_ts, "parent_user_id": _starter(world, message)}
    elif any(m.thread_ts == message.ts for m in world.channels[message.channel].messages):
        body["thread_ts"] = message.ts
    if message.files:
        shared = world.channels[message.channel].shared
        body["files"] = (
            [{"id": file.id, **CHECK_FILE_INFO} for file in message.files]
            if shared
            else file_object(base, world, message)
        )
        body["upload"] = False
    if message.edited_ts:
        body["edited"] = {"user": message.user, "ts": message.edited_ts}
    return body


def _starter(world: World, message: Message) -> str:
    first = world.find(message.channel, message.thread_ts)
    return first.user if first is not None else ""


def _in_channel(world: World, message: Message, event_ts: str) -> Payload:
    kind = world.channels[message.channel].event_type
    return {"channel": message.channel, "event_ts": event_ts, "channel_type": kind}


def written(world: World, message: Message, base: str) -> Payload:
    """Somebody posted a message."""
    event = message_body(world, message, base) | _in_channel(world, message, message.ts)
    if message.files:
        event["subtype"] = "file_share"
    return event


def mentioned(world: World, message: Message, base: str) -> Payload:
    """The second event of a message that mentions the bot; it lacks the channel's type."""
    event = message_body(world, message, base)
    return event | {"type": "app_mention", "channel": message.channel, "event_ts": message.ts}


def changed(world: World, message: Message, before: Payload, base: str) -> Payload:
    """A message reads differently now."""
    now = world.new_ts()
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": message_body(world, message, base),
        "previous_message": before,
        "hidden": True,
        "ts": now,
        **_in_channel(world, message, now),
    }


def removed(world: World, message: Message, before: Payload) -> Payload:
    """A message is gone."""
    now = world.new_ts()
    return {
        "type": "message",
        "subtype": "message_deleted",
        "deleted_ts": message.ts,
        "previous_message": before,
        "hidden": True,
        "ts": now,
        **_in_channel(world, message, now),
    }


def reacted(world: World, message: Message, user: str, name: str, *, added: bool) -> Payload:
    """Somebody added or took back a reaction."""
    return {
        "type": "reaction_added" if added else "reaction_removed",
        "user": user,
        "reaction": name,
        "item_user": message.user,
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "event_ts": world.new_ts(),
    }


def membership(world: World, channel: str, user: str, *, joined: bool) -> Payload:
    """Somebody came or went."""
    kind = "G" if world.channels[channel].kind == "private" else "C"
    return {
        "type": "member_joined_channel" if joined else "member_left_channel",
        "user": user,
        "channel": channel,
        "channel_type": kind,
        "team": world.team,
        "event_ts": world.new_ts(),
    }


def slash_command(world: World, channel: str, user: str, name: str, text: str, url: str) -> Payload:
    """The form of a slash command."""
    where = world.channels[channel]
    called = {"direct": "directmessage", "private": "privategroup", "public": where.title}
    return {
        "token": "deprecated-verification-token",
        "team_id": world.team_of(user),
        "team_domain": "simulated",
        "channel_id": channel,
        "channel_name": called[where.kind],
        "user_id": user,
        "user_name": world.name_of(user),
        "command": f"/{name}",
        "text": text,
        "api_app_id": world.app_id,
        "is_enterprise_install": "false",
        "response_url": url,
        "trigger_id": world.new_trigger(),
    }


def pressed(
    world: World, message: Message, user: str, action: Mapping[str, object], url: str, base: str
) -> Payload:
    """Somebody pressed a button; `action` is what it carries."""
    where = world.channels[message.channel]
    called = {"direct": "directmessage", "private": "privategroup", "public": where.title}
    container: Payload = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    payload: Payload = {
        "type": "block_actions",
        "user": {
            "id": user,
            "username": world.name_of(user),
            "name": world.name_of(user),
            "team_id": world.team_of(user),
        },
        "api_app_id": world.app_id,
        "token": "deprecated-verification-token",
        "container": container,
        "trigger_id": world.new_trigger(),
        "team": {"id": world.team, "domain": "simulated"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": message.channel, "name": called[where.kind]},
        "state": {"values": {}},
        "response_url": url,
        "actions": [{**action, "action_ts": world.new_ts()}],
    }
    if not message.only_for:
        payload["message"] = message_body(world, message, base)
    return payload
