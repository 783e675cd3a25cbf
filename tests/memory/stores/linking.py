"""Links two identities, in all necessary steps."""

from datetime import timedelta

from memory.ports.people import LinkOutcome, LinkSide
from memory.stores.links import LinkStore
from tests.memory.stores.records import AT

LATER = AT + timedelta(minutes=10)


async def link(links: LinkStore, maker: str, redeemer: str) -> LinkOutcome:
    """Offer, redeem, confirm twice; how it ended."""
    await links.offer("t", LinkSide(maker), f"code of {maker}", LATER)
    request_id = f"{maker} and {redeemer}"
    step = await links.redeem("t", LinkSide(redeemer), f"code of {maker}", request_id, AT, LATER)
    if step.outcome != "redeemed":
        return step.outcome
    await links.confirm("t", redeemer, request_id, "one", AT)
    return (await links.confirm("t", maker, request_id, "two", AT)).outcome
