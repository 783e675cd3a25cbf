"""Short ways to make the values that tests are about."""

from datetime import UTC, datetime

from gateway.conversation import key_of
from gateway.message import ChatMessage, MessageAuthor, MessageReceived, Outbound, Part, Place
from gateway.people import Audience

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def place(
    channel: str = "C1",
    audience: Audience = Audience.PUBLIC_ROOM,
    *,
    thread: str = "",
    platform: str = "test",
    account: str = "main",
    workspace: str = "W1",
) -> Place:
    return Place(platform, account, channel, audience, workspace, thread)


def direct(person: str = "ada", platform: str = "test") -> Place:
    return Place(platform, "main", f"dm-{person}", Audience.DIRECT)


def conversation(channel: str = "C1", tenant: str = "default") -> str:
    """The text of a conversation's key."""
    return str(key_of(tenant, place(channel)))


def message(
    content: str = "hello",
    *,
    message_id: str = "m1",
    author: str = "ada",
    at: Place | None = None,
    is_bot: bool = False,
    mentions_bot: bool = False,
    mentions_others: bool = False,
    timestamp: datetime = AT,
) -> ChatMessage:
    return ChatMessage(
        id=message_id,
        content=content,
        author=MessageAuthor(author, author.title(), is_bot),
        place=at or direct(author),
        timestamp=timestamp,
        mentions_bot=mentions_bot,
        mentions_others=mentions_others,
    )


def received(content: str = "hello", *, message_id: str = "m1", **rest: object) -> MessageReceived:
    return MessageReceived(f"e-{message_id}", message(content, message_id=message_id, **rest))  # type: ignore[arg-type]


def outbound(key: str = "r1:0", text: str = "hello", at: Place | None = None) -> Outbound:
    return Outbound(key, at or direct(), Part(text, text))
