"""Platform-specific details of a message for its trace, without its text."""

from gateway.message import (
    DiscordExtras,
    Extras,
    SlackExtras,
    TelegramExtras,
    WhatsAppExtras,
)


def details_of(extras: Extras) -> str:
    """Return details such as "2 mentions, @everyone"; empty if there are none."""
    match extras:
        case DiscordExtras():
            details = _discord(extras)
        case SlackExtras():
            details = _slack(extras)
        case TelegramExtras():
            details = _telegram(extras)
        case WhatsAppExtras():
            details = _whatsapp(extras)
        case None:
            return ""
    return ", ".join(filter(None, details))


def _discord(extras: DiscordExtras) -> tuple[str, ...]:
    return (
        _counted(len(extras.mentions), "mention"),
        _counted(len(extras.role_mentions), "role mention"),
        "@everyone" * extras.mentions_everyone,
    )


def _slack(extras: SlackExtras) -> tuple[str, ...]:
    return (
        "blocks" * bool(extras.blocks),
        _counted(len(extras.mentions), "mention"),
        _counted(len(extras.channel_mentions), "channel mention"),
        "broadcast" * extras.broadcast,
    )


def _telegram(extras: TelegramExtras) -> tuple[str, ...]:
    return (
        "command" * extras.is_command,
        _counted(len(extras.mentions), "mention"),
        _counted(len(extras.hashtags), "hashtag"),
        "chosen from an inline query" * extras.via_bot,
    )


def _whatsapp(extras: WhatsAppExtras) -> tuple[str, ...]:
    return (
        "reply to a button or list" * (extras.interactive_reply is not None),
        "location" * (extras.location is not None),
        "came after the 24-hour window" * (not extras.window_open),
    )


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}" if number else ""
