"""The automaton as steps from character to character, with the characters that each step can
read."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from redos.automaton import Automaton, Edge, Loop

_T = TypeVar("_T")
State = tuple[int, int]
"""A leaf just read (or `START`, `ANYWHERE`), and the kind of character that it was."""
START: Final = -1
ANYWHERE: Final = -2
"""The states before the first character, and before each later one, because a search restarts at
each."""
_WAYS: Final = 2
"""Ways between the same two leaves that are told apart: more are as bad as two."""
_MOST_STEPS: Final = 400_000


@dataclass(frozen=True, slots=True)
class Step:
    """From one character to the next: `mask` are the classes it may be of."""

    to: State
    mask: int
    iterates: frozenset[Loop]
    leaves_atomic: frozenset[int]


@dataclass(frozen=True, slots=True)
class Way:
    """From a node to a leaf or the end without a character."""

    node: int
    mask: int
    iterates: frozenset[Loop]
    leaves_atomic: frozenset[int]


class Steps:
    """All steps of an automaton that can be reached, found when they are asked for.

    `accepts` tells for a state before which characters the match is complete there: a look beyond
    falls back to it, so that what was read is not read again.
    """

    def __init__(self, automaton: Automaton, *, searched: bool, whole: bool) -> None:
        self.automaton = automaton
        self.alphabet = automaton.alphabet
        self._whole = whole
        self.contexts = self._contexts()
        self._steps: dict[State, tuple[Step, ...]] = {}
        self._accepts: dict[State, int] = {}
        self._count = 0
        self.starts: list[State] = [(START, self.context_of(self.alphabet.edge))]
        if searched:
            self.starts += [(ANYWHERE, context) for context in range(len(self.contexts))]

    def _contexts(self) -> list[int]:
        """Kinds of previous characters that conditions tell apart, as masks."""
        edge, masks = self.alphabet.edge, [self.alphabet.any | self.alphabet.edge]
        conditions = {
            before
            for edges in self.automaton.edges
            for way in edges
            for before, _ in way.allowed or ()
        }
        for answer in conditions:
            masks = [part for mask in masks for part in (mask & answer, mask & ~answer) if part]
        return sorted(masks, key=lambda mask: mask & edge)

    def context_of(self, mask: int) -> int:
        """The kind of the characters in a mask that are all of one kind."""
        return next(index for index, kind in enumerate(self.contexts) if kind & mask)

    def mask_of(self, leaf: int) -> int:
        """Return the characters that a leaf reads."""
        if leaf == ANYWHERE:
            return self.alphabet.any
        return self.alphabet.mask(self.automaton.reads[leaf])

    def of(self, state: State) -> tuple[Step, ...]:
        """The steps from a state."""
        result = self._steps.get(state)
        if result is None:
            result = self._steps[state] = tuple(self._found(state))
            self._count += len(result)
            if self._count > _MOST_STEPS:
                raise OverflowError("too many steps")
        return result

    def accepts(self, state: State) -> int:
        """Next characters (with the end's bit) before which the match may end in this state."""
        self.of(state)
        return self._accepts[state]

    def _found(self, state: State) -> list[Step]:
        leaf, context = state
        node = self.automaton.start if leaf < 0 else self.automaton.after[leaf]
        steps, accepted = [], 0
        for way in self._ways(node, self.contexts[context]):
            if way.node == self.automaton.final:
                accepted |= way.mask & (self.alphabet.edge if self._whole else way.mask)
                continue
            mask = way.mask & self.mask_of(way.node)
            for index, kind in enumerate(self.contexts):
                if mask & kind & self.alphabet.any:
                    part = mask & kind & self.alphabet.any
                    steps.append(Step((way.node, index), part, way.iterates, way.leaves_atomic))
        if leaf == ANYWHERE:
            steps += [
                Step((ANYWHERE, index), kind & self.alphabet.any, frozenset(), frozenset())
                for index, kind in enumerate(self.contexts)
                if kind & self.alphabet.any
            ]
        self._accepts[state] = accepted
        return steps

    def _ways(self, node: int, before: int) -> list[Way]:
        everything = self.alphabet.any | self.alphabet.edge
        queue = deque([Way(node, everything, frozenset(), frozenset())])
        seen: dict[Way, int] = {}
        results = []
        while queue:
            way = queue.popleft()
            seen[way] = seen.get(way, 0) + 1
            if seen[way] > _WAYS:
                continue
            if way.node == self.automaton.final or way.node in self.automaton.reads:
                results.append(way)
            if way.node in self.automaton.reads:
                continue
            for edge in self.automaton.edges[way.node]:
                further = _along(way, edge, before)
                if further is not None:
                    queue.append(further)
        return results

    def reached(self) -> set[State]:
        """All states that some text leads to."""
        seen = set(self.starts)
        queue = deque(self.starts)
        while queue:
            for step in self.of(queue.popleft()):
                if step.to not in seen:
                    seen.add(step.to)
                    queue.append(step.to)
        return seen

    def way_to(self, goal: State) -> str:
        """A shortest text that leads from a start to a state."""
        parents: dict[State, tuple[State, int] | None] = dict.fromkeys(self.starts)
        queue = deque(self.starts)
        while queue and goal not in parents:
            state = queue.popleft()
            for step in self.of(state):
                if step.to not in parents:
                    parents[step.to] = (state, step.mask)
                    queue.append(step.to)
        return self.spelled(parents, goal)

    def spelled(self, parents: dict[_T, tuple[_T, int] | None], goal: _T) -> str:
        """The text of the way that a breadth-first search noted."""
        letters = []
        at = parents.get(goal)
        while at is not None:
            letters.append(self.alphabet.letter(at[1]))
            at = parents[at[0]]
        return "".join(reversed(letters))


def _along(way: Way, edge: Edge, before: int) -> Way | None:
    mask, iterates, atomic = way.mask, way.iterates, way.leaves_atomic
    if edge.allowed is not None:
        mask &= _either(after for behind, after in edge.allowed if behind & before)
        if not mask:
            return None
    if edge.iterates is not None:
        if edge.iterates in iterates:  # an empty turn is the last one
            return None
        iterates |= {edge.iterates}
    if edge.leaves_atomic is not None:
        atomic |= {edge.leaves_atomic}
    return Way(edge.to, mask, iterates, atomic)


def _either(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole
