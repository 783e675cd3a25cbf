"""The simulated world as Discord's JSON objects (API v10)."""

import re
from time import time
from typing import Final

from simulators.discord.world import (
    COMMAND_ANSWER,
    DM,
    EVERYONE_MAY,
    REPLY,
    SLASH,
    THREAD_STARTER,
    THREADS,
    Channel,
    Interaction,
    Message,
    StoredFile,
    User,
    World,
)

Json = dict[str, object]

SIGNED_SECONDS: Final = 86_400
VIEW_CHANNEL: Final = 1 << 10
READ_HISTORY: Final = 1 << 16
MEMBERS_LIMITED_FLAG: Final = 1 << 15
MESSAGE_CONTENT_LIMITED_FLAG: Final = 1 << 19
"""The application may read message content: switched on in the portal by a bot that is not
verified."""


def user_json(user: User) -> Json:
    """A user object."""
    return {
        "id": user.id,
        "username": user.name.lower().replace(" ", "_"),
        "global_name": None if user.is_bot else user.name,
        "discriminator": "0",
        "avatar": user.avatar,
        "bot": user.is_bot,
        "public_flags": 0,
    }


def member_json(world: World, user: User, *, with_user: bool = True) -> Json:
    """A member of the server; messages carry it without the user."""
    roles = [world.bot_role_id] if user.id == world.bot.id else []
    member: Json = {
        "roles": roles,
        "nick": None,
        "avatar": None,
        "joined_at": world.joined_at.isoformat(),
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
    }
    if with_user:
        member["user"] = user_json(user)
    return member


def application_json(world: World, *, message_content: bool, server_members: bool) -> Json:
    """The bot's application, with the privileged intents that are switched on."""
    flags = MESSAGE_CONTENT_LIMITED_FLAG if message_content else 0
    flags |= MEMBERS_LIMITED_FLAG if server_members else 0
    return {
        "id": world.application_id,
        "name": world.bot.name,
        "icon": None,
        "description": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "owner": user_json(world.owner),
        "flags": flags,
        "tags": [],
        "interactions_endpoint_url": None,
    }


def _role(role_id: str, name: str, permissions: int, bot_id: str = "") -> Json:
    role: Json = {
        "id": role_id,
        "name": name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0,
        "permissions": str(permissions),
        "managed": bool(bot_id),
        "mentionable": False,
        "flags": 0,
    }
    if bot_id:
        role["tags"] = {"bot_id": bot_id}
    return role


def guild_json(world: World) -> Json:
    """The server, as GUILD_CREATE carries it."""
    visible = [c for c in world.channels.values() if c.in_guild and not c.hidden_from_bot]
    return {
        "id": world.guild_id,
        "name": "Simulated server",
        "icon": None,
        "splash": None,
        "owner_id": world.owner.id,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "system_channel_flags": 0,
        "preferred_locale": "en-US",
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [
            _role(world.guild_id, "@everyone", EVERYONE_MAY),
            _role(world.bot_role_id, world.bot.name, EVERYONE_MAY, bot_id=world.bot.id),
        ],
        "channels": [channel_json(world, c) for c in visible if c.type not in THREADS],
        "threads": [channel_json(world, c) for c in visible if c.type in THREADS],
        "members": [member_json(world, world.bot)],
        "member_count": len(world.users),
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "joined_at": world.joined_at.isoformat(),
        "large": False,
        "unavailable": False,
    }


def _last_message(channel: Channel) -> str | None:
    """Discord also names a message that was deleted since."""
    return next(reversed(channel.messages), None)


def channel_json(world: World, channel: Channel) -> Json:
    """A channel, thread or direct conversation."""
    if channel.type == DM:
        recipient = world.users[channel.recipient_id]
        return {
            "id": channel.id,
            "type": DM,
            "flags": 0,
            "last_message_id": _last_message(channel),
            "recipients": [user_json(recipient)],
        }
    common: Json = {
        "id": channel.id,
        "type": channel.type,
        "guild_id": world.guild_id,
        "name": channel.name,
        "parent_id": channel.parent_id or None,
        "rate_limit_per_user": 0,
        "flags": 0,
        "last_message_id": _last_message(channel),
    }
    if channel.type in THREADS:
        stamp = world.joined_at.isoformat()
        return common | {
            "owner_id": channel.owner_id,
            "message_count": len(channel.messages),
            "member_count": 1,
            "total_message_sent": len(channel.messages),
            "thread_metadata": {
                "archived": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": stamp,
                "create_timestamp": stamp,
                "locked": False,
            },
        }
    return common | {
        "position": 0,
        "topic": None,
        "nsfw": False,
        "permission_overwrites": _overwrites(world, channel),
    }


def _overwrites(world: World, channel: Channel) -> list[Json]:
    """Discord, "Overwrite Object": type 0 is a role, type 1 a member."""
    history = str(READ_HISTORY)
    denied: list[Json] = [
        {"id": user, "type": 1, "allow": "0", "deny": history}
        for user in sorted(channel.without_history)
    ]
    if not channel.hidden_from_everyone:
        return denied
    view = str(VIEW_CHANNEL)
    return [
        {"id": world.guild_id, "type": 0, "allow": "0", "deny": view},
        {"id": world.bot_role_id, "type": 0, "allow": view, "deny": "0"},
        *denied,
    ]


def signature(later: float) -> str:
    """The query of a signed address, which expires after a day (Discord, "Signed Attachment CDN
    URLs"). The signature itself stands for nothing."""
    issued = int(time() + later)
    return f"ex={issued + SIGNED_SECONDS:x}&is={issued:x}&hm={'0' * 64}&"


