"""The checks of a Telegram account for `parley doctor`."""

from adapters.shared.json_readers import JsonObject, as_mapping, integer
from adapters.shared.json_readers import text as text_at
from adapters.telegram.client import RawBot
from adapters.telegram.errors import ASK_BOTFATHER, CHECK_NETWORK, UNKNOWN_TOKEN, reason_in
from adapters.telegram.library import InvalidToken, TelegramError
from adapters.telegram.manifest import TelegramSettings
from gateway.ports import Check
from gateway.text import Text, counted, joined, text, verbatim
from safety.http.shown_address import shown_address


async def diagnose(bot: RawBot, settings: TelegramSettings) -> list[Check]:
    """Check the token, privacy mode, inline mode and the delivery of updates. Never raises."""
    checks = [_secret(settings)] if settings.mode == "webhook" else []
    try:
        me = as_mapping(await bot.call("getMe", {}))
        checks.append(
            Check(
                "bot token",
                True,
                text("this is {name}", name=verbatim(f"@{text_at(me, 'username')}")),
            )
        )
        checks += [_privacy(me), _inline(me)]
        checks.append(_delivery(settings, as_mapping(await bot.call("getWebhookInfo", {}))))
    except InvalidToken:
        checks.append(Check("bot token", False, UNKNOWN_TOKEN, ASK_BOTFATHER, "credential"))
    except TelegramError as error:
        found = reason_in(error)
        checks.append(Check("connection", False, found, CHECK_NETWORK, "unreachable"))
    return checks


def _secret(settings: TelegramSettings) -> Check:
    if settings.webhook_secret.get_secret_value():
        return Check("webhook secret", True, text("set"))
    detail = text("webhook mode without a secret: anyone could send updates")
    advice = text("Set `platforms.telegram.webhook_secret` to a long random text.")
    return Check("webhook secret", False, detail, advice)


def _privacy(me: JsonObject) -> Check:
    if me.get("can_read_all_group_messages") is True:
        off = text("off: the bot sees every message in its groups")
        return Check("privacy mode", True, off)
    return Check(
        "privacy mode",
        True,
        text("on: in groups the bot sees only commands, mentions of it and replies to it"),
        text(
            "To let it follow whole conversations: @BotFather, `/setprivacy`, Disable; "
            "then remove the bot from the group and add it again."
        ),
    )


def _inline(me: JsonObject) -> Check:
    if me.get("supports_inline_queries") is True:
        return Check("inline mode", True, text("on"))
    detail = text("off: @bot and a question cannot be used in other chats")
    return Check("inline mode", True, detail, text("To offer it: @BotFather, `/setinline`."))


def _delivery(settings: TelegramSettings, webhook: JsonObject) -> Check:
    url = verbatim(shown_address(text_at(webhook, "url")))
    error = text_at(webhook, "last_error_message")
    waiting = counted(
        "{count} update is waiting",
        "{count} updates are waiting",
        count=integer(webhook, "pending_update_count") or 0,
    )
    if settings.mode == "polling":
        if not url:
            return Check("updates", True, _and(text("long polling"), waiting))
        detail = text(
            "a webhook is set ({address}), but the configuration says polling", address=url
        )
        advice = text(
            "Parley removes it when it starts; another program that uses it needs another bot."
        )
        return Check("updates", False, detail, advice)
    if not url:
        return Check("updates", True, text("Parley sets the webhook when it starts"))
    if error:
        failed = text("the last call of the webhook failed: {reason}", reason=verbatim(error))
        advice = text(
            "Check that `platforms.telegram.webhook_url` reaches Parley's public listener."
        )
        return Check("updates", False, _and(failed, waiting), advice)
    return Check("updates", True, _and(text("webhook {address}", address=url), waiting))


def _and(first: Text, second: Text) -> Text:
    return joined((first, second), "; ")
