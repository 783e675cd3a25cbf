"""Whether what claims may cite is there, for `parley doctor`; no page and no tracker is asked."""

import asyncio
import shutil
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from memory.grounding.repositories import is_repository
from memory.grounding.verifier import GroundingSources
from parley.cli.checks import Finding
from parley.config import Settings
from parley.wiring.grounding import grounding_sources
from safety.http.addresses import HostRule, may_connect

SECONDS: Final = 3.0
"""For the address of one host."""
REVIEW: Final = "Until then claims that cite it go to review."

Resolve = Callable[[str], Awaitable[list[str]]]


async def addresses_of(host: str) -> list[str]:
    """What the system's resolver says. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return sorted({str(each[4][0]) for each in found})


async def grounding(settings: Settings, resolve: Resolve = addresses_of) -> list[Finding]:
    """One finding per folder, host and tracker."""
    wanted = settings.grounding
    sources = grounding_sources(wanted)
    hosts = {host: f"grounding: {host}" for host in wanted.hosts}
    for name, template in wanted.trackers.items():
        hosts.setdefault(urlsplit(template).hostname or "", f"grounding: tracker {name}")
    folders = await asyncio.gather(*(_folder(Path(folder)) for folder in wanted.repositories))
    return [
        *folders,
        *await asyncio.gather(
            *(_host(host, name, sources, resolve) for host, name in hosts.items())
        ),
    ]


async def _folder(folder: Path) -> Finding:
    name = f"grounding: {folder}"
    if not await asyncio.to_thread(folder.is_dir):
        advice = f"Correct grounding.repositories, or mount the folder. {REVIEW}"
        return Finding("broken", name, "there is no such folder", advice)
    if shutil.which("git") is None:
        advice = f"Install git. Decision records are found without it. {REVIEW}"
        return Finding("note", name, "git is not installed: no commit is found", advice)
    try:
        known = await is_repository(await asyncio.to_thread(folder.resolve))
    except (OSError, TimeoutError) as error:
        return Finding("note", name, f"git could not read it: {error}", REVIEW)
    if not known:
        advice = f"Name the folder that holds .git. {REVIEW}"
        return Finding("note", name, "it is no git repository: no commit is found", advice)
    return Finding("ok", name, "commits and decision records can be looked up")


async def _host(host: str, name: str, sources: GroundingSources, resolve: Resolve) -> Finding:
    rule = HostRule.parse(host)
    if rule.below:
        return Finding("ok", name, "every host below it, not asked")
    advice = f"Correct grounding.hosts or grounding.trackers, or the network. {REVIEW}"
    try:
        async with asyncio.timeout(SECONDS):
            found = await resolve(rule.name)
    except (OSError, TimeoutError):
        return Finding("note", name, "it has no address here", advice)
    refused = [each for each in found if not may_connect(ip_address(each), sources.networks)]
    if refused:
        networks = "List its network under grounding.networks if it is meant to be internal."
        return Finding("note", name, f"{refused[0]} is no public address", f"{networks} {REVIEW}")
    return Finding("ok", name, "its address is public, or in a listed network")
