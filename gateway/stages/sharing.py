"""With whom a limit or a budget is shared that is used up: looked up for refusals only."""

from typing import Final

from gateway.exchange import Exchange
from gateway.policy.decision import Decision
from gateway.policy.refusals import Sharing, sharing_of
from gateway.services import Services

DETAILS: Final[dict[Sharing, str]] = {
    "channel": "shared by everybody in the channel",
    "conversation": "the limit of the conversation",
    "workspace": "shared by everybody in the workspace",
    "account": "shared by everybody who writes to the account",
}


async def with_sharing(decision: Decision, exchange: Exchange, services: Services) -> Decision:
    """A refusal with the words, for `parley why`, on who shares what is used up; the exchange knows
    it from then on. Raises `StoreUnavailable`."""
    if decision.allowed:
        return decision
    linked = 0
    if decision.reason.startswith("user_"):
        linked = len(await services.memory.linked(exchange.who))
    sharing = exchange.sharing = sharing_of(decision, exchange.place, linked=linked > 0)
    if sharing is None:
        return decision
    accounts = f"{linked} linked account{'' if linked == 1 else 's'}"
    told = f"shared with {accounts}" if sharing == "linked" else DETAILS[sharing]
    detail = f"{decision.detail}, {told}" if decision.detail else told
    return decision._replace(detail=detail)
