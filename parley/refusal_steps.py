"""The next step of an operator after a refusal."""

from collections.abc import Mapping
from typing import Final

from gateway.policy.access import NOT_APPROVED
from gateway.policy.decision import Decision

BY_STAGE: Final[Mapping[str, str]] = {
    "access": "The section `access` of the configuration decides on this.",
    "intake": "More messages waited than the limit allows: docs/operations.md lists the limits.",
    "limits": "The section `limits` of the configuration sets this limit.",
    "readable": "Nothing to do: the platform told that there is a message, and not what is in it.",
    "budget": "The section `budgets` of the configuration decides on this.",
    "age": "conversation.answer_within_hours sets this limit. Look for an outage at that time.",
    "crash_guard": "The program stopped each time it processed this: `parley quarantine list`.",
}
"""The next step by the stage that refused."""
APPROVE_FIRST: Final = (
    "The person needs an approval: `parley access list` shows who waits (docs/access.md)."
)


def step_after(decision: Decision) -> str:
    """Return the next step after a refusal; empty for a decision that needs none."""
    if decision.allowed:
        return ""
    if decision.reason == NOT_APPROVED:
        return APPROVE_FIRST
    return BY_STAGE.get(decision.stage, "")
