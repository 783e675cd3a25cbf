"""The checks of a Telegram account for `parley doctor`."""

from adapters.shared.json_readers import JsonObject, as_mapping, text
from adapters.telegram.client import RawBot
from adapters.telegram.errors import ASK_BOTFATHER
from adapters.telegram.library import InvalidToken, TelegramError
from adapters.telegram.manifest import TelegramSettings
from gateway.ports import Check
from safety.http.shown_address import shown_address


async def diagnose(bot: RawBot, settings: TelegramSettings) -> list[Check]:
    """Check the token, privacy mode, inline mode and the delivery of updates. Never raises."""
    checks = [_secret(settings)] if settings.mode == "webhook" else []
    try:
        me = as_mapping(await bot.call("getMe", {}))
        checks.append(Check("bot token", True, f"this is @{text(me, 'username')}"))
        checks += [_privacy(me), _inline(me)]
        checks.append(_delivery(settings, as_mapping(await bot.call("getWebhookInfo", {}))))
    except InvalidToken:
        detail = "Telegram does not know it"
        checks.append(Check("bot token", False, detail, ASK_BOTFATHER, "credential"))
    except TelegramError as error:
        advice = "Check the network, and platforms.telegram.base_url."
        checks.append(Check("connection", False, error.message, advice, "unreachable"))
    return checks


def _secret(settings: TelegramSettings) -> Check:
    if settings.webhook_secret.get_secret_value():
        return Check("webhook secret", True, "set")
    detail = "webhook mode without a secret: anyone could send updates"
    advice = "Set platforms.telegram.webhook_secret to a long random text."
    return Check("webhook secret", False, detail, advice)


def _privacy(me: JsonObject) -> Check:
    if me.get("can_read_all_group_messages") is True:
        return Check("privacy mode", True, "off: the bot sees every message in its groups")
    return Check(
        "privacy mode",
        True,
        "on: in groups the bot sees only commands, mentions of it and replies to it",
        "To let it follow whole conversations: @BotFather, /setprivacy, Disable; "
        "then remove the bot from the group and add it again.",
    )


def _inline(me: JsonObject) -> Check:
    if me.get("supports_inline_queries") is True:
        return Check("inline mode", True, "on")
    detail = "off: @bot and a question cannot be used in other chats"
    return Check("inline mode", True, detail, "To offer it: @BotFather, /setinline.")


def _delivery(settings: TelegramSettings, webhook: JsonObject) -> Check:
    url, error = shown_address(text(webhook, "url")), text(webhook, "last_error_message")
    waiting = f"{webhook.get('pending_update_count')} updates are waiting"
    if settings.mode == "polling":
        if not url:
            return Check("updates", True, f"long polling; {waiting}")
        detail = f"a webhook is set ({url}), but the configuration says polling"
        advice = "Parley removes it when it starts; another program that uses it needs another bot."
        return Check("updates", False, detail, advice)
    if not url:
        return Check("updates", True, "Parley sets the webhook when it starts")
    if error:
        detail = f"the last call of the webhook failed: {error}; {waiting}"
        advice = "Check that webhook_url reaches Parley's public listener."
        return Check("updates", False, detail, advice)
    return Check("updates", True, f"webhook {url}; {waiting}")
