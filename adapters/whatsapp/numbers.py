"""Lists the business phone numbers that an access token may use, for `parley init`.

Source: Meta, "Managing WhatsApp Business Accounts": `debug_token` names the accounts of each
permission, and `{account}/phone_numbers` their numbers.
"""

import asyncio
from typing import Final

from adapters.shared.json_readers import JsonObject, identifier, identifiers, items, mapping, text
from adapters.whatsapp.client import GraphClient
from adapters.whatsapp.doctor import refused_token
from adapters.whatsapp.errors import GraphRefused
from adapters.whatsapp.manifest import WhatsAppSettings
from gateway.errors import DeliveryError
from gateway.ports import AccountSettings, SettingChoices

PERMISSION: Final = "whatsapp_business_management"
MAX_ACCOUNTS: Final = 5
MAX_NUMBERS: Final = 20
SECONDS: Final = 20.0


async def phone_numbers(settings: AccountSettings) -> SettingChoices:
    """The numbers of the token's accounts; none where Meta does not list them. Never raises."""
    if not isinstance(settings, WhatsAppSettings) or not settings.access_token:
        return SettingChoices()
    graph = GraphClient(settings)
    try:
        async with asyncio.timeout(SECONDS):
            return SettingChoices(tuple(await _numbers(graph)))
    except GraphRefused as error:
        return SettingChoices(failed=tuple(refused_token(error.failure)))
    except (DeliveryError, TimeoutError):
        return SettingChoices()
    finally:
        await graph.close()


async def _numbers(graph: GraphClient) -> list[tuple[str, str]]:
    numbers: dict[str, str] = {}
    for account in _accounts(await graph.token()):
        for number in items(await graph.numbers(account, MAX_NUMBERS), "data", MAX_NUMBERS):
            id_ = identifier(number, "id", 20)
            if id_.isdecimal():
                shown = text(number, "display_phone_number", 40)
                numbers[id_] = f"{shown} {text(number, 'verified_name', 100)}".strip()
    return list(numbers.items())[:MAX_NUMBERS]


def _accounts(described: JsonObject) -> list[str]:
    """The WhatsApp accounts that the token may manage. A permission without ids is for all of a
    business, which the answer does not list."""
    for scope in items(mapping(described, "data"), "granular_scopes"):
        if text(scope, "scope", 100) == PERMISSION:
            ids = identifiers(scope, "target_ids", MAX_ACCOUNTS)
            return [id_ for id_ in ids if id_.isdecimal()]
    return []
