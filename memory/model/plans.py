"""How many memories a person may keep. Plans are configuration; deleting is always free.

Names and numbers are those of the memory limits (sources 000), `self_hosted` is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

UNLIMITED: Final = None
DEFAULT_PLAN: Final = "self_hosted"


@dataclass(frozen=True, slots=True)
class Plan:
    """`memories` current memories at most, None for no limit. `refusal` says that they are used up,
    with `{count}` and `{limit}` in it."""

    memories: int | None
    refusal: str = "Memory limit reached ({count}/{limit}). Delete a memory to make room."


BUILT_IN: Final[Mapping[str, Plan]] = {
    "free": Plan(
        3, "Memory limit reached ({count}/{limit}). Upgrade to Pro for up to 15 memories."
    ),
    "pro": Plan(15),
    DEFAULT_PLAN: Plan(UNLIMITED),
}


@dataclass(frozen=True, slots=True)
class PlanUse:
    """`count` current memories of `limit`, None for no limit."""

    count: int
    limit: int | None

    def __str__(self) -> str:
        return f"{self.count:,}" if self.limit is None else f"{self.count:,} of {self.limit:,}"


@dataclass(frozen=True, slots=True)
class Plans:
    """Who has which plan; `people` by `str(PersonId)`, "platform:id" or bare id."""

    default: str = DEFAULT_PLAN
    plans: Mapping[str, Plan] = field(default_factory=lambda: BUILT_IN)
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


def refusal_of(plan: Plan, count: int) -> str:
    """What is said when the plan's memories are used up."""
    return plan.refusal.format(count=count, limit=plan.memories)
