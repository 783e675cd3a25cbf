"""What is said when the answer is no. A denied access is silent; a limit answers once a window."""

import math
from dataclasses import dataclass
from datetime import timedelta

from gateway.policy.decision import Decision


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence, and how long it is not repeated to the same person in the same place."""

    text: str
    quiet_for: timedelta


def refusal_for(decision: Decision) -> Refusal | None:
    """What to say to the person, None for silence."""
    if decision.stage == "limits":
        seconds = max(1, math.ceil(decision.retry_after))
        return Refusal(
            f"Rate limit exceeded. Try again in {seconds}s.", timedelta(seconds=max(seconds, 10))
        )
    if decision.stage == "budget":
        period = "tomorrow (UTC)" if decision.reason.endswith("day") else "next month"
        whose = "Your" if decision.reason.startswith("user") else "This workspace's"
        return Refusal(
            f"{whose} budget for my answers is used up. It starts anew {period}.",
            timedelta(hours=1),
        )
    return None
