"""The configuration of MCP clients, ready to copy.

No token is printed: clients read it from the environment, as `PARLEY_TOKEN`, where they can.
"""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

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
