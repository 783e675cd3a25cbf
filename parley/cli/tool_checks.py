"""Whether each MCP server answers: contacted once, as `parley run` does it."""

import asyncio
import difflib

from gateway.turn.mcp_probe import Probed, probe
from parley.cli.checks import Finding
from parley.config import Settings
from parley.wiring.policies import mcp_servers_of, rules_for_tools_of


async def tool_servers(settings: Settings) -> list[Finding]:
    """A finding for each server, side by side, and for each rule that names none of its tools."""
    servers = mcp_servers_of(settings)
    found = await asyncio.gather(*(probe(server) for server in servers))
    return [
        finding
        for server, probed in zip(servers, found, strict=True)
        for finding in (_server(server.name, probed), *_rules(settings, server.name, probed))
    ]


def _server(name: str, probed: Probed) -> Finding:
    title = f"tools: {name}"
    if probed.problem:
        advice = f"Correct mcp.servers.{name}, or start what it names; its log may say more."
        return Finding("broken", title, probed.problem, advice)
    count, seconds = len(probed.tools), f"{probed.seconds:.1f} s"
    detail = f"{count} tool{'' if count == 1 else 's'}, answers in {seconds}"
    if probed.left_out:
        advice = "The log of `parley run` names them, with the reason."
        return Finding("note", title, f"{detail}, {probed.left_out} cannot be used", advice)
    if not count:
        return Finding("note", title, detail, "It offers nothing: is it the right server?")
    return Finding("ok", title, detail)


def _rules(settings: Settings, server: str, probed: Probed) -> list[Finding]:
    if probed.problem:
        return []
    findings = []
    for name in sorted(rules_for_tools_of(settings, server) - set(probed.tools)):
        near = difflib.get_close_matches(name, probed.tools, n=1)
        advice = f'Did you mean "{near[0]}"?' if near else f"It has: {_named(probed.tools)}."
        detail = f"{server} has no such tool, so that the rule is not in force"
        findings.append(Finding("broken", f"tools.{name}", detail, advice))
    return findings


def _named(tools: tuple[str, ...], most: int = 20) -> str:
    rest = f" and {len(tools) - most} more" if len(tools) > most else ""
    return ", ".join(tools[:most]) + rest if tools else "none"
