"""Updates as the Bot API delivers them, written for these tests."""

from typing import Any

from adapters.telegram.message_text import TelegramBot

ME = TelegramBot("900", "OurBot")
ANN: dict[str, Any] = {"id": 11, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}
BOT: dict[str, Any] = {"id": 900, "is_bot": True, "first_name": "Our", "username": "OurBot"}
PRIVATE: dict[str, Any] = {"id": 11, "type": "private", "first_name": "Ann"}
GROUP: dict[str, Any] = {"id": -100200, "type": "supergroup", "title": "Team"}
DATE = 1_790_000_000


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def entity(text: str, part: str, kind: str, **more: Any) -> dict[str, Any]:
    at = text.index(part)
    return {"type": kind, "offset": units(text[:at]), "length": units(part), **more}


def message(text: str = "", **more: Any) -> dict[str, Any]:
    raw: dict[str, Any] = {"message_id": 7, "from": ANN, "chat": PRIVATE, "date": DATE}
    if text:
        raw["text"] = text
    return {**raw, **more}


def update(
    kind: str = "message", body: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    return {"update_id": 5000, kind: message(**more) if body is None else body}


def samples() -> list[dict[str, Any]]:
    """One of every kind that is parsed, rich enough to be worth mutating."""
    text = "/ask@OurBot 😀 why #now see https://a.example and @Bob"
    entities = [
        entity(text, "/ask@OurBot", "bot_command"),
        entity(text, "#now", "hashtag"),
        entity(text, "https://a.example", "url"),
        entity(text, "@Bob", "mention"),
    ]
    reply = message("earlier 😀", message_id=6)
    photo = [{"file_id": "p1", "width": 9, "height": 9, "file_size": 10}]
    member = {"user": ANN, "status": "member"}
    return [
        update(text=text, entities=entities, reply_to_message=reply, chat=GROUP),
        update(
            text="hi", quote={"text": "part", "position": 0}, via_bot=BOT, is_topic_message=True
        ),
        update(photo=photo, caption="look", media_group_id="g1"),
        update(document={"file_id": "d", "file_name": "a.txt", "mime_type": "text/plain"}),
        update(sticker={"file_id": "s", "emoji": "😀"}),
        update(venue={"title": "T", "address": "A", "location": {"latitude": 1, "longitude": 2}}),
        update(contact={"first_name": "Bo", "phone_number": "+1"}),
        update(poll={"question": "Q", "options": [{"text": "a"}, {"text": "b"}]}),
        update(text="fw", forward_origin={"type": "user", "sender_user": ANN, "date": DATE}),
        update(new_chat_members=[ANN], chat=GROUP),
        update("edited_message", text="new"),
        update("channel_post", sender_chat=GROUP, text="post"),
        update(
            "callback_query",
            {"id": "77", "from": ANN, "message": message("x"), "data": "yes"},
        ),
        update("inline_query", {"id": "78", "from": ANN, "query": "q", "chat_type": "group"}),
        update(
            "message_reaction",
            {
                "chat": GROUP,
                "message_id": 7,
                "user": ANN,
                "date": DATE,
                "old_reaction": [{"type": "emoji", "emoji": "👎"}],
                "new_reaction": [{"type": "emoji", "emoji": "👍"}],
            },
        ),
        update(
            "my_chat_member",
            {
                "chat": GROUP,
                "from": ANN,
                "date": DATE,
                "old_chat_member": {"user": BOT, "status": "left"},
                "new_chat_member": {"user": BOT, "status": "restricted", "is_member": True},
            },
        ),
        update(
            "chat_member",
            {
                "chat": GROUP,
                "from": ANN,
                "date": DATE,
                "old_chat_member": member,
                "new_chat_member": {**member, "status": "left"},
            },
        ),
    ]
