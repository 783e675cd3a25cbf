"""All checks that contact other programs, side by side, and those of the services that the
configuration names: models of recall, memory backends, tools, heartbeat and grounding."""

import asyncio
import difflib
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError, MemoryUnavailable
from gateway.platforms import Discovery
from gateway.ports.clock import SystemClock
from gateway.text import counted, joined, text, verbatim
from gateway.turn.external_mcp_server import Probed, probe
from memory.backends.guard import GuardedBackend
from memory.documents.figure_sources import SourceFailed
from memory.documents.heartbeat import read_figures
from memory.embeddings.catalogue import EMBEDDING, RERANKING
from memory.git.errors import GitMissing, NotARepository
from memory.git.repository import opened_repository
from memory.grounding.verifier import GroundingSources
from parley.config import Settings, SettingsError
from parley.config.memory import HeartbeatSourceSection
from parley.config.problems import DID_YOU_MEAN
from parley.doctor.files_and_voice import files_and_voice
from parley.doctor.machine import HAS, Finding, named, refused
from parley.doctor.models import check_models
from parley.doctor.platforms import check_platforms
from parley.doctor.startup import startup_problems
from parley.doctor.stores import check_servers
from parley.runtime.heartbeats import AT_ONCE
from parley.wiring.heartbeats import external_source
from parley.wiring.memory import close_backends
from parley.wiring.memory_backends import load_backends
from parley.wiring.memory_writing import grounding_sources
from parley.wiring.policies import mcp_servers_of, rules_for_tools_of
from parley.wiring.recall import advice_for, problem_of, vector_model
from safety.http.addresses import AllowedHost, may_connect

RESOLVE_SECONDS: Final = 3.0
"""Time limit for the address of one host."""
REVIEW: Final = text("Until then, claims that cite it wait for review.")
OPTIONS: Final = text("Check memory.backend_options.{name}; Parley does not start without it.")
SERVER: Final = text("Correct mcp.servers.{name}, or start the server; its log may have details.")
UNUSABLE: Final = text("{found}, {number} cannot be used")
NO_TOOL: Final = text("{server} has no such tool, so the rule has no effect")
HEARTBEAT: Final = text(
    "Correct heartbeat.sources.{project}; until then, the status is not updated."
)
HOSTS: Final = text("Correct grounding.hosts or grounding.trackers, or the network.")
NETWORKS: Final = text("List its network under grounding.networks if it is meant to be internal.")
BY_WORDS: Final = text("memories are found by their words (memory.embedding_provider: none)")
BY_MODEL: Final = text("by words, and by {model}")

Resolve = Callable[[str], Awaitable[list[str]]]


async def contact(settings: Settings, platforms: Discovery) -> list[Finding]:
    """The checks that contact other programs, side by side."""

    async def start() -> list[Finding]:
        return refused(await startup_problems(settings, platforms))

    groups = await asyncio.gather(
        start(),
        check_servers(settings),
        check_models(settings),
        memory_backends(settings),
        tool_servers(settings),
        files_and_voice(settings),
        heartbeats(settings),
        grounding(settings),
        check_platforms(settings, platforms),
    )
    return [finding for group in groups for finding in group]


def recall_models(settings: Settings) -> list[Finding]:
    """The models that recall is configured to use."""
    memory, name = settings.memory, "recall"
    if not memory.enabled:
        return []
    if memory.embedding_provider == "none":
        return [Finding("ok", name, BY_WORDS)]
    if memory.embedding_provider == "openai":
        return [Finding("ok", name, BY_MODEL.of(model=verbatim(str(vector_model(settings)))))]
    findings = []
    for model in (EMBEDDING, RERANKING) if memory.rerank else (EMBEDDING,):
        problem = problem_of(settings, model)
        if problem:
            advice = text(
                "{advice}, or set memory.embedding_provider to none.",
                advice=verbatim(advice_for(settings)),
            )
            findings.append(
                Finding(
                    "note",
                    name,
                    text(
                        "memories are found by their words only; {problem}",
                        problem=verbatim(problem),
                    ),
                    advice,
                )
            )
        else:
            findings.append(
                Finding("ok", name, text("{model} is installed", model=verbatim(model.name)))
            )
    return findings


async def memory_backends(settings: Settings) -> list[Finding]:
    """A finding for each memory backend, which is opened, asked for its state and closed."""
    try:
        backends = load_backends(settings, SystemClock())
    except SettingsError:
        return []  # the checks of the start report it
    return [await _memory_backend(backend) for backend in backends]


async def _memory_backend(backend: GuardedBackend) -> Finding:
    title = f"memory: {backend.name}"
    try:
        return Finding("ok", title, await backend.probe() or text("it answers"))
    except MemoryUnavailable as error:
        advice = OPTIONS.of(name=verbatim(backend.name))
        return Finding("broken", title, str(error), advice)
    finally:
        await close_backends((backend,))


