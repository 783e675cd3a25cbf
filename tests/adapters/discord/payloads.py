"""Gateway payloads in the shape Discord sends them, written for these tests."""

from collections.abc import Mapping

Json = dict[str, object]

BOT, ANN, BEN = "900000000000000001", "900000000000000010", "900000000000000011"
GUILD, CHANNEL, THREAD, DIRECT = "800000000000000001", "700000000000000001", "71", "72"
OWN_ROLE, OTHER_ROLE = "600000000000000001", "600000000000000002"
MESSAGE = "500000000000000001"


def user(id_: str, name: str, **more: object) -> Json:
    """A user object."""
    return {"id": id_, "username": name.lower(), "global_name": name, "bot": False, **more}


def member(nick: str | None = None, **more: object) -> Json:
    """A member as messages carry it."""
    return {"nick": nick, "roles": [], "joined_at": "2026-03-01T10:00:00+00:00", **more}


def message(content: str = "hello", **more: object) -> Json:
    """A message in a channel of a server."""
    return {
        "id": MESSAGE,
        "type": 0,
        "channel_id": CHANNEL,
        "channel_type": 0,
        "guild_id": GUILD,
        "author": user(ANN, "Ann"),
        "member": member(),
        "content": content,
        "timestamp": "2026-03-02T08:30:00.125000+01:00",
        "edited_timestamp": None,
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "attachments": [],
        "embeds": [],
        "components": [],
        **more,
    }


def direct(content: str = "hello", **more: object) -> Json:
    """A direct message: no server, no member."""
    data = message(content, channel_id=DIRECT, channel_type=1)
    del data["guild_id"], data["member"]
    return data | more


def event(name: str, data: Mapping[str, object], sequence: int = 7) -> Json:
    """A dispatched gateway message."""
    return {"op": 0, "t": name, "s": sequence, "d": dict(data)}


def command(**more: object) -> Json:
    """The interaction of a slash command in a server."""
    return {
        "id": "410000000000000001",
        "application_id": "420000000000000001",
        "type": 2,
        "token": "secret-interaction-token",
        "version": 1,
        "guild_id": GUILD,
        "channel_id": CHANNEL,
        "channel": {"id": CHANNEL, "type": 0, "guild_id": GUILD, "name": "general"},
        "member": member("Annie", user=user(ANN, "Ann"), permissions="2147483647"),
        "context": 0,
        "data": {
            "id": "430000000000000001",
            "type": 1,
            "name": "ask",
            "options": [{"type": 3, "name": "question", "value": "why?"}],
        },
        **more,
    }


def button(**more: object) -> Json:
    """The interaction of a pressed button in a direct conversation."""
    row = {"type": 1, "components": [{"type": 2, "custom_id": "yes", "label": "Yes!", "style": 2}]}
    data = command(
        type=3,
        user=user(ANN, "Ann"),
        channel_id=DIRECT,
        channel={"id": DIRECT, "type": 1, "recipients": [user(ANN, "Ann")]},
        context=1,
        data={"component_type": 2, "custom_id": "yes"},
        message={
            "id": MESSAGE,
            "channel_id": DIRECT,
            "author": user(BOT, "B"),
            "components": [row],
        },
    )
    del data["guild_id"], data["member"]
    return data | more


CDN = "https://cdn.discordapp.com/attachments"
ATTACHMENTS = [
    {
        "id": "1",
        "filename": "cat.png",
        "size": 5120,
        "url": f"{CDN}/1/1/cat.png?ex=1",
        "content_type": "image/png",
    },
    {
        "id": "2",
        "filename": "notes.txt",
        "size": 12,
        "url": f"{CDN}/2/notes.txt",
    },
    {
        "id": "3",
        "filename": "voice.ogg",
        "url": f"{CDN}/3/v",
        "content_type": "audio/ogg",
    },
]

REPLY: Json = message(
    "I agree",
    type=19,
    message_reference={"type": 0, "message_id": "490", "channel_id": CHANNEL},
    referenced_message=message("the plan", id="490", author=user(BEN, "Ben")),
    mentions=[user(BEN, "Ben")],
)
FORWARD: Json = message(
    "",
    message_reference={"type": 1, "message_id": "1", "channel_id": "2"},
    message_snapshots=[{"message": {"content": "the minutes", "attachments": ATTACHMENTS[:1]}}],
)

EXAMPLES: tuple[Json, ...] = (
    event("MESSAGE_CREATE", message(f"<@{BOT}> hi", mentions=[user(BOT, "B", bot=True)])),
    event("MESSAGE_CREATE", message(channel_id=THREAD, channel_type=11)),
    event("MESSAGE_CREATE", direct("see", attachments=ATTACHMENTS)),
    event("MESSAGE_CREATE", REPLY),
    event("MESSAGE_CREATE", FORWARD),
    event("MESSAGE_CREATE", message(sticker_items=[{"id": "5", "name": "Wave", "format_type": 1}])),
    event("MESSAGE_CREATE", message(webhook_id="33", author={"id": "33", "username": "Hook"})),
    event("MESSAGE_UPDATE", message("new", edited_timestamp="2026-03-02T08:31:00+00:00")),
    event("MESSAGE_UPDATE", {"id": MESSAGE, "channel_id": CHANNEL, "embeds": []}),
    event("MESSAGE_DELETE", {"id": MESSAGE, "channel_id": CHANNEL, "guild_id": GUILD}),
    event("MESSAGE_DELETE_BULK", {"ids": ["1", "2"], "channel_id": CHANNEL, "guild_id": GUILD}),
    event(
        "MESSAGE_REACTION_ADD",
        {
            "user_id": ANN,
            "channel_id": CHANNEL,
            "message_id": MESSAGE,
            "guild_id": GUILD,
            "member": member(user=user(ANN, "Ann")),
            "emoji": {"id": None, "name": "🎉"},
        },
    ),
    event(
        "MESSAGE_REACTION_REMOVE",
        {
            "user_id": ANN,
            "channel_id": DIRECT,
            "message_id": MESSAGE,
            "emoji": {"id": "3", "name": "ok"},
        },
    ),
    event("INTERACTION_CREATE", command()),
    event("INTERACTION_CREATE", button()),
    event("GUILD_CREATE", {"id": GUILD, "name": "Server", "system_channel_id": CHANNEL}),
    event("GUILD_DELETE", {"id": GUILD}),
    event("GUILD_MEMBER_ADD", {"guild_id": GUILD, "user": user(BEN, "Ben"), "nick": None}),
    event("GUILD_MEMBER_REMOVE", {"guild_id": GUILD, "user": user(BEN, "Ben")}),
)
