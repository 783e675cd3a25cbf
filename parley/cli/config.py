"""`parley check-config` and `parley example-config`."""

import asyncio
import os
import sys

from gateway.extensions import ExtensionRegistry
from gateway.platforms import discover
from gateway.ports.clock import SystemClock
from parley.cli.chosen_configuration import own_configuration
from parley.cli.options import Config
from parley.cli.overrides import overrides_of_file
from parley.cli.terminal import print_text
from parley.config import Settings, SettingsError, load
from parley.config.load import example_text
from parley.doctor.startup import startup_problems
from parley.installation import warn_of_conflicts
from parley.wiring.extensions import load_extensions
from parley.wiring.memory_backends import describe, load_backends
from safety.http.shown_address import shown_address


def check_config(config: Config = None) -> int:
    """Load the configuration and print a summary; returns the exit status."""
    warn_of_conflicts()
    platforms, path = discover(), own_configuration(config)
    settings = load(path, os.environ, platforms)
    problems = asyncio.run(startup_problems(settings, platforms))
    if problems:
        raise SettingsError(problems)
    lines = [
        f"{path or 'The environment'} is valid.",
        *summary(settings, load_extensions(settings)),
    ]
    stored = overrides_of_file(settings, platforms)
    if stored is not None and (stored.in_force or stored.ignored):
        lines.append(f"  overrides  {', '.join(one.key for one in stored.in_force) or 'none'}")
        lines += [f"  ignored    {one}" for one in stored.ignored]
    print_text("\n".join(lines) + "\n")
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    return 0


def summary(settings: Settings, extensions: ExtensionRegistry) -> list[str]:
    """The parts that are in use, a line each, without secrets."""
    model = settings.model
    names = [f"{choice.provider} {choice.name}".strip() for choice in (model, *model.fallbacks)]
    accounts = [a.path.removeprefix("platforms.") for a in settings.accounts()]
    return [
        f"  assistant  {settings.assistant.name}",
        f"  model      {', then '.join(names)}",
        f"  platforms  {', '.join(accounts) or 'none; `parley init` sets one up'}",
        f"  tools      {', '.join(settings.mcp.servers) or 'none'}",
        f"  extensions {', '.join(extensions.names) or 'none'}",
        f"  memory     {memory_in_use(settings)}",
        f"  database   {shown_address(settings.database.url)}",
        f"  local      {settings.server.host}:{settings.server.port}",
        f"  webhooks   {settings.webhooks.host}:{settings.webhooks.port}",
    ]


def memory_in_use(settings: Settings) -> str:
    """The places of learned memories, with the abilities of the backends."""
    if not settings.memory.enabled:
        return "off"
    return describe(settings.memory.places, load_backends(settings, SystemClock()))


def example_config() -> int:
    """Print the example; returns the exit status."""
    sys.stdout.write(example_text())
    return 0
