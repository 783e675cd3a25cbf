"""Which of a server's tools are offered, within bounds for all of them together. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.ports import ToolSpec
from gateway.turn.mcp_format import MAX_DESCRIPTION, tool_spec
from safety.unicode import safe_unicode

MAX_TOOLS: Final = 256
"""Tools of one server that are looked at."""
MAX_CHARACTERS: Final = 120_000
"""Names, descriptions and schemas of one server's tools together: about 30,000 tokens."""
MAX_PROBLEMS: Final = 20
MAX_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class KeptTools:
    """The tools that are offered, their names at the server by ours, and what was left out or
    shortened: (name, reason)."""

    specs: tuple[ToolSpec, ...]
    names: Mapping[str, str]
    problems: tuple[tuple[str, str], ...]


def kept_tools(server: str, tools: Sequence[Any]) -> KeptTools:
    """The tools of a server as far as they can be used, in the server's order."""
    specs: dict[str, ToolSpec] = {}
    names: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    left = MAX_CHARACTERS
    for tool in tools[:MAX_TOOLS]:
        shown = safe_unicode(str(tool.name)[:MAX_NAME])
        spec = tool_spec(server, tool)
        if spec is None:
            problems.append((shown, "left out: its name or schema cannot be used"))
            continue
        size = len(spec.name) + len(spec.description) + len(json.dumps(spec.schema))
        if size > left:
            problems.append((shown, "left out: the tools of this server are too long together"))
            continue
        left -= size
        if len(tool.description or "") > MAX_DESCRIPTION:
            problems.append((shown, f"its description was shortened to {MAX_DESCRIPTION}"))
        specs[spec.name], names[spec.name] = spec, tool.name
    if len(tools) > MAX_TOOLS:
        problems.append(("", f"left out: more than {MAX_TOOLS} tools"))
    return KeptTools(tuple(specs.values()), names, tuple(problems[:MAX_PROBLEMS]))
