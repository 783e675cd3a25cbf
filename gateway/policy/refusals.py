"""The sentences for refused messages. A denied access is silent; a limit answers once per
window."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Literal

from msgspec import Struct

from gateway.message import Place
from gateway.people import Audience
from gateway.policy.decision import Decision

Sharing = Literal["linked", "channel", "conversation", "workspace", "account"]
SHARED: Final[Mapping[Sharing, str]] = {
    "linked": "It is shared with your linked accounts.",
    "channel": "It is this channel's limit, shared by everybody in it.",
    "conversation": "It is the limit of this conversation.",
    "workspace": "Everybody in the workspace shares it.",
    "account": "Everybody who writes to me here shares it.",
}
"""Explains a limit or a budget that a person shares with others."""
NO_PRICE: Final = (
    "I cannot answer: a budget is set, but my language model has no price. Please tell the "
    "operator, who can set it in the configuration (`budgets.prices`)."
)

READABLE: Final = "readable"
"""The stage that refuses messages without known content."""
NOT_PASSED_ON: Final = "not_passed_on"
CANNOT_READ: Final = (
    "I cannot read your message, because this chat service does not pass such messages on to me (a"
    " poll or a view-once picture, for example): please write it as text, or send an ordinary "
    "picture or file."
)


def sharing_of(decision: Decision, place: Place, *, linked: bool) -> Sharing | None:
    """Return the people who share the used-up limit or budget: everybody in the place, or the
    person's linked accounts."""
    if decision.reason.startswith("user_"):
        return "linked" if linked else None
    if decision.reason.startswith("channel_"):
        return "conversation" if place.audience is Audience.DIRECT else "channel"
    if decision.reason.startswith("workspace_"):
        return "workspace" if place.workspace_id else "account"
    return None


class RefusalText(Struct, frozen=True):
    """A sentence, and the time during which it is not repeated to the same person in the same
    place."""

    text: str
    quiet_for: timedelta


def refusal_for(decision: Decision, sharing: Sharing | None = None) -> RefusalText | None:
    """Return the sentence for a refusal, None for silence. `sharing` names the people who share the
    limit."""
    suffix = "" if sharing is None else f" {SHARED[sharing]}"
    if decision.stage == "limits":
        seconds = max(1, math.ceil(decision.retry_after))
        text = f"Rate limit exceeded. Try again in {seconds}s.{suffix}"
        return RefusalText(text, timedelta(seconds=max(seconds, 10)))
    if decision.reason == NOT_PASSED_ON:
        return RefusalText(CANNOT_READ, timedelta(hours=1))
    if decision.reason == "no_price":
        return RefusalText(NO_PRICE, timedelta(hours=1))
    if decision.stage == "budget":
        period = "tomorrow (UTC)" if decision.reason.endswith("day") else "next month"
        whose = "The" if sharing == "account" else "This workspace's"
        if decision.reason.startswith("user_"):
            whose = "Your"
        text = f"{whose} budget for my answers is used up. It resets {period}.{suffix}"
        return RefusalText(text, timedelta(hours=1))
    return None
