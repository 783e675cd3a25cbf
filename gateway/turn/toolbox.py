"""All tools, and the permitted part for one turn."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from typing import Final, TypeAlias, cast

import structlog

from gateway.authorship import Authorship, Material, within_bounds
from gateway.errors import ToolError
from gateway.ports import (
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelRequest,
    ServerState,
    ToolProvider,
    ToolSpec,
)
from gateway.ports.memory import TurnMemory
from gateway.ports.model import CanReportState, CanStart

log = structlog.get_logger(__name__)

MAX_TOOLS: Final = 128
"""Maximum tools for the model; more cost tokens in every call and confuse it."""

Permit: TypeAlias = Callable[[Sequence[ToolSpec]], Collection[str]]
"""Returns the permitted tools by name: a decision of `gateway.policy.access`."""


class Toolbox:
    """Several tool providers as one. A failing provider is omitted; the others stay."""

    def __init__(self, providers: Sequence[ToolProvider] = ()) -> None:
        self._providers = tuple(providers)
        self._owners: dict[str, ToolProvider] = {}
        self.problems: tuple[str, ...] = ()
        """The problems of providers when the tools were last listed."""

    @property
    def empty(self) -> bool:
        """True if there are no providers."""
        return not self._providers

    async def start(self) -> None:
        """Let the providers connect in the background, before the first use."""
        for provider in self._providers:
            if isinstance(provider, CanStart):
                await provider.start()

    def states(self) -> tuple[ServerState, ...]:
        """Return the state of each server."""
        return tuple(p.state() for p in self._providers if isinstance(p, CanReportState))

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return all current tools. Of two with the same name, the first provider's counts."""
        answers = await _all_of(self._providers)
        offered: dict[str, ToolSpec] = {}
        owners: dict[str, ToolProvider] = {}
        problems: list[str] = []
        for provider, (specs, problem) in zip(self._providers, answers, strict=True):
            if problem:
                problems.append(problem)
            for spec in specs:
                if spec.name in offered:
                    continue
                if len(offered) == MAX_TOOLS:
                    problems.append(f"more than {MAX_TOOLS} tools: {spec.name[:80]} is left out")
                    break
                offered[spec.name] = spec
                owners[spec.name] = provider
        if tuple(problems) != self.problems:
            for problem in problems:
                log.warning("tools_left_out", problem=problem)
        self._owners, self.problems = owners, tuple(problems)
        return tuple(offered.values())

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""
        if name not in self._owners:
            await self.tools()
        owner = self._owners.get(name)
        if owner is None:
            raise ToolError(f"there is no tool {name!r}")
        return await owner.call(name, arguments)

    async def close(self) -> None:
        """Close every provider, even if one of them fails."""
        await asyncio.gather(*(p.close() for p in self._providers), return_exceptions=True)

    def limited(self, permit: Permit) -> "LimitedTools":
        """Return the tools that `permit` allows: the provider for the tool loop."""
        return LimitedTools(self, permit)


class LimitedTools:
    """The tools of a toolbox for one turn. A tool without permission is not offered, and a call of
    it is refused."""

    def __init__(self, toolbox: Toolbox, permit: Permit) -> None:
        self._toolbox = toolbox
        self._permit = permit
        self._allowed: frozenset[str] | None = None

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the permitted tools."""
        specs = await self._toolbox.tools()
        self._allowed = frozenset(self._permit(specs))
        return tuple(spec for spec in specs if spec.name in self._allowed)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a permitted tool. Raises `ToolError`, in the same words for a forbidden tool and for
        one that does not exist."""
        if self._allowed is None:
            await self.tools()
        if name not in (self._allowed or ()):
            raise ToolError(f"there is no tool {name!r}")
        return await self._toolbox.call(name, arguments)

    async def close(self) -> None:
        """Leave the toolbox open for the next turn."""


async def _all_of(providers: Sequence[ToolProvider]) -> list[tuple[tuple[ToolSpec, ...], str]]:
    """Return the tools of each provider. A single one needs no task of its own: most turns have no
    more."""
    if len(providers) > 1:
        return await asyncio.gather(*map(_tools_of, providers))
    return [await _tools_of(provider) for provider in providers]


async def _tools_of(provider: ToolProvider) -> tuple[tuple[ToolSpec, ...], str]:
    try:
        return await provider.tools(), ""
    except ToolError as error:
        return (), str(error)
    except Exception as error:  # noqa: BLE001 - one broken provider must not take the others along
        return (), f"a tool provider failed: {type(error).__name__}"


class OverheardModel:
    """Implements `LLMProvider`: notes as external text what the service itself read in the web."""

    def __init__(self, provider: LLMProvider, memory: TurnMemory) -> None:
        self._provider = provider
        self._memory = memory

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, ModelFinished) and event.web:
                    found = (Material("web", each.text, each.tool) for each in event.web)
                    self._memory.reads(within_bounds(found))
                yield event

    async def close(self) -> None:
        """Leave the model open: it outlives the turn."""


class OverheardTools:
    """Implements `ToolProvider` over the tools of one turn."""

    def __init__(self, tools: ToolProvider, memory: TurnMemory) -> None:
        self._tools = tools
        self._memory = memory
        self._closed_world: frozenset[str] = frozenset()

    async def tools(self) -> tuple[ToolSpec, ...]:
        """The tools on offer. Raises `ToolError`."""
        specs = await self._tools.tools()
        self._closed_world = frozenset(spec.name for spec in specs if not spec.open_world)
        return specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool, and note its result or error as external text. Raises `ToolError`."""
        kind: Authorship = "tool" if name in self._closed_world else "web"
        try:
            result = await self._tools.call(name, arguments)
        except ToolError as error:
            self._memory.reads((Material(kind, str(error), name),))
            raise
        self._memory.reads((Material(kind, result, name),))
        return result

    async def close(self) -> None:
        """Leave the tools open: they outlive the turn."""
