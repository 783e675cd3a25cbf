"""Runs the tool calls of one round."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.errors import ToolError
from gateway.llm.json_text import parse_object
from gateway.ports import Clock, ToolCall, ToolOutcome, ToolProvider, ToolSpec
from gateway.turn.prompt import clip
from gateway.turn.types import ToolUse, TurnLimits

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
    """Runs calls within the limits. The model receives every failure as an error."""

    def __init__(
        self,
        tools: ToolProvider,
        offered: Mapping[str, ToolSpec],
        limits: TurnLimits,
        clock: Clock,
    ) -> None:
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
        pairs = [
            _failed(call, refusal, "not run") if refusal else next(results)
            for call, refusal in zip(calls, refusals, strict=True)
        ]
        outcomes, uses = zip(*pairs, strict=True) if pairs else ((), ())
        return Round(outcomes, uses, verdict)

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

    async def _run(self, call: ToolCall) -> tuple[ToolOutcome, ToolUse]:
        if call.name not in self._offered:
            names = ", ".join(list(self._offered)[:MAX_NAMED]) or "none"
            return _failed(call, f"There is no such tool. You may use: {names}.", "not offered")
        try:
            arguments = parse_object(call.arguments)
        except ValueError as error:
            problem = f"The arguments must be a JSON object: {error}."
            return _failed(call, problem, "invalid arguments")
        return await self._run_bounded(call, arguments)

    async def _run_bounded(
        self, call: ToolCall, arguments: Mapping[str, object]
    ) -> tuple[ToolOutcome, ToolUse]:
        began = self._clock.monotonic()
        seconds = self._limits.tool_seconds
        try:
            async with asyncio.timeout(seconds):
                text = await self._tools.call(call.name, arguments)
        except TimeoutError:
            problem, note = f"The tool did not answer within {seconds:g} seconds.", "timed out"
        except ToolError as error:
            problem, note = clip(str(error), self._limits.tool_result), "failed"
        except Exception as error:  # noqa: BLE001 - a tool is foreign code: its bug is its failure
            problem, note = "The tool failed.", f"failed: {type(error).__name__}"
        else:
            content = clip(text, self._limits.tool_result)
            elapsed = self._clock.monotonic() - began
            return ToolOutcome(call.id, content), ToolUse(call.name, True, elapsed)
        return _failed(call, problem, note, self._clock.monotonic() - began)


def _failed(
    call: ToolCall, problem: str, note: str, seconds: float = 0.0
) -> tuple[ToolOutcome, ToolUse]:
    use = ToolUse(call.name[:MAX_NAME], False, seconds, note)
    return ToolOutcome(call.id, problem, is_error=True), use
