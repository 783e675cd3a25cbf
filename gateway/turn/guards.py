"""When a model asks for the same tool calls again and again."""

import hashlib
import json
from typing import Final, Literal, TypeAlias

from gateway.ports import ToolCall

LONGEST_CYCLE: Final = 4
"""Calls in the longest cycle that is looked for: A-B-A-B up to A-B-C-D-A-B-C-D."""

Verdict: TypeAlias = Literal["", "repeated", "cycle"]


class CallGuard:
    """Says of each call, in order, whether it may be run.

    A call is the same as another when tool and arguments are, whatever the order of the keys.
    Refused calls count as well.
    """

    def __init__(self, identical_calls: int) -> None:
        self._limit = identical_calls
        self._past: list[str] = []

    def check(self, call: ToolCall) -> Verdict:
        """Nothing when the call may be run, else why not."""
        name = _fingerprint(call)
        verdict: Verdict = ""
        if self._past.count(name) >= self._limit:
            verdict = "repeated"
        elif self._continues_a_cycle(name):
            verdict = "cycle"
        self._past.append(name)
        return verdict

    def _continues_a_cycle(self, name: str) -> bool:
        """True when the last calls are a sequence made twice, and `name` begins it once more."""
        for length in range(2, LONGEST_CYCLE + 1):
            last, before = self._past[-length:], self._past[-2 * length : -length]
            if len(before) == length and last == before and last[0] == name:
                return True
        return False


def _fingerprint(call: ToolCall) -> str:
    try:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
    except ValueError:
        arguments = call.arguments.strip()
    text = f"{call.name}\n{arguments}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
