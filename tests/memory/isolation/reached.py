"""The situations that a long random walk reaches, each counted once per occurrence."""

from collections.abc import Mapping
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
ENDS: Final = (
    *("its memory was deleted", "its pool was deleted", "its person was erased"),
    *("its agent left the pool", "its agent was unregistered"),
)
HANDOFFS: Final = (
    *("to an agent: initiated", "to an agent: accepted", "to an agent: rejected"),
    *("to an agent: completed", "to an agent: expired", "to an agent: refused, not theirs"),
    *("to a person: initiated", "to a person: accepted", "to a person: rejected"),
    *("to a person: completed", "to a person: expired", "to a person: refused, not theirs"),
    "to a person: refused, from outside",
)
NEEDED: Final = (
    *(f"agent of a person, {one}" for one in READS),
    "agent of an outside person, added by the owner, reads TEAM",
    "agent of an outside person, joined by itself, does not read TEAM",
    "agent of an outside person, joined by itself, reads GLOBAL",
    "a query left out wider shares",
    *(f"update: {outcome}" for outcome in ("updated", "conflict", "review")),
    "a share ended",
    *(f"a share ended because {why}" for why in ENDS),
    "ended shares were deleted",
    *(f"handoff {one}" for one in HANDOFFS),
    "another tenant, or another person's agent, was refused",
)
"""The states that a walk of nightly size has to reach."""


def table(reached: Mapping[str, int]) -> str:
    """Return one line for each situation: how often it was reached."""
    names = sorted({*NEEDED, *reached})
    return "\n".join(f"{reached.get(name, 0):>8,}  {name}" for name in names)


def missing(reached: Mapping[str, int]) -> list[str]:
    """Return what a walk did not reach."""
    return [name for name in NEEDED if not reached.get(name)]
