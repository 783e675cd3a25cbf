"""The loops of an automaton through which a match may still fail."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from redos.graph import components
from redos.steps import State, Step, Steps

INFINITE: Final = 1 << 60
_MOST_SETS: Final = 300
_MOST_LOOKS: Final = 6_000_000
"""Comparisons of one analysis, some seconds; a pattern that needs more is refused."""


@dataclass(frozen=True)
class Cycle:
    """States that reach each other by ways that may fail; `bound` is how often in one match."""

    states: tuple[State, ...]
    steps: dict[State, tuple[Step, ...]]
    bound: int


class Cycles:
    """All such loops, and what can be asked of them."""

    def __init__(self, steps: Steps, reached: Iterable[State]) -> None:
        self._all = steps
        self._reached = reached
        self._looks = 0
        self.all = self._failing_cycles()

    def _failing_cycles(self) -> list[Cycle]:
        steps = {state: self.uncovered(state) for state in self._reached if state[0] >= 0}
        results = []
        for states in components({s: [step.to for step in all_] for s, all_ in steps.items()}):
            inside = set(states)
            inner = {s: tuple(step for step in steps[s] if step.to in inside) for s in states}
            if any(inner.values()) and self.failing(states[0]) is not None:
                results.append(Cycle(tuple(states), inner, _bound(inner)))
        return results

    def uncovered(self, state: State) -> tuple[Step, ...]:
        """The steps from a state before which no match may end."""
        covered = self._all.accepts(state)
        return tuple(
            Step(step.to, mask, step.iterates, step.leaves_atomic)
            for step in self._all.of(state)
            if (mask := step.mask & ~covered)
        )

    def look(self, times: int) -> None:
        """Count comparisons; raises `OverflowError` when they are too many."""
        self._looks += times
        if self._looks > _MOST_LOOKS:
            raise OverflowError("too many loops that may overlap")

    def failing(self, state: State) -> str | None:
        """A text after which a way through this state fails; None when there seems to be none."""
        first = frozenset([state])
        parents: dict[frozenset[State], tuple[frozenset[State], int] | None] = {first: None}
        queue = deque([first])
        alphabet = self._all.alphabet
        while queue and len(parents) < _MOST_SETS:
            states = queue.popleft()
            accepted = _either(self._all.accepts(s) for s in states)
            steps = [step for s in states for step in self._all.of(s)]
            nowhere = alphabet.any & ~accepted & ~_either(step.mask for step in steps)
            if nowhere:
                return self._all.spelled(parents, states) + alphabet.letter(nowhere)
            if not accepted & alphabet.edge:
                return self._all.spelled(parents, states)
            for mask in _parts([step.mask for step in steps], alphabet.any & ~accepted):
                further = frozenset(step.to for step in steps if step.mask & mask)
                if further not in parents:
                    parents[further] = (states, mask)
                    queue.append(further)
        return None if not queue else ""

    def between(self, cycle: Cycle, start: State, goal: State) -> str:
        """A shortest text that leads from one state of a loop to another."""
        parents: dict[State, tuple[State, int] | None] = {start: None}
        queue = deque([start])
        while queue and goal not in parents:
            state = queue.popleft()
            for step in cycle.steps[state]:
                if step.to not in parents:
                    parents[step.to] = (state, step.mask)
                    queue.append(step.to)
        return self._all.spelled(parents, goal)

    def behind(self, cycle: Cycle) -> list[int]:
        """The loops that can be reached from a loop."""
        seen = {cycle.states[0]}
        queue = deque(seen)
        while queue:
            steps = self._all.of(queue.popleft())
            self.look(len(steps))
            for step in steps:
                if step.to not in seen:
                    seen.add(step.to)
                    queue.append(step.to)
        return [
            index
            for index, other in enumerate(self.all)
            if other is not cycle and other.states[0] in seen
        ]


def _bound(steps: dict[State, tuple[Step, ...]]) -> int:
    bound = 1
    for loop in {loop for all_ in steps.values() for step in all_ for loop in step.iterates}:
        if loop.bound is None:
            return INFINITE
        bound = min(bound * loop.bound, INFINITE)
    return bound


def _parts(masks: Iterable[int], whole: int) -> list[int]:
    """The classes of characters that lead to different states."""
    parts = [whole] if whole else []
    for mask in set(masks):
        parts = [p for part in parts for p in (part & mask, part & ~mask) if p]
    return parts


def _either(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole
