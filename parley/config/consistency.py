"""Rules between keys: incomplete accounts, a port in use twice, names of nothing, long personas."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gateway.languages.installed import LanguageError, Languages
from gateway.llm.tokens import estimate
from gateway.people import Audience
from gateway.ports import AdapterManifest
from gateway.text import text, verbatim
from gateway.turn.context.token_budgets import budget_for
from gateway.turn.prompt import PromptFacts, own_text
from parley.config.problems import DID_YOU_MEAN, MISSING, Problem, closest
from parley.config.sections import MAIN
from parley.config.settings import ConfiguredAccount, Settings
from parley.config.yaml_file import Value

_PREFIX: Final = re.compile(r"^([a-z][a-z0-9]{1,29}):(?!//)")
"""The platform in "platform:id"."""
# Translators: it stands alone at a field, or after the name of a key and a colon.
SAME_PORT: Final = text("is the port of the local listener, server.port.")
ANOTHER_PORT: Final = text(
    "Choose another; a proxy or tunnel leads to webhooks.port, never to server.port."
)
ADD: Final = text("Add it, or remove the section {section} to switch the platform off.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
NO_TOOL: Final = text("names no server of mcp.servers, and no tool.")
NAME_A_TOOL: Final = text(
    "Name a server of mcp.servers, or one of its tools as SERVER__TOOL; or remove it."
)
# Translators: it stands alone at a field, or after the name of a key and a colon.
NO_PLATFORM: Final = text("names the unknown platform {name}.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
TOO_LONG: Final = text(
    "is too long: with the program's own rules it has about {tokens} tokens, {excess} more than "
    "the {limit} that a window of {window} has for it."
)
SHORTER: Final = text("Make it shorter, or raise {key} if the model accepts more.")


def problems_of(settings: Settings, manifests: Mapping[str, AdapterManifest]) -> list[Problem]:
    """Every broken rule of a configuration whose keys are valid by themselves."""
    return [
        *missing_values(settings.platforms.accounts()),
        *oversized_personas(settings),
        *port_conflict(settings),
        *unknown_platforms(settings, manifests),
        *unknown_tools(settings),
        *unusable_languages(settings),
    ]


def missing_values(accounts: Iterable[ConfiguredAccount]) -> list[Problem]:
    """Accounts that have only some of their credentials."""
    problems = []
    for account in accounts:
        missing = account.settings.missing()
        untouched = missing == type(account.settings)().missing()
        if account.settings.configured() or untouched:
            continue
        advice = ADD.of(section=verbatim(account.path))
        problems += [Problem(f"{account.path}.{key}", MISSING, advice) for key in missing]
    return problems


def valid_accounts(
    values: Value, manifests: Mapping[str, AdapterManifest]
) -> Iterator[ConfiguredAccount]:
    """The valid accounts of an invalid configuration."""
    platforms = values.get("platforms") if isinstance(values, dict) else None
    for platform, section in platforms.items() if isinstance(platforms, dict) else ():
        manifest = manifests.get(platform)
        if manifest is None or not isinstance(section, dict):
            continue
        own = {key: value for key, value in section.items() if key != "accounts"}
        further = section.get("accounts")
        named = {MAIN: own, **(further if isinstance(further, dict) else {})}
        for name, keys in named.items():
            try:
                settings = manifest.settings.model_validate_json(json.dumps(keys), strict=True)
            except ValidationError:
                continue
            yield ConfiguredAccount(platform, name, settings)


def port_conflict(settings: Settings) -> list[Problem]:
    """The public listener on the port of the local one: a proxy could expose the local listener."""
    if settings.webhooks.port != settings.server.port or settings.server.port == 0:
        return []
    return [Problem("webhooks.port", SAME_PORT, ANOTHER_PORT)]


def unknown_tools(settings: Settings) -> list[Problem]:
    """Rules for unknown tools, which would have no effect. The tools of a server are known once it
    answers: `parley doctor` compares these."""
    if not settings.tools:
        return []
    # Imported here: most configurations have no rules, and these modules are large.
    from gateway.turn.assemble import OWN_TOOLS  # noqa: PLC0415 - large modules
    from memory.turns.knowledge_tools import BY_NAME as SEARCHES  # noqa: PLC0415 - large modules
    from memory.turns.turn import OWN_TOOLS as MEMORY_TOOLS  # noqa: PLC0415 - large modules

    own_tools = {*(one.name for one in OWN_TOOLS), *MEMORY_TOOLS, *SEARCHES}
    servers, problems = settings.mcp.servers, []
    for name in settings.tools:
        server, separator, tool = name.partition("__")
        if name in own_tools or (server in servers and (tool or not separator)):
            continue
        near = closest(server if separator else name, [*servers, *own_tools])
        meant = f"{near}__{tool}" if separator and near in servers else near
        advice = DID_YOU_MEAN.of(name=verbatim(meant)) if near else NAME_A_TOOL
        problems.append(Problem(f"tools.{name}", NO_TOOL, advice))
    return problems


def unknown_platforms(settings: Settings, platforms: Collection[str]) -> list[Problem]:
    """Ids of unknown platforms, such as "telegam:12": their rule would have no effect."""
    access, invocation, assistant = settings.access, settings.invocation, settings.assistant
    lists: dict[str, Collection[str] | None] = {
        f"access.{key}": getattr(access, key)
        for key in type(access).model_fields
        if key != "default_role"
    }
    named = [(path, one) for path, ids in lists.items() for one in ids or ()]
    named += [(f"invocation.channels.{one}", one) for one in invocation.channels]
    named += [(f"assistant.channels.{one}", one) for one in assistant.channels]
    problems = []
    for path, one in named:
        match = _PREFIX.match(one)
        meant = closest(match[1], platforms) if match else ""
        if match and meant not in ("", match[1]):
            said = NO_PLATFORM.of(name=verbatim(match[1]))
            problems.append(Problem(path, said, DID_YOU_MEAN.of(name=verbatim(meant))))
    return problems


def unusable_languages(settings: Settings) -> list[Problem]:
    """A catalogue or a sentence of the operator that cannot be used, or an unknown language: the
    first of them."""
    section = settings.languages
    try:
        Languages(section, Path(section.folder)).check()
    except LanguageError as error:
        return [Problem(f"languages.{error.key}", error.said)]
    return []


def oversized_personas(settings: Settings) -> list[Problem]:
    """Personas that exceed the System block of the smallest model, with the excess. A persona is
    never cut."""
    key, window = _smallest_window(settings)
    limit = budget_for(window).system
    problems = []
    for path, persona in _personas(settings):
        facts = PromptFacts(settings.assistant.name, "WhatsApp", Audience.PUBLIC_ROOM, persona)
        tokens = estimate(own_text(facts))
        if tokens > limit:
            said = TOO_LONG.of(tokens=tokens, excess=tokens - limit, limit=limit, window=window)
            problems.append(Problem(path, said, SHORTER.of(key=verbatim(key))))
    return problems


def _smallest_window(settings: Settings) -> tuple[str, int]:
    """The smallest window of all models, with its key."""
    windows = {"model.window": settings.model.window}
    for index, fallback in enumerate(settings.model.fallbacks):
        windows[f"model.fallbacks[{index}].window"] = fallback.window
    return min(windows.items(), key=lambda entry: entry[1])


def _personas(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "assistant.persona", settings.assistant.persona
    for channel, section in settings.assistant.channels.items():
        if section.persona:
            yield f"assistant.channels.{channel}.persona", section.persona
