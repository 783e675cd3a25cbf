"""Actions of people that their platform does not show as messages: commands, presses, reactions."""

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

MAX_INTERACTIONS: Final = 500
MAX_REACTED: Final = 2_000
"""Messages with reactions."""
UNSHOWN_COMMANDS: Final = frozenset({"discord", "slack"})
UNSHOWN_PRESSES: Final = frozenset({"discord", "slack", "telegram"})


@dataclass(frozen=True, slots=True)
class Interaction:
    """A command or a press, shown below the message `after`, which is empty at the beginning.
    `text` is what was typed, or the label of the button; `room` names a room or a thread."""

    id: str
    room: str
    person: str
    verb: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class Reaction:
    """An emoji under a message, with the names of those who chose it."""

    emoji: str
    people: tuple[str, ...]


class Interactions:
    """The latest interactions on all platforms."""

    def __init__(self) -> None:
        self._interactions: deque[Interaction] = deque(maxlen=MAX_INTERACTIONS)
        self._reactions: OrderedDict[tuple[str, str], dict[str, list[str]]] = OrderedDict()
        self._count = 0

    def note(self, room: str, person: str, verb: str, text: str, after: str) -> None:
        """Record a command or a press."""
        self._count += 1
        self._interactions.append(
            Interaction(f"interaction-{self._count}", room, person, verb, text, after)
        )

    def below(self, room: str, after: str) -> list[Interaction]:
        """The interactions below a message of a room, oldest first."""
        return [
            interaction
            for interaction in self._interactions
            if (interaction.room, interaction.after) == (room, after)
        ]

    def react(self, platform: str, message_id: str, person: str, emoji: str) -> None:
        """Record a reaction; a second one with the same emoji changes nothing."""
        chosen = self._reactions.setdefault((platform, message_id), {})
        people = chosen.setdefault(emoji, [])
        if person not in people:
            people.append(person)
        while len(self._reactions) > MAX_REACTED:
            self._reactions.popitem(last=False)

    def reactions(self, platform: str, message_id: str) -> list[Reaction]:
        """The reactions to a message, in the order in which they came."""
        chosen = self._reactions.get((platform, message_id), {})
        return [Reaction(emoji, tuple(people)) for emoji, people in chosen.items()]
