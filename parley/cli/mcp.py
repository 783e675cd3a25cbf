"""`parley mcp`: connects an MCP client on this machine to a running program, and prints the
configuration of clients."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import StartError, UsageError
from memory.mcp.names import KNOWLEDGE, PREFIX, SESSION
from parley.cli.mcp_bridge import Bridge, standard_streams
from parley.cli.options import Config
from safety.http.addresses import is_loopback_name

TOKEN_VARIABLE: Final = "PARLEY_TOKEN"  # noqa: S105 - the name of a variable
CLIENTS: Final = ("claude-code", "codex", "claude-desktop", "cursor", "plain")
_SET: Final = f"# {TOKEN_VARIABLE} has the output of `parley token PLATFORM:ACCOUNT:ID`.\n"


def configuration_of(
    client: str, name: str, endpoint: str, config: Path | None, options: Sequence[str] = ()
) -> str:
    """The configuration of one of `CLIENTS` for the servers at `endpoint`, under this `name`.

    `config` is the configuration of Parley, and `options` are further ones of `parley mcp`, for a
    client that starts a program instead of connecting to an address.
    """
    match client:
        case "claude-code":
            return _claude_code(name, endpoint)
        case "codex":
            return (
                f"# In ~/.codex/config.toml. {_SET[2:]}"
                f"[mcp_servers.{name}]\n"
                f'url = "{endpoint}"\n'
                f'bearer_token_env_var = "{TOKEN_VARIABLE}"\n'
            )
        case "claude-desktop":
            return _claude_desktop(name, config, options)
        case "cursor":
            entry = {
                "url": endpoint,
                "headers": {"Authorization": f"Bearer ${{env:{TOKEN_VARIABLE}}}"},
            }
            return f"# In .cursor/mcp.json. {_SET[2:]}{_servers(name, entry)}"
    return _plain(endpoint)


def _claude_code(name: str, endpoint: str) -> str:
    header = f"Authorization: Bearer ${TOKEN_VARIABLE}"
    entry = {
        "type": "http",
        "url": endpoint,
        "headers": {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"},
    }
    return (
        f"{_SET}# One command:\n"
        f'claude mcp add --transport http {name} {endpoint} --header "{header}"\n'
        f"# Or in .mcp.json of a project:\n{_servers(name, entry)}"
    )


def _claude_desktop(name: str, config: Path | None, options: Sequence[str]) -> str:
    command = shutil.which("parley") or str(Path(sys.executable).with_name("parley"))
    server = () if name == "parley" else ("--server", name)
    file = () if config is None else ("--config", str(config.resolve()))
    entry = {
        "command": command,
        "args": ["mcp", *server, *options, *file],
        "env": {TOKEN_VARIABLE: "parley_…"},
    }
    return (
        "# In claude_desktop_config.json (Settings, Developer, Edit Config). Replace parley_… by "
        f"the output of\n# `parley token PLATFORM:ACCOUNT:ID`.\n{_servers(name, entry)}"
    )


def _plain(endpoint: str) -> str:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "server/discover",
            "params": {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            },
        }
    )
    return (
        f"{_SET}# Streamable HTTP: {endpoint}\n"
        f"# Header: Authorization: Bearer ${TOKEN_VARIABLE}\n"
        f"curl -s {endpoint} \\\n"
        f'  -H "Authorization: Bearer ${TOKEN_VARIABLE}" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        "  -H 'Accept: application/json, text/event-stream' \\\n"
        "  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: server/discover' \\\n"
        f"  -d '{body}'\n"
    )


def _servers(name: str, entry: Mapping[str, object]) -> str:
    return json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False) + "\n"


ALL: Final = "parley"
SERVERS: Final = (ALL, SESSION, KNOWLEDGE)
NO_TOKEN: Final = (
    f"{TOKEN_VARIABLE} is empty. Print a token with `parley token PLATFORM:ACCOUNT:ID --agent ID`, "
    "or without --agent one with which the client acts as the person, and put it into the "
    "environment of this program, in the configuration of your MCP client."
)
PLAIN_HTTP: Final = "A token travels only over https, or to this machine. Use an https address."


def mcp(
    action: Annotated[
        str, typer.Argument(help="`config` prints the configuration of a client.")
    ] = "",
    client: Annotated[str, typer.Option(help=f"One of: {', '.join(CLIENTS)}.")] = "plain",
    server: Annotated[str, typer.Option(help=f"One of: {', '.join(SERVERS)}.")] = ALL,
    url: Annotated[
        str, typer.Option(help="The address of a Parley on another machine, without the path.")
    ] = "",
    config: Config = None,
) -> int:
    """Serve MCP on standard input and output, through the running program."""
    if action not in ("", "config"):
        raise typer.BadParameter("write `config` or nothing", param_hint="ACTION")
    if server not in SERVERS:
        raise typer.BadParameter(f"one of {', '.join(SERVERS)}", param_hint="--server")
    endpoint = f"{_address(url, config)}{PREFIX}" + ("" if server == ALL else f"/{server}")
    if action == "config":
        if client not in CLIENTS:
            raise typer.BadParameter(f"one of {', '.join(CLIENTS)}", param_hint="--client")
        file = None if url else _file(config)
        options = ("--url", url) if url else ()
        sys.stdout.write(configuration_of(client, server, endpoint, file, options))
        return 0
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UsageError(NO_TOKEN)
    asyncio.run(_serve(endpoint, token))
    return 0


async def _serve(endpoint: str, token: str) -> None:
    async with Bridge(endpoint, token) as bridge:
        await bridge.check()
        read, write = await standard_streams()
        await bridge.run(read, write)


def _file(config: Config) -> Path | None:
    """The file that a client has to name, as any folder names it."""
    from parley.cli.chosen_configuration import chosen  # noqa: PLC0415 - not needed with --url

    return chosen(config).file


def _address(url: str, config: Config) -> str:
    """The address of the program. Raises `BadInput` for one that would reveal the token."""
    if not url:
        from parley.cli.running_program import address_of  # noqa: PLC0415 - not needed with --url
        from parley.cli.stores import command_settings  # noqa: PLC0415 - not needed with --url

        settings = command_settings(config)
        if settings.server.port == 0:
            raise StartError("server.port is 0, a free port at each start.", "Set a fixed port.")
        return address_of(settings)
    import httpx2  # noqa: PLC0415 - the help of a command loads no library

    parsed = httpx2.URL(url)
    if parsed.scheme == "https" or (parsed.scheme == "http" and is_loopback_name(parsed.host)):
        return url.rstrip("/").removesuffix(PREFIX)
    raise UsageError(PLAIN_HTTP)
