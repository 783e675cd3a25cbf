"""`parley check-config`."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from gateway.extensions import ExtensionRegistry
from gateway.platforms import discover
from parley.cli.start_check import startup_problems
from parley.config import Settings, SettingsError, load
from parley.config.sections import MEMORY, sqlite_file
from parley.extensions import load_extensions


def run(config: Path | None, env: Mapping[str, str]) -> int:
    """Load the configuration and say what it means; returns the exit status."""
    platforms = discover()
    settings = load(config, env, platforms)
    problems = asyncio.run(startup_problems(settings, platforms))
    if problems:
        raise SettingsError(problems)
    extensions = load_extensions(settings)
    where = config or "The environment"
    sys.stdout.write("\n".join([f"{where} is fine.", *summary(settings, extensions)]) + "\n")
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    return 0


def summary(settings: Settings, extensions: ExtensionRegistry) -> list[str]:
    """What is switched on, a line each, without any secret."""
    model = settings.model
    names = [f"{choice.provider} {choice.name}".strip() for choice in (model, *model.fallbacks)]
    accounts = [a.path.removeprefix("platforms.") for a in settings.accounts()]
    return [
        f"  assistant  {settings.assistant.name}",
        f"  model      {', then '.join(names)}",
        f"  platforms  {', '.join(accounts) or 'none; `parley init` sets one up'}",
        f"  tools      {', '.join(settings.mcp.servers) or 'none'}",
        f"  extensions {', '.join(extensions.names) or 'none'}",
        f"  database   {without_secrets(settings.database.url)}",
        f"  local      {settings.server.host}:{settings.server.port}",
        f"  webhooks   {settings.webhooks.host}:{settings.webhooks.port}",
    ]


def without_secrets(url: str) -> str:
    """Where a database is; of a server only its name and the database's, neither user nor password
    nor options."""
    if url == MEMORY or sqlite_file(url):
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
