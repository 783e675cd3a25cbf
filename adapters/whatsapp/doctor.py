"""The checks of a WhatsApp account for `parley doctor`, and the business phone numbers that its
token may use for `parley init`.

Source: Meta, "Managing WhatsApp Business Accounts": `debug_token` names the accounts of each
permission, and `{account}/phone_numbers` their numbers. "Template management":
`{account}/message_templates` lists templates with their statuses. "Messaging and Calling Health
Status": `health_status` of a number names its account.
"""

import asyncio
from typing import Final

from adapters.shared.json_readers import JsonObject, identifier, identifiers, items, mapping
from adapters.shared.json_readers import text as text_at
from adapters.whatsapp.client import GraphClient
from adapters.whatsapp.errors import (
    APP_SETTINGS_PAGE,
    CHECK_NETWORK,
    HOW_TO_AUTHENTICATE,
    TOKEN_CODES,
    WHICH_PHONE_NUMBER_ID,
    WRONG_ID_SUBCODE,
    GraphFailure,
    GraphRefused,
)
from adapters.whatsapp.manifest import API_VERSION, WhatsAppSettings
from adapters.whatsapp.service_window import WhatsAppTemplate
from gateway.errors import DeliveryError
from gateway.ports import AccountSettings, Check, SettingChoices
from gateway.text import Text, joined, text, verbatim

# Translators: the access token.
ACCEPTED: Final = text("accepted")
MISSING: Final = text("missing")
APPROVED: Final = "APPROVED"
UNKNOWN: Final = "UNKNOWN"
UNCERTAIN: Final = text("Meta does not say if it is approved")
NO_TEMPLATE: Final = text("the account has no template {name}")
LATER: Final = text("Try again in a few minutes.")
COMPARE: Final = text(
    "Compare its name, language and status with WhatsApp Manager > Message templates. Until it is "
    "approved, people who have not written for 24 hours cannot be reached."
)
MAX_TEMPLATES: Final = 100
MAX_ENTITIES: Final = 20
OLDEST_VERSION: Final = 22
"""Graph API versions live about two years; v22.0 is of January 2025 (Graph API changelog)."""


async def diagnose(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    """The checks, in the order of setting an account up. Never raises."""
    return [
        _present(
            "app secret",
            bool(settings.app_secret),
            text(
                "Copy it from App settings > Basic. Without it, anyone could send events in the "
                "name of Meta, so WhatsApp does not start."
            ),
        ),
        _present(
            "verify token",
            bool(settings.verify_token),
            text(
                "Choose any long text, and enter the same under WhatsApp > Configuration > Webhook."
            ),
        ),
        _version(settings.api_version),
        *(account := await _account(settings, graph)),
        await _template(settings, graph, answers=all(check.ok for check in account)),
    ]


async def _account(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    if not settings.access_token or not settings.phone_number_id:
        return [
            _present("access token", bool(settings.access_token), HOW_TO_AUTHENTICATE),
            _present("phone number id", bool(settings.phone_number_id), WHICH_PHONE_NUMBER_ID),
        ]
    try:
        answer = await graph.number()
    except GraphRefused as error:
        return _refused(error.failure)
    except DeliveryError as error:
        return [Check("platform reachable", False, error.said, CHECK_NETWORK, "unreachable")]
    number = text_at(answer, "display_phone_number", 40)
    if not number:
        id_ = verbatim(settings.phone_number_id)
        detail = text("{id} exists, but is not a phone number", id=id_)
        return [Check("access token", True, ACCEPTED), _wrong_id(detail)]
    name = verbatim(f"{number} {text_at(answer, 'verified_name', 100)}".strip())
    quality = text_at(answer, "quality_rating", 20)
    rated = verbatim(quality) if quality else text("unknown")
    return [
        Check("access token", True, ACCEPTED),
        Check("phone number id", True, text("{name} (quality {rating})", name=name, rating=rated)),
        *await _secret_of_app(settings, graph),
    ]


async def _secret_of_app(settings: WhatsAppSettings, graph: GraphClient) -> list[Check]:
    """A failed check when Meta says that the app secret is not that of the token's app: then no
    webhook could be verified."""
    if not settings.app_secret:
        return []
    try:
        await graph.number(proven=True)
    except GraphRefused as error:
        if "appsecret_proof" not in error.failure.message:
            return []
        detail = text("it is not the secret of the app to which the access token belongs")
        return [Check("app secret", False, detail, APP_SETTINGS_PAGE, "wrong_app")]
    except DeliveryError:
        return []
    return [Check("app secret", True, text("it belongs to the access token's app"))]


def refused_token(failure: GraphFailure) -> list[Check]:
    """The failed check of a token that Meta refuses; none for another error."""
    if failure.code not in TOKEN_CODES:
        return []
    return [Check("access token", False, str(failure), HOW_TO_AUTHENTICATE, "credential")]


def _refused(failure: GraphFailure) -> list[Check]:
    if refused := refused_token(failure):
        return refused
    if failure.code == 100:
        detail = text("Meta knows no such object")
        if failure.subcode != WRONG_ID_SUBCODE:
            detail = text("it is not a phone number")
        return [Check("access token", True, ACCEPTED), _wrong_id(detail)]
    if _lacks(failure):
        lacks = text("The token lacks a permission, or the app is not assigned to this account.")
        advice = joined((lacks, HOW_TO_AUTHENTICATE), " ")
        return [Check("access token", False, str(failure), advice, "permission")]
    return [Check("platform reachable", False, str(failure), LATER)]


def _lacks(failure: GraphFailure) -> bool:
    """True for a permission that the token lacks."""
    return failure.code is not None and (failure.code == 10 or 200 <= failure.code <= 299)


def _wrong_id(detail: Text) -> Check:
    return Check("phone number id", False, detail, WHICH_PHONE_NUMBER_ID, "wrong_app")


def _present(name: str, there: bool, advice: Text) -> Check:
    return Check(name, there, text("set") if there else MISSING, "" if there else advice)


def _version(version: str) -> Check:
    fresh = int(version[1:].partition(".")[0]) >= OLDEST_VERSION
    advice = text(
        "Remove `{key}`, or set {version}.",
        key=verbatim("platforms.whatsapp.api_version"),
        version=verbatim(API_VERSION),
    )
    return Check("api version", fresh, version, "" if fresh else advice)


async def _template(settings: WhatsAppSettings, graph: GraphClient, *, answers: bool) -> Check:
    """The check of the template. Meta is asked for its status where it answers about the number."""
    if settings.template is None:
        detail = text("none: people who have not written for 24 hours cannot be reached")
        advice = text(
            "Set `platforms.whatsapp.template.name` and `platforms.whatsapp.template.language` for "
            "that."
        )
        return Check("template", True, detail, advice)
    described = _described(settings.template)
    if not answers:
        return Check("template", True, described)
    return await _approval(settings.template, described, graph)


async def _approval(template: WhatsAppTemplate, described: Text, graph: GraphClient) -> Check:
    name = "template"
    try:
        status = await _status(template, graph)
    except GraphRefused as error:
        doubt = joined((described, UNCERTAIN, verbatim(str(error.failure))), "; ")
        step = HOW_TO_AUTHENTICATE if _lacks(error.failure) else LATER
        return Check(name, True, doubt, step)
    except DeliveryError as error:
        return Check(name, False, error.said, CHECK_NETWORK, "unreachable")
    if status == APPROVED:
        return Check(name, True, joined((described, text("Meta has approved it")), "; "))
    if status == UNKNOWN:
        return Check(name, True, joined((described, UNCERTAIN), "; "), HOW_TO_AUTHENTICATE)
    if not status:
        named = verbatim(f"{template.name} ({template.language})")
        return Check(name, False, NO_TEMPLATE.of(name=named), COMPARE)
    refused = text("its status is {status}", status=verbatim(status))
    return Check(name, False, joined((described, refused), "; "), COMPARE)


async def _status(template: WhatsAppTemplate, graph: GraphClient) -> str:
    """The status of a template in the account of the number: "APPROVED", "PENDING", "PAUSED", …;
    empty where the account has no such template, `UNKNOWN` where Meta names no account or status.
    Raises `GraphRefused`, `Transient`, `Ambiguous`."""
    account = _account_of(await graph.health())
    if not account:
        return UNKNOWN
    listed = items(await graph.templates(account, template.name, MAX_TEMPLATES), "data")
    return next(
        (
            text_at(one, "status", 40) or UNKNOWN
            for one in listed[:MAX_TEMPLATES]
            if text_at(one, "name", 512) == template.name
            and text_at(one, "language", 12) == template.language
        ),
        "",
    )


def _account_of(described: JsonObject) -> str:
    """The account to which a number belongs; empty where the answer names none."""
    for entity in items(mapping(described, "health_status"), "entities", MAX_ENTITIES):
        if text_at(entity, "entity_type", 40) == "WABA":
            return identifier(entity, "id", 40)
    return ""


def _described(template: WhatsAppTemplate) -> Text:
    return text(
        "{name}, variables: {variables}",
        name=verbatim(f"{template.name} ({template.language})"),
        variables=verbatim(", ".join(template.values)),
    )


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
                shown = text_at(number, "display_phone_number", 40)
                numbers[id_] = f"{shown} {text_at(number, 'verified_name', 100)}".strip()
    return list(numbers.items())[:MAX_NUMBERS]


def _accounts(described: JsonObject) -> list[str]:
    """The WhatsApp accounts that the token may manage. A permission without ids is for all of a
    business, which the answer does not list."""
    for scope in items(mapping(described, "data"), "granular_scopes"):
        if text_at(scope, "scope", 100) == PERMISSION:
            ids = identifiers(scope, "target_ids", MAX_ACCOUNTS)
            return [id_ for id_ in ids if id_.isdecimal()]
    return []