async def tool_servers(settings: Settings) -> list[Finding]:
    """A finding for each MCP server, and for each rule that names none of its tools. Each server is
    contacted once, as `parley run` does it."""
    servers = mcp_servers_of(settings)
    probes = await asyncio.gather(*(probe(server) for server in servers))
    return [
        finding
        for server, probed in zip(servers, probes, strict=True)
        for finding in (
            tool_server_finding(server.name, probed),
            *_tool_rules(settings, server.name, probed),
        )
    ]


def tool_server_finding(name: str, probed: Probed) -> Finding:
    """The finding about an MCP server that was contacted."""
    title = f"tools: {name}"
    if probed.problem:
        advice = SERVER.of(name=verbatim(name))
        return Finding("broken", title, probed.problem, advice)
    count, seconds = len(probed.tools), verbatim(f"{probed.seconds:.1f}")
    detail = counted(
        "{count} tool, answers in {seconds} s",
        "{count} tools, answers in {seconds} s",
        count=count,
        seconds=seconds,
    )
    if probed.left_out:
        advice = text("The log of `parley run` names them, with the reason.")
        return Finding("note", title, UNUSABLE.of(found=detail, number=probed.left_out), advice)
    if not count:
        return Finding("note", title, detail, text("It offers no tools: is it the right server?"))
    return Finding("ok", title, detail)


def _tool_rules(settings: Settings, server: str, probed: Probed) -> list[Finding]:
    if probed.problem:
        return []
    findings = []
    for name in sorted(rules_for_tools_of(settings, server) - set(probed.tools)):
        near = difflib.get_close_matches(name, probed.tools, n=1)
        meant = DID_YOU_MEAN.of(name=verbatim(near[0])) if near else None
        advice = meant or HAS.of(tools=verbatim(named(probed.tools)))
        detail = NO_TOOL.of(server=verbatim(server))
        findings.append(Finding("broken", f"tools.{name}", detail, advice))
    return findings


async def heartbeats(settings: Settings) -> list[Finding]:
    """One finding per project, `AT_ONCE` side by side."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def check(project: str, source: HeartbeatSourceSection) -> Finding:
        async with slots:
            return await _heartbeat(project, source)

    return await asyncio.gather(
        *(check(project, source) for project, source in settings.heartbeat.sources.items())
    )


async def _heartbeat(project: str, section: HeartbeatSourceSection) -> Finding:
    name = f"heartbeat: {project}"
    try:
        source = external_source(section)
        if source is None:
            return Finding("ok", name, text("figures about the use of this assistant"))
        content = read_figures(await source.figures(), datetime.now(UTC))
    except (SourceFailed, ConfigurationError, ValueError) as error:
        advice = HEARTBEAT.of(project=verbatim(project))
        return Finding("broken", name, str(error), advice)
    return Finding(
        "ok", name, counted("{count} figure", "{count} figures", count=len(content.figures))
    )


async def addresses_of(host: str) -> list[str]:
    """The addresses that the system's resolver gives. Raises `OSError`."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return sorted({str(each[4][0]) for each in entries})


async def grounding(settings: Settings, resolve: Resolve = addresses_of) -> list[Finding]:
    """One finding per folder, host and tracker. No page and no tracker is contacted."""
    section = settings.grounding
    sources = grounding_sources(section)
    hosts = {host: f"grounding: {host}" for host in section.hosts}
    for name, template in section.trackers.items():
        hosts.setdefault(urlsplit(template).hostname or "", f"grounding: tracker {name}")
    folders = await asyncio.gather(*(_folder(Path(folder)) for folder in section.repositories))
    return [
        *folders,
        *await asyncio.gather(
            *(_host(host, name, sources, resolve) for host, name in hosts.items())
        ),
    ]


async def _folder(folder: Path) -> Finding:
    name = f"grounding: {folder}"
    if not await asyncio.to_thread(folder.is_dir):
        advice = joined((text("Correct grounding.repositories, or mount the folder."), REVIEW), " ")
        return Finding("broken", name, text("the folder does not exist"), advice)
    try:
        async with opened_repository(folder):
            pass
    except GitMissing:
        advice = joined((text("Install git."), REVIEW), " ")
        return Finding("note", name, text("git is not installed: nothing is found"), advice)
    except NotARepository as error:
        return Finding(
            "note", name, text("nothing is found: {reason}", reason=verbatim(str(error))), REVIEW
        )
    return Finding("ok", name, text("commits and decision records can be checked"))


async def _host(host: str, name: str, sources: GroundingSources, resolve: Resolve) -> Finding:
    rule = AllowedHost.parse(host)
    if rule.below:
        return Finding("ok", name, text("all hosts below it; not resolved"))
    advice = joined((HOSTS, REVIEW), " ")
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            addresses = await resolve(rule.name)
    except (OSError, TimeoutError):
        return Finding("note", name, text("it does not resolve to an address"), advice)
    inner = [each for each in addresses if not may_connect(ip_address(each), sources.networks)]
    if inner:
        detail = text("{address} is not a public address", address=verbatim(inner[0]))
        return Finding("note", name, detail, joined((NETWORKS, REVIEW), " "))
    return Finding("ok", name, text("its address is public, or in a listed network"))
