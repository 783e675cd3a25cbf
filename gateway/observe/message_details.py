"""What only its platform says of a message, in a few words for its trace, without its text."""

from gateway.message import (
    DiscordExtras,
    Extras,
    SlackExtras,
    TelegramExtras,
    WhatsAppExtras,
)


def details_of(extras: Extras) -> str:
    """Such as "2 mentions, @everyone"; empty where there is nothing to say."""
    match extras:
        case DiscordExtras():
            told = _discord(extras)
        case SlackExtras():
            told = _slack(extras)
        case TelegramExtras():
            told = _telegram(extras)
        case WhatsAppExtras():
            told = _whatsapp(extras)
        case None:
            return ""
    return ", ".join(filter(None, told))


def _discord(said: DiscordExtras) -> tuple[str, ...]:
    return (
        _counted(len(said.mentions), "mention"),
        _counted(len(said.role_mentions), "role mention"),
        "@everyone" * said.mentions_everyone,
    )


def _slack(said: SlackExtras) -> tuple[str, ...]:
    return (
        "blocks" * bool(said.blocks),
        _counted(len(said.mentions), "mention"),
        _counted(len(said.channel_mentions), "channel mention"),
        "broadcast" * said.broadcast,
    )


def _telegram(said: TelegramExtras) -> tuple[str, ...]:
    return (
        "command" * said.is_command,
        _counted(len(said.mentions), "mention"),
        _counted(len(said.hashtags), "hashtag"),
        "chosen from an inline query" * said.via_bot,
    )


def _whatsapp(said: WhatsAppExtras) -> tuple[str, ...]:
    return (
        "reply to a button or list" * (said.interactive_reply is not None),
        "location" * (said.location is not None),
        "came after the 24-hour window" * (not said.window_open),
    )


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}" if number else ""