def attachment_json(world: World, file: StoredFile, channel_id: str, cdn: str) -> Json:
    """An attachment with its address on the simulated CDN."""
    url = f"{cdn}/attachments/{channel_id}/{file.id}/{file.name}?{signature(world.later)}"
    return {
        "id": file.id,
        "filename": file.name,
        "size": len(file.data),
        "url": url,
        "proxy_url": url,
        "content_type": file.mime,
        "flags": 0,
        **({"duration_secs": 2.0, "waveform": "AAA="} if is_recording(file.name) else {}),
    }


def is_recording(name: str) -> bool:
    """True for the file that Discord's client makes of a voice message."""
    return name == "voice-message.ogg"


def message_json(world: World, message: Message, cdn: str, *, nested: bool = False) -> Json:
    """A message as REST returns it; `nested` leaves out the message it replies to."""
    author = world.users[message.author_id]
    mentioned = _mentioned(world, message)
    data: Json = {
        "id": message.id,
        "channel_id": message.channel_id,
        "type": message.type,
        "author": user_json(author),
        "content": message.content,
        "timestamp": message.timestamp.isoformat(),
        "edited_timestamp": message.edited.isoformat() if message.edited else None,
        "tts": False,
        "mention_everyone": _mentions_everyone(world, message),
        "mentions": [user_json(user) for user in mentioned],
        "mention_roles": re.findall(r"<@&(\d+)>", message.content),
        "attachments": [attachment_json(world, f, message.channel_id, cdn) for f in message.files],
        "embeds": message.embeds,
        "components": message.components,
        "pinned": False,
        "flags": message.flags,
        "reactions": [
            {"emoji": {"id": None, "name": emoji}, "count": len(who), "me": world.bot.id in who}
            for emoji, who in message.reactions.items()
        ],
    }
    if message.nonce is not None:
        data["nonce"] = message.nonce
    if message.webhook_id:
        data["webhook_id"] = message.webhook_id
        data["application_id"] = message.webhook_id
    if message.forwarded:
        data["message_reference"] = {"type": 1, "message_id": message.id, "channel_id": "1"}
        data["message_snapshots"] = [{"message": _snapshot(world, message)}]
        data["components"], data["embeds"] = [], []
    if message.reply_to_id and not nested:
        _add_reference(world, message, cdn, data)
    return data


def _snapshot(world: World, message: Message) -> Json:
    """The forwarded text, components and embeds of a message, as a snapshot."""
    return {
        "type": 0,
        "content": message.forwarded,
        "timestamp": message.timestamp.isoformat(),
        "edited_timestamp": None,
        "mentions": [
            user_json(world.users[user_id])
            for user_id in re.findall(r"<@(\d+)>", message.forwarded)
            if user_id in world.users
        ],
        "mention_roles": [],
        "attachments": [],
        "embeds": message.embeds,
        "components": message.components,
        "flags": 0,
    }


def _add_reference(world: World, message: Message, cdn: str, data: Json) -> None:
    starter = message.type == THREAD_STARTER  # it refers to a message of the channel
    channel_id = message.channel_id
    channel_id = world.channels[channel_id].parent_id if starter else channel_id
    original = world.message(channel_id, message.reply_to_id)
    data["message_reference"] = {
        "type": 0,
        "message_id": message.reply_to_id,
        "channel_id": channel_id,
    }
    if message.type in (REPLY, COMMAND_ANSWER, THREAD_STARTER):
        data["referenced_message"] = (
            message_json(world, original, cdn, nested=True) if original else None
        )


def _mentioned(world: World, message: Message) -> list[User]:
    ids = re.findall(r"<@!?(\d+)>", message.content)
    original = world.message(message.channel_id, message.reply_to_id)
    if message.type == REPLY and original and original.author_id != message.author_id:
        ids.append(original.author_id)
    return [world.users[i] for i in dict.fromkeys(ids) if i in world.users]


def _mentions_everyone(world: World, message: Message) -> bool:
    by_person = message.author_id != world.bot.id
    return by_person and bool(re.search(r"@(everyone|here)\b", message.content))


def gateway_message_json(world: World, message: Message, cdn: str) -> Json:
    """A message as the gateway carries it: with the server and the author's membership."""
    data = message_json(world, message, cdn)
    channel = world.channels[message.channel_id]
    data["channel_type"] = channel.type
    if channel.in_guild:
        data["guild_id"] = world.guild_id
        data["member"] = member_json(world, world.users[message.author_id], with_user=False)
    return data


def interaction_json(world: World, interaction: Interaction, data: Json, cdn: str) -> Json:
    """An interaction as INTERACTION_CREATE carries it."""
    channel = world.channels[interaction.channel_id]
    user = world.users[interaction.user_id]
    payload: Json = {
        "id": interaction.id,
        "application_id": world.application_id,
        "type": interaction.kind,
        "token": interaction.token,
        "version": 1,
        "data": data,
        "channel_id": channel.id,
        "channel": channel_json(world, channel),
        "locale": world.languages.get(user.id, "en-US"),
        "entitlements": [],
        "attachment_size_limit": 10 * 1024 * 1024,
        "app_permissions": str(EVERYONE_MAY),
        "authorizing_integration_owners": {"0": world.guild_id if channel.in_guild else "0"},
        "context": 0 if channel.in_guild else 1,
    }
    if channel.in_guild:
        payload["guild_id"] = world.guild_id
        payload["member"] = member_json(world, user) | {"permissions": str(EVERYONE_MAY)}
    else:
        payload["user"] = user_json(user)
    message = channel.messages.get(interaction.message_id)
    if interaction.kind != SLASH and message is not None:
        payload["message"] = message_json(world, message, cdn)
    return payload
