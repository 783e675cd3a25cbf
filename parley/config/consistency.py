"""What no key says by itself: half-set accounts, a port that is taken twice, ids of no platform."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from pydantic import ValidationError

from gateway.ports import AdapterManifest
from parley.config.problems import Problem, closest
from parley.config.sections import MAIN
from parley.config.settings import Account, Settings
from parley.config.yaml_file import Value

_PREFIX: Final = re.compile(r"^([a-z][a-z0-9]{1,29}):(?!//)")
"""What looks like the platform of "platform:id"."""


def missing_values(accounts: Iterable[Account]) -> list[Problem]:
    """Accounts that have some of their credentials and lack others."""
    problems = []
    for account in accounts:
        missing = account.settings.missing()
        untouched = missing == type(account.settings)().missing()
        if account.settings.configured() or untouched:
            continue
        advice = f"Add it, or remove the section {account.path} to switch the platform off."
        problems += [Problem(f"{account.path}.{key}", "is missing.", advice) for key in missing]
    return problems


def valid_accounts(values: Value, manifests: Mapping[str, AdapterManifest]) -> Iterator[Account]:
    """The accounts that are valid by themselves, in a configuration that is not."""
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
            yield Account(platform, name, settings)


def port_conflict(settings: Settings) -> list[Problem]:
    """The public listener on the local one's port: it could not start, or worse, a proxy would
    lead the public network to the local one."""
    if settings.webhooks.port != settings.server.port or settings.server.port == 0:
        return []
    advice = "Choose another; a proxy or tunnel leads to webhooks.port, never to server.port."
    return [Problem("webhooks.port", "is the port of the local listener, server.port.", advice)]


def unknown_tools(settings: Settings) -> list[Problem]:
    """Rules for tools of no server and none of ours, so that a restriction would quietly be none.
    Which tools a server has is known once it answers: `parley doctor` compares these."""
    if not settings.tools:
        return []
    from parley.config.own_tools import OWN_TOOLS  # noqa: PLC0415 - memory's modules, for few

    servers, problems = settings.mcp.servers, []
    for name in settings.tools:
        server, separator, tool = name.partition("__")
        if name in OWN_TOOLS or (server in servers and (tool or not separator)):
            continue
        near = closest(server if separator else name, [*servers, *OWN_TOOLS])
        meant = f"{near}__{tool}" if separator and near in servers else near
        advice = (
            f'Did you mean "{meant}"?'
            if near
            else "Name a server of mcp.servers, or one of its tools as SERVER__TOOL; or remove it."
        )
        problems.append(
            Problem(f"tools.{name}", "names no server of mcp.servers, and no tool.", advice)
        )
    return problems


def unknown_platforms(settings: Settings, platforms: Collection[str]) -> list[Problem]:
    """Ids such as "telegam:12" that are nobody's, so that a rule would quietly be none."""
    access, invocation, assistant = settings.access, settings.invocation, settings.assistant
    named: dict[str, Collection[str] | None] = {
        f"access.{key}": getattr(access, key)
        for key in type(access).model_fields
        if key != "default_role"
    }
    named |= {"invocation.channels": invocation.channels, "assistant.channels": assistant.channels}
    problems = []
    for path, ids in named.items():
        for one in ids or ():
            found = _PREFIX.match(one)
            meant = closest(found[1], platforms) if found else ""
            if found and meant not in ("", found[1]):
                text = f"names the platform {found[1]}, which is not known here."
                problems.append(Problem(path, text, f'Did you mean "{meant}"?'))
    return problems
