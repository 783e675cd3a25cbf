"""The situations that walks reach, each counted once per occurrence."""

from collections.abc import Iterable, Mapping
from typing import Final

from memory.agents.model import SharedScope


def situation(scope: int, reads: bool, granted: bool, *, outside: bool) -> str:
    """Return the name of a member's access to a share."""
    person = "an outside person" if outside else "a person"
    by = "added by the owner" if granted else "joined by itself"
    does = "reads" if reads else "does not read"
    return f"agent of {person}, {by}, {does} {SharedScope(scope).name}"


READS: Final = (
    *("added by the owner, reads AGENT_PRIVATE", "added by the owner, reads USER"),
    *("added by the owner, reads PROJECT", "joined by itself, reads PROJECT"),
    *("added by the owner, reads TEAM", "joined by itself, reads TEAM"),
    *("added by the owner, reads GLOBAL", "joined by itself, reads GLOBAL"),
    *("joined by itself, does not read USER", "joined by itself, does not read PROJECT"),
)
ACCESS: Final = (
    *(f"agent of a person, {one}" for one in READS),
    "agent of an outside person, added by the owner, reads TEAM",
    "agent of an outside person, joined by itself, does not read TEAM",
    "agent of an outside person, joined by itself, reads GLOBAL",
    "a query left out wider shares",
    "another tenant, or another person's agent, was refused",
)
UPDATES: Final = ("update: updated", "update: conflict", "update: review")
REPLACED: Final = ("a pool did not show a replaced memory",)
PAIRS: Final = (
    *("a pair: settled", "a pair: refused, not theirs"),
    *("a memory was restored, with another one", "a memory was restored, without another one"),
    "a replaced memory: refused, not theirs",
    *("a pair: settled by a button", "a pair: a button refused, not theirs"),
    *("a memory was restored by a button", "a replaced memory: a button refused, not theirs"),
)
LINKED_PAIRS: Final = (
    "a pair of separated accounts was not shown",
    "a memory was restored after the erasure of what replaced it",
)
INVITATIONS: Final = (
    *("an invitation: accepted", "an invitation: declined", "an invitation: withdrawn"),
    *("an invitation: refused, not theirs", "a pool may not invite an agent again yet"),
)
ENDS: Final = (
    *("a share ended", "a share ended because its memory was deleted"),
    "a share ended because its pool was deleted",
    "a share ended because its person was erased",
    "a share ended because its agent left the pool",
    "a share ended because its agent was unregistered",
    "ended shares were deleted",
)
HANDOFFS: Final = (
    *("handoff to an agent: initiated", "handoff to an agent: accepted"),
    *("handoff to an agent: rejected", "handoff to an agent: completed"),
    *("handoff to an agent: expired", "handoff to an agent: refused, not theirs"),
    *("handoff to a person: initiated", "handoff to a person: accepted"),
    *("handoff to a person: rejected", "handoff to a person: completed"),
    *("handoff to a person: expired", "handoff to a person: refused, not theirs"),
    *("handoff to an agent: ended with its agent", "handoff to a person: ended with its agent"),
    "handoff to a person: refused, from outside",
)
CLIENTS: Final = (
    *("a client stored for its person", "a client proposed to its person"),
    *("a client was refused: a wider scope", "a client was refused: a document"),
    *("a client was refused: a share", "a client was refused: a shared text"),
    *("a client was refused: a handoff", "a client was refused: a result"),
    *("a client handed over to its person", "a person allowed a room what a client stored"),
)
NEEDED: Final = (
    *(
        *ACCESS,
        *INVITATIONS,
        *UPDATES,
        *REPLACED,
        *PAIRS,
        *LINKED_PAIRS,
        *ENDS,
        *HANDOFFS,
        *CLIENTS,
    ),
)
"""The situations that have to be reached, each by a walk of `directed.py`."""


def table(directed: Mapping[str, int], random: Mapping[str, int]) -> str:
    """Return one line for each situation: how often the directed walks and the random one reached
    it."""
    names = sorted({*NEEDED, *directed, *random})
    lines = (f"{directed.get(one, 0):>8,}  {random.get(one, 0):>8,}  {one}" for one in names)
    return "\n".join(("directed    random", *lines))


def missing(reached: Mapping[str, int], needed: Iterable[str] = NEEDED) -> list[str]:
    """Return the situations that were not reached."""
    return [name for name in needed if not reached.get(name)]
