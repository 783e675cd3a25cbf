"""Patterns for paths, matched by one automaton and never by regular expressions.

`*` stands for any characters of one component, `?` for one character, `[abc]` for one of several,
`**` for any number of components. A pattern without "/" is matched with the name of the file or of
any folder above it.

All patterns together are one automaton with a state for each of their items; a match keeps its
states as the bits of one number. What follows such a number for a character is computed once, so
that a path costs about the same whatever the patterns are, and however many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

MAX_PATTERN: Final = 200
"""Characters of a pattern."""
MAX_RANGES: Final = 20
"""Ranges in the brackets of a pattern: each costs a comparison for every different character."""
MAX_COMPONENTS: Final = 40
"""Components of a path that is matched; a longer one matches nothing."""
MAX_KNOWN: Final = 16 * 1024 * 1024
"""Bytes of states that a matcher remembers; then it begins again."""
MAX_CHARACTERS: Final = 1_000
"""Different characters whose effect a matcher remembers; then it begins again."""
MANY: Final = "**"


class BadPattern(ValueError):
    """A pattern that cannot be used. The text says why."""


@dataclass(frozen=True)
class Glob:
    """One pattern. Raises `BadPattern`."""

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern or len(self.pattern) > MAX_PATTERN:
            raise BadPattern(f"a pattern has 1 to {MAX_PATTERN} characters")
        if not self.pattern.isprintable() or "\\" in self.pattern:
            raise BadPattern('a pattern has no control characters and no "\\"; write "/"')
        parts = self.parts
        if ".." in parts or "" in parts[1:] or parts == ("",):
            raise BadPattern('a pattern has no ".." and no empty component')
        if any(MANY in part and part != MANY for part in parts):
            raise BadPattern('"**" stands alone between two "/"')
        lists = (_CharacterList.of(item) for item in _items(self))
        if sum(len(one.ranges) for one in lists if one) > MAX_RANGES:
            raise BadPattern(f"a pattern has at most {MAX_RANGES} ranges in brackets")

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The components of the pattern."""
        return tuple(self.pattern.removeprefix("/").removesuffix("/").split("/"))

    @property
    def is_of_names(self) -> bool:
        """True for a pattern that any component of a path may have."""
        return "/" not in self.pattern


class PathMatcher:
    """Tells which of several lists of patterns name a path."""

    def __init__(self, *lists: Sequence[Glob]) -> None:
        states = _States()
        ends = [[end for glob in globs for end in states.add(glob)] for globs in lists]
        self._automaton = _Automaton(states)
        self._ends = [_bits(numbers) for numbers in ends]
        self._known: dict[int, _GlobPlace] = {}
        self._bytes = 0
        self._begin = self._place(self._automaton.begin)

    def lists_of(self, path: str) -> tuple[bool, ...]:
        """Return for each list if one of its patterns names the path. `path` has "/" between its
        components, and none of them is empty."""
        if path.count("/") >= MAX_COMPONENTS:
            return (False,) * len(self._ends)
        place = self._begin
        for char in path:
            place = place.after.get(char) or self._next(place, char)
        return place.lists

    def _next(self, place: "_GlobPlace", char: str) -> "_GlobPlace":
        following = self._place(self._automaton.after(place.states, char))
        place.after[char] = following
        self._bytes += _PLACE_BYTES
        return following

    def _place(self, states: int) -> "_GlobPlace":
        found = self._known.get(states)
        if found is None:
            if self._bytes > MAX_KNOWN:
                self._known, self._bytes = {}, 0
                self._begin = self._place(self._automaton.begin)
            found = _GlobPlace(states, tuple(bool(states & mask) for mask in self._ends))
            self._known[states] = found
            self._bytes += _PLACE_BYTES + states.bit_length() // 7
        return found


@dataclass(slots=True)
class _GlobPlace:
    """The states of a match, the lists whose patterns end in one of them, and the places that
    follow by character."""

    states: int
    lists: tuple[bool, ...]
    after: dict[str, "_GlobPlace"] = field(default_factory=dict)


_PLACE_BYTES: Final = 200
"""Bytes of a place and of a way to it, without its states."""


@dataclass(frozen=True)
class _CharacterList:
    """The characters and ranges in brackets."""

    negated: bool
    single: str
    ranges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, item: str) -> "_CharacterList | None":
        """Return the list that an item of a pattern is, if it is one."""
        if len(item) < 2 or item[0] != "[":
            return None
        inside = item[1:-1]
        negated = inside.startswith("!")
        place = int(negated)
        single, ranges = [], []
        while place < len(inside):
            if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
                ranges.append((inside[place], inside[place + 2]))
                place += 3
            else:
                single.append(inside[place])
                place += 1
        return cls(negated, "".join(single), tuple(ranges))


