"""Plans: the number of memories that a person may keep.

`self_hosted` is the plan of an installation without limits.
"""

from collections.abc import Mapping
from typing import Final, Self

from msgspec import Struct, field
from pydantic import Field, model_validator

from gateway.settings import Section
from gateway.text import Text, text, verbatim

DEFAULT_PLAN: Final = "self_hosted"
FULL: Final = text("Memory limit reached ({count}/{limit}). Delete a memory to make room.")
UPGRADE: Final = text(
    "Memory limit reached ({count}/{limit}). Upgrade to Pro for up to 15 memories."
)
_KNOWN: Final = {one.msgid: one for one in (FULL, UPGRADE)}


class Plan(Section):
    """The limits of a plan."""

    memories: int | None = Field(default=None, ge=0, le=1_000_000)
    """Maximum number of memories of a person; empty for no limit."""
    refusal: str = Field(
        default=FULL.msgid,
        min_length=1,
        max_length=500,
    )
    """Text of the refusal when the limit is reached."""

    @model_validator(mode="after")
    def _refusal_can_be_said(self) -> Self:
        try:
            self.refusal.format(count=1, limit=1)
        except (KeyError, IndexError, ValueError):
            raise ValueError("refusal: only {count} and {limit} stand for something") from None
        return self


BUILT_IN: Final[Mapping[str, Plan]] = {
    "free": Plan(
        memories=3,
        refusal=UPGRADE.msgid,
    ),
    "pro": Plan(memories=15),
    DEFAULT_PLAN: Plan(),
}


class PlanUse(Struct, frozen=True):
    """`count` current memories of `limit`, None for no limit."""

    count: int
    limit: int | None

    def __str__(self) -> str:
        return f"{self.count:,}" if self.limit is None else f"{self.count:,} of {self.limit:,}"


class Plans(Struct, frozen=True):
    """The plan of each person; `people` has keys `str(PersonId)`, "platform:id" or a bare id."""

    default: str = DEFAULT_PLAN
    """The name of the plan of everybody else."""
    plans: Mapping[str, Plan] = field(default_factory=lambda: BUILT_IN)
    """The plans by name."""
    people: Mapping[str, str] = field(default_factory=dict)

    def plan_of(self, persons: tuple[str, ...]) -> Plan:
        """The plan of a person: the best of those of their linked identities."""
        names = {self._named(person) for person in persons} or {self.default}
        plans = [self.plans[name] for name in names]
        return max(plans, key=lambda plan: (plan.memories is None, plan.memories or 0))

    def _named(self, person: str) -> str:
        platform, _, rest = person.partition(":")
        bare = rest.partition(":")[2]
        for key in (person, f"{platform}:{bare}", bare):
            if key in self.people:
                return self.people[key]
        return self.default


def refusal_of(plan: Plan, count: int) -> Text:
    """Return the refusal when the plan is full."""
    known = _KNOWN.get(plan.refusal)
    if known is None:
        return verbatim(plan.refusal.format(count=count, limit=plan.memories))
    return known.of(count=verbatim(str(count)), limit=verbatim(str(plan.memories)))
