"""The tools: all of them, the permitted part for one turn, and the calls of one round with their
limits."""

import asyncio
import hashlib
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from typing import Final, Literal, TypeAlias, cast

import structlog
from msgspec import Struct

from gateway.authorship import Authorship, Material, within_bounds
from gateway.errors import ToolError
from gateway.immutable import replace
from gateway.llm.json_text import parse_object
from gateway.message import OutboundFile
from gateway.ports import (
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelRequest,
    ServerState,
    ToolAnswer,
    ToolCall,
    ToolOutcome,
    ToolProvider,
    ToolSpec,
    text_of_answer,
)
from gateway.ports.memory import TurnMemory
from gateway.ports.model import CanReportState, CanStart
from gateway.turn.model_turn import ToolUse, TurnLimits
from gateway.turn.prompt import clip
from gateway.turn.tool_files import ShownFiles

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

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
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

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
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

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Run a tool, and note its result or error as external text. Raises `ToolError`."""
        kind: Authorship = "tool" if name in self._closed_world else "web"
        try:
            result = await self._tools.call(name, arguments)
        except ToolError as error:
            self._memory.reads((Material(kind, str(error), name),))
            raise
        self._memory.reads((Material(kind, text_of_answer(result), name),))
        return result

    async def close(self) -> None:
        """Leave the tools open: they outlive the turn."""


LONGEST_CYCLE: Final = 4
"""Calls in the longest detected cycle: from A-B-A-B up to A-B-C-D-A-B-C-D."""

Verdict: TypeAlias = Literal["", "repeated", "cycle"]


class CallGuard:
    """Decides for each call, in order, if it may run.

    Two calls are equal if their tool and arguments are, in any order of the keys. Refused calls
    count as well.
    """

    def __init__(self, identical_calls: int) -> None:
        self._limit = identical_calls
        self._past: list[str] = []

    def check(self, call: ToolCall) -> Verdict:
        """Return the reason why the call may not run, empty if it may."""
        name = _fingerprint(call)
        verdict: Verdict = ""
        if self._past.count(name) >= self._limit:
            verdict = "repeated"
        elif self._continues_a_cycle(name):
            verdict = "cycle"
        self._past.append(name)
        return verdict

    def _continues_a_cycle(self, name: str) -> bool:
        """Return True if the last calls are a sequence that was repeated, and `name` begins it
        again."""
        for length in range(2, LONGEST_CYCLE + 1):
            last, before = self._past[-length:], self._past[-2 * length : -length]
            if len(before) == length and last == before and last[0] == name:
                return True
        return False


def _fingerprint(call: ToolCall) -> str:
    try:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments.strip()
    text = f"{call.name}\n{arguments}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


MAX_NAMED: Final = 20
MAX_NAME: Final = 80


class Round(Struct, frozen=True):
    """The results of the calls of one round, in order; `verdict` is the reason why no more may
    follow."""

    outcomes: tuple[ToolOutcome, ...]
    uses: tuple[ToolUse, ...]
    verdict: Verdict = ""


class CallRunner:
    """Runs calls within the limits. The model receives every failure as an error. `shown` takes the
    files of results."""

    def __init__(
        self,
        tools: ToolProvider,
        offered: Mapping[str, ToolSpec],
        limits: TurnLimits,
        clock: Clock,
        shown: ShownFiles | None = None,
    ) -> None:
        self._shown = shown or ShownFiles()
        self._tools = tools
        self._offered = offered
        self._limits = limits
        self._clock = clock
        self._guard = CallGuard(limits.identical_calls)

    async def run(self, calls: Sequence[ToolCall], *, cut_off: bool = False) -> Round:
        """Run the calls; with `cut_off` the last one is incomplete and is not run.

        Calls that only read run concurrently; if one may have side effects, all run one after the
        other, in the order of the model.
        """
        refusals: list[str] = []
        verdict: Verdict = ""
        for number, call in enumerate(calls):
            reason = self._guard.check(call)
            verdict = verdict or reason
            refusals.append(self._refusal(number, reason, cut_off and number == len(calls) - 1))
        allowed = [c for c, refusal in zip(calls, refusals, strict=True) if not refusal]
        if all(self._only_reads(call) for call in allowed):
            done = await asyncio.gather(*(self._run(call) for call in allowed))
        else:
            done = [await self._run(call) for call in allowed]
        results = iter(done)
        ran = [
            _failed(call, refusal, "not run") if refusal else next(results)
            for call, refusal in zip(calls, refusals, strict=True)
        ]
        outcomes = tuple(self._with_files(each) for each in ran)
        return Round(outcomes, tuple(each.use for each in ran), verdict)

    def _with_files(self, ran: "_Ran") -> ToolOutcome:
        """Return the outcome with its pictures, and with a line about each file."""
        if not ran.files:
            return ran.outcome
        told, images = self._shown.take(ran.files)
        content = "\n\n".join(filter(str.strip, (ran.outcome.content, told)))
        return replace(ran.outcome, content=content, images=images)

    def _refusal(self, number: int, reason: Verdict, cut_off: bool) -> str:
        if cut_off:
            return "Not run: the answer reached its length limit in the middle of this call."
        if reason == "repeated":
            return f"Not run: the same call was made {self._limits.identical_calls} times before."
        if reason == "cycle":
            return "Not run: the same calls repeat in a cycle."
        if number >= self._limits.calls_per_round:
            return f"Not run: at most {self._limits.calls_per_round} calls are run at once."
        return ""

    def _only_reads(self, call: ToolCall) -> bool:
        spec = self._offered.get(call.name)
        return spec is None or not spec.side_effects

    async def _run(self, call: ToolCall) -> "_Ran":
        if call.name not in self._offered:
            names = ", ".join(list(self._offered)[:MAX_NAMED]) or "none"
            return _failed(call, f"There is no such tool. You may use: {names}.", "not offered")
        try:
            arguments = parse_object(call.arguments)
        except ValueError as error:
            problem = f"The arguments must be a JSON object: {error}."
            return _failed(call, problem, "invalid arguments")
        return await self._run_bounded(call, arguments)

    async def _run_bounded(self, call: ToolCall, arguments: Mapping[str, object]) -> "_Ran":
        began = self._clock.monotonic()
        seconds = self._limits.tool_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await self._tools.call(call.name, arguments)
        except TimeoutError:
            problem, note = f"The tool did not answer within {seconds:g} seconds.", "timed out"
        except ToolError as error:
            problem, note = clip(str(error), self._limits.tool_result), "failed"
        except Exception as error:  # noqa: BLE001 - a tool is foreign code: its bug is its failure
            problem, note = "The tool failed.", f"failed: {type(error).__name__}"
        else:
            content = clip(text_of_answer(answer), self._limits.tool_result)
            use = ToolUse(call.name, True, self._clock.monotonic() - began)
            files = () if isinstance(answer, str) else answer.files
            return _Ran(ToolOutcome(call.id, content), use, files)
        return _failed(call, problem, note, self._clock.monotonic() - began)


class _Ran(Struct, frozen=True):
    """A call after its end."""

    outcome: ToolOutcome
    use: ToolUse
    files: tuple[OutboundFile, ...] = ()


def _failed(call: ToolCall, problem: str, note: str, seconds: float = 0.0) -> _Ran:
    use = ToolUse(call.name[:MAX_NAME], False, seconds, note)
    return _Ran(ToolOutcome(call.id, problem, is_error=True), use)