@dataclass(slots=True)
class _States:
    """The numbers of the states of patterns. A character takes a match on

    - from the states of `chars` that have this character, from those of `others` unless it is "/",
      and always from those of `all`,
    - from the states of lists in brackets: `listed` and `ranges` say which contain it, and of the
      states in `negated` those that do not.

    A match remains in the states of `stays` unless the character is "/", and in those of
    `stays_always`. It may leave out the states of `skips`.
    """

    size: int = 0
    begins: list[int] = field(default_factory=list)
    chars: dict[str, list[int]] = field(default_factory=dict)
    others: list[int] = field(default_factory=list)
    all: list[int] = field(default_factory=list)
    listed: dict[str, list[int]] = field(default_factory=dict)
    ranges: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    negated: list[int] = field(default_factory=list)
    stays: list[int] = field(default_factory=list)
    stays_always: list[int] = field(default_factory=list)
    skips: list[int] = field(default_factory=list)

    def add(self, glob: Glob) -> tuple[int, ...]:
        """Add the states of a pattern; return those in which a match may end."""
        self.begins.append(self.size)
        for item in _items(glob):
            self._add_item(item)
            self.size += 1
        end = self.size
        self.size += 1
        if not glob.is_of_names:
            return (end,)
        self.chars.setdefault("/", []).append(end)  # what is in a folder of this name
        self.stays_always.append(self.size)
        self.size += 1
        return (end, self.size - 1)

    def _add_item(self, item: str) -> None:
        state = self.size
        match item:
            case "*":
                self.others.append(state)
                self.stays.append(state)
                self.skips.append(state)
            case "**/":
                self.chars.setdefault("/", []).append(state)
                self.stays_always.append(state)
                self.skips.append(state)
            case "**":
                self.all.append(state)
                self.stays_always.append(state + 1)
            case "?":
                self.others.append(state)
            case _ if inside := _CharacterList.of(item):
                for char in inside.single:
                    self.listed.setdefault(char, []).append(state)
                for one in inside.ranges:
                    self.ranges.setdefault(one, []).append(state)
                if inside.negated:
                    self.negated.append(state)
            case _:
                self.chars.setdefault(item, []).append(state)


class _Automaton:
    """Patterns, with their states as the bits of numbers."""

    def __init__(self, states: _States) -> None:
        self._chars = {char: _bits(numbers) for char, numbers in states.chars.items()}
        self._listed = {char: _bits(numbers) for char, numbers in states.listed.items()}
        self._ranges = [(*ends, _bits(numbers)) for ends, numbers in states.ranges.items()]
        self._others, self._all = _bits(states.others), _bits(states.all)
        self._negated, self._skips = _bits(states.negated), _bits(states.skips)
        self._stays, self._stays_always = _bits(states.stays), _bits(states.stays_always)
        self._effects: dict[str, tuple[int, int]] = {}
        self.begin = self._entered(_bits(states.begins))

    def after(self, states: int, char: str) -> int:
        """Return the states that follow some by a character."""
        on, stays = self._effects.get(char) or self._effect(char)
        return self._entered((states & on) << 1) | (states & stays)

    def _effect(self, char: str) -> tuple[int, int]:
        """The states from which a character takes a match on, and those in which it remains."""
        on, stays = self._all | self._chars.get(char, 0), self._stays_always
        if char != "/":
            on |= self._others | self._of_lists(char)
            stays |= self._stays
        if len(self._effects) >= MAX_CHARACTERS:
            self._effects.clear()
        self._effects[char] = on, stays
        return on, stays

    def _entered(self, states: int) -> int:
        """With the states behind those that may be left out; at most two follow each other."""
        states |= (states & self._skips) << 1
        return states | (states & self._skips) << 1

    def _of_lists(self, char: str) -> int:
        found = self._listed.get(char, 0)
        for first, last, states in self._ranges:
            if first <= char <= last:
                found |= states
        return found ^ self._negated


def _bits(numbers: Sequence[int]) -> int:
    """The number whose bits with these places are set."""
    made = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        made[number // 8] |= 1 << number % 8
    return int.from_bytes(made, "little")


def _items(glob: Glob) -> Iterator[str]:
    """Yield what a pattern consists of: characters, `?`, `*`, lists in brackets; `**/` for any
    number of components, and `**` at the end for at least one."""
    parts = glob.parts
    last = len(parts) - 1
    if glob.is_of_names and parts[0] != MANY:
        yield f"{MANY}/"
    for place, part in enumerate(parts):
        if part == MANY:
            if place == last:
                yield MANY
            elif parts[max(0, place - 1)] != MANY or place == 0:
                yield f"{MANY}/"
            continue
        at = 0
        while at < len(part):
            end = part.find("]", at + 2) + 1 if part[at] == "[" else 0
            end = end or at + 1
            yield part[at:end]
            at = end
        if place < last:
            yield "/"
