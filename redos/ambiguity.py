"""Texts on which a pattern takes more steps than characters, found in its automaton.

A backtracking matcher tries each way through the automaton in turn. The number of ways on which a
text of length n can be read to some state bounds its steps, so three things are looked for:

- *exponential*: a state is left and reached again by two ways that read the same text;
- *polynomial*: two loops, the second behind the first, read the same text;
- *rescan*: a search begins anew at each character, and from each reads the same stretch to its end.

Ways count only as far as they can fail. Where a match may end, a failing look ahead falls back to
it, and the search goes on behind. (Weideman, van der Merwe, Berglund, Watson: Analyzing matching
time behavior of backtracking regular expression matchers by using ambiguity of NFA, 2016.)
"""

import functools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

from redos.automaton import TooLargeError, build
from redos.calls import Use
from redos.cycles import INFINITE, Cycle, Cycles
from redos.graph import chain_products
from redos.steps import ANYWHERE, State, Step, Steps

MOST_PER_CHARACTER: Final = 300
"""Steps per character up to which bounded repeats pass: a search of 40,000 characters then takes a
tenth of a second at 10 ns a step."""
_WAYS_A_TURN: Final = 4
"""Ways that an ambiguous turn of a bounded repeat is taken to have."""
_MOST_PRODUCT: Final = 300_000
_Triple = tuple[State, State, State]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Costs of a pattern: `reason` tells the kind, `prefix + pump * n + suffix` shows it."""

    reason: str
    per_character: int
    prefix: str
    pump: str
    suffix: str


@functools.cache
def analyze(pattern: str | bytes, flags: int, use: Use) -> Refusal | None:
    """The worst that the pattern costs as it is used, or None when its time is linear."""
    try:
        steps = Steps(build(pattern, flags), searched=use.searched, whole=use.whole)
        return _Analysis(steps, again=use.again).worst()
    except (TooLargeError, OverflowError) as error:
        return Refusal(f"cannot be analysed: {error}", INFINITE, "", "", "")


class _Analysis:
    def __init__(self, steps: Steps, *, again: bool) -> None:
        self._all = steps
        self._again = again
        self._reached = steps.reached()
        self._loops = Cycles(steps, self._reached)
        self._cycles = self._loops.all

    def worst(self) -> Refusal | None:
        for cycle in self._cycles:
            pump = self._splits(cycle)
            if pump is not None and _WAYS_A_TURN ** min(cycle.bound, 60) > MOST_PER_CHARACTER:
                return self._refusal("exponential", cycle, pump, INFINITE)
        after = self._overlaps()
        anywhere = {i: pump for i, c in enumerate(self._cycles) if (pump := self._rescans(c))}
        worst: tuple[int, int] = (0, 0)
        for index in range(len(self._cycles)):
            cost = self._costs(index, after, searched=index in anywhere)
            worst = max(worst, (cost, index))
        cost, index = worst
        if cost <= MOST_PER_CHARACTER:
            return None
        pumps = [pump for _, pump in after.get(index, ())] + list(
            filter(None, [anywhere.get(index)])
        )
        last = index
        if not pumps:
            last, pumps = self._first_behind(index, after)
        kind = "rescan" if index in anywhere else "polynomial"
        return self._refusal(kind, self._cycles[last], pumps[0], cost)

    def _first_behind(
        self, index: int, after: dict[int, list[tuple[int, str]]]
    ) -> tuple[int, list[str]]:
        for later, froms in after.items():
            for earlier, pump in froms:
                if earlier == index:
                    return later, [pump]
        return index, [""]

    def _refusal(self, kind: str, cycle: Cycle, pump: str, cost: int) -> Refusal:
        prefix = self._all.way_to(cycle.states[0])
        suffix = self._loops.failing(cycle.states[0]) or ""
        answer = kind if cost >= INFINITE else f"{kind}, {cost} steps per character"
        return Refusal(answer, cost, prefix, pump, suffix)

    # --- exponential -----------------------------------------------------------------------------

    def _splits(self, cycle: Cycle) -> str | None:
        """A text that leads from a state back to it by two ways."""
        forward: dict[tuple[State, State], tuple[tuple[State, State], int] | None] = {}
        queue: deque[tuple[State, State]] = deque()
        forward.update(dict.fromkeys((state, state) for state in cycle.states))
        for state, one, other in _partings(cycle):
            mask, pair = one.mask & other.mask, (one.to, other.to)
            if one.to == other.to:
                letter = self._all.alphabet.letter(mask)
                return letter + self._loops.between(cycle, one.to, state)
            if pair not in forward:
                forward[pair] = ((state, state), mask)
                queue.append(pair)
        while queue:
            pair = queue.popleft()
            self._loops.look(len(cycle.steps[pair[0]]) * len(cycle.steps[pair[1]]))
            for one, other in product(cycle.steps[pair[0]], cycle.steps[pair[1]]):
                mask, further = one.mask & other.mask, (one.to, other.to)
                if mask and one.to == other.to:
                    root, text = self._back(forward, pair)
                    letter = self._all.alphabet.letter(mask)
                    return text + letter + self._loops.between(cycle, one.to, root)
                if mask and further not in forward:
                    forward[further] = (pair, mask)
                    queue.append(further)
            if len(forward) > _MOST_PRODUCT:
                raise OverflowError("too many pairs of states")
        return None

    def _back(
        self,
        parents: dict[tuple[State, State], tuple[tuple[State, State], int] | None],
        pair: tuple[State, State],
    ) -> tuple[State, str]:
        text = self._all.spelled(parents, pair)
        at = parents[pair]
        while at is not None:
            pair, at = at[0], parents[at[0]]
        return pair[0], text

    # --- polynomial and rescan -------------------------------------------------------------------

    def _overlaps(self) -> dict[int, list[tuple[int, str]]]:
        """For each loop those before it that read the same text, with the text."""
        results: dict[int, list[tuple[int, str]]] = {}
        behind = [self._loops.behind(cycle) for cycle in self._cycles]
        before = {
            later: [i for i, js in enumerate(behind) if later in js] for later in range(len(behind))
        }
        ends = chain_products([cycle.bound for cycle in self._cycles], before)
        starts = chain_products([cycle.bound for cycle in self._cycles], dict(enumerate(behind)))
        for later, froms in before.items():
            for earlier in froms:
                if ends[earlier] * starts[later] <= MOST_PER_CHARACTER:
                    continue
                pump = self._overlap(self._cycles[earlier], self._cycles[later])
                if pump:
                    results.setdefault(later, []).append((earlier, pump))
        return results

    def _overlap(self, first: Cycle, second: Cycle) -> str | None:
        atomic = self._all.automaton.atomic
        leaf, later = first.states[0][0], second.states[0][0]
        if set(atomic[leaf]) - set(atomic[later]):
            return None
        # Each turn of the first loop passes one of these.
        heads = {step.to for all_ in first.steps.values() for step in all_ if step.iterates}
        for start in sorted(heads):
            for goal in second.states:
                if start[1] == goal[1]:
                    pump = self._common(first.steps, start, second.steps, goal, self._all.of)
                    if pump:
                        return pump
        return None

    def _rescans(self, cycle: Cycle) -> str | None:
        goal = cycle.states[0]
        start = (ANYWHERE, goal[1])
        if start not in self._reached:
            return None
        loop = {
            (ANYWHERE, context): tuple(
                step for step in self._all.of((ANYWHERE, context)) if step.to[0] == ANYWHERE
            )
            for context in range(len(self._all.contexts))
        }
        # A search that has found something is over; further ones go on behind it.
        ways = self._all.of if self._again else functools.cache(self._loops.uncovered)
        return self._common(loop, start, cycle.steps, goal, ways)

    def _common(
        self,
        first: dict[State, tuple[Step, ...]],
        start: State,
        second: dict[State, tuple[Step, ...]],
        goal: State,
        ways: Callable[[State], tuple[Step, ...]],
    ) -> str | None:
        """A text that leads from `start` to itself, to `goal`, and from that to itself."""
        begin, end = (start, start, goal), (start, goal, goal)
        parents: dict[_Triple, tuple[_Triple, int] | None] = {begin: None}
        queue = deque([begin])
        while queue:
            at = queue.popleft()
            for one in first[at[0]]:
                self._loops.look(len(second[at[2]]))
                for last in second[at[2]]:
                    both = one.mask & last.mask
                    if not both:
                        continue
                    further_steps = ways(at[1])
                    self._loops.look(len(further_steps))
                    for middle in further_steps:
                        mask = both & middle.mask
                        further = (one.to, middle.to, last.to)
                        if mask and further not in parents:
                            parents[further] = (at, mask)
                            queue.append(further)
                            if further == end:
                                return self._all.spelled(parents, end)
            if len(parents) > _MOST_PRODUCT:
                raise OverflowError("too many triples of states")
        return None

    def _costs(self, index: int, after: dict[int, list[tuple[int, str]]], *, searched: bool) -> int:
        """Steps per character of the worst chain of loops that ends in this one."""
        chains: list[tuple[list[int], bool]] = [([index], searched)]
        worst = 1
        seen = 0
        while chains and seen < 2_000:
            seen += 1
            chain, again = chains.pop()
            bounds = sorted((self._cycles[each].bound for each in chain), reverse=True)
            cost = 1
            for bound in bounds if again else bounds[1:]:
                cost = min(cost * bound, INFINITE)
            worst = max(worst, cost)
            for earlier, _ in after.get(chain[0], ()):
                if earlier not in chain:
                    chains.append(([earlier, *chain], again))
        return worst


def _partings(cycle: Cycle) -> Iterator[tuple[State, Step, Step]]:
    """Pairs of steps from one state that read the same character. Of an atomic group only the first
    way out is ever taken."""
    for state in cycle.states:
        for one, other in combinations(cycle.steps[state], 2):
            if one.mask & other.mask and one.leaves_atomic == other.leaves_atomic:
                yield state, one, other
