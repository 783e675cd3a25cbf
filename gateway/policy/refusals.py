"""The sentences for refused messages. A denied access is silent; a limit answers once per
window, a used-up budget once until it begins again."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from gateway.message import Place
from gateway.people import Audience
from gateway.policy.budgets import begins_again
from gateway.policy.decision import Decision
from gateway.text import Moment, Sentence, Span, Text, joined, text

Sharing = Literal["linked", "channel", "conversation", "workspace", "account"]
SHARED: Final[Mapping[Sharing, Sentence]] = {
    "linked": text("It is shared with your linked accounts."),
    "channel": text("It is this channel's limit, shared by everybody in it."),
    "conversation": text("It is the limit of this conversation."),
    "workspace": text("Everybody in the workspace shares it."),
    "account": text("Everybody who writes to me here shares it."),
}
"""Explains a limit or a budget that a person shares with others."""
# Translators: a limit of messages a minute; {time} is such as "42 seconds".
TOO_MANY: Final = text("That was too much in a short time. Please ask again in {time}.")
# Translators: {time} is a length of time such as "13 hours", {at} the moment at its end.
USED_UP: Final[Mapping[str, Sentence]] = {
    "user": text(
        "Your budget for my answers is used up. It begins again in {time} ({at}). Until then I do "
        "not answer questions."
    ),
    "workspace": text(
        "This workspace's budget for my answers is used up. It begins again in {time} ({at}). "
        "Until then I do not answer questions."
    ),
    "account": text(
        "The budget for my answers is used up. It begins again in {time} ({at}). Until then I do "
        "not answer questions."
    ),
}
"""By the payer of a budget."""
NO_PRICE: Final = text(
    "I cannot answer: a budget is set, but my language model has no price. Please tell the "
    "operator, who can set it in the configuration (`budgets.prices`)."
)

READABLE: Final = "readable"
"""The stage that refuses messages without known content."""
NOT_PASSED_ON: Final = "not_passed_on"
CANNOT_READ: Final = text(
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
    """A sentence, and the time during which it is not repeated to the same person."""

    text: Text
    quiet_for: timedelta
    once: str = ""
    """The period in which it is said once, wherever the person asks; empty: once in each place."""


def refusal_for(
    decision: Decision, now: datetime, sharing: Sharing | None = None
) -> RefusalText | None:
    """Return the sentence for a refusal at `now`, None for silence. `sharing` names the people who
    share the limit."""
    if decision.stage == "limits":
        seconds = max(1, math.ceil(decision.retry_after))
        words = _with_sharing(TOO_MANY.of(time=Span(seconds)), sharing)
        return RefusalText(words, timedelta(seconds=max(seconds, 10)))
    if decision.reason == NOT_PASSED_ON:
        return RefusalText(CANNOT_READ, timedelta(hours=1))
    if decision.reason == "no_price":
        return RefusalText(NO_PRICE, timedelta(hours=1))
    if decision.stage == "budget":
        return _used_up(decision.reason, now, sharing)
    return None


def _used_up(reason: str, now: datetime, sharing: Sharing | None) -> RefusalText:
    payer = "account" if sharing == "account" else "workspace"
    if reason.startswith("user_"):
        payer = "user"
    at = begins_again(reason, now)
    words = USED_UP[payer].of(time=Span((at - now).total_seconds()), at=Moment(at))
    return RefusalText(_with_sharing(words, sharing), at - now, f"{reason}:{at:%Y-%m-%d}")


def _with_sharing(sentence: Sentence, sharing: Sharing | None) -> Text:
    return sentence if sharing is None else joined((sentence, SHARED[sharing]), " ")
