"""What is kept of a finished exchange, in the order that survives a crash at any point."""

import asyncio

from gateway.exchange import Exchange
from gateway.llm.prices import cost, price_of
from gateway.message import MAX_CONTENT
from gateway.policy.decision import Decision
from gateway.services import Services
from gateway.stores import StoredTurn, UsageRow


async def save(exchange: Exchange, services: Services) -> Decision:
    """Conversation and usage first, both harmless to repeat; then, in one step, the events are
    answered and their answer is on its way."""
    stores = services.stores
    row = usage_row(exchange, services)
    await asyncio.gather(
        stores.conversations.append(exchange.key, turns_of(exchange, services)),
        stores.usage.settle(exchange.id, (row,), exchange.accounts),
    )
    await stores.inbox.finish(exchange.inbox_ids, exchange.outbound)
    services.deliverer.submit(exchange.outbound)
    await services.extensions.usage_tracker.track(row)
    return Decision("save", True, "saved")


def turns_of(exchange: Exchange, services: Services) -> tuple[StoredTurn, ...]:
    """The messages and the answer as steps of the conversation; a failed turn leaves no answer."""
    person = str(exchange.who.person)
    asked = tuple(
        StoredTurn(
            message.id,
            "user",
            content[:MAX_CONTENT],
            message.timestamp,
            person,
            message.author.name,
        )
        for message, content in zip(exchange.messages, exchange.contents, strict=True)
    )
    if exchange.result is None or exchange.result.failed:
        return asked
    return (
        *asked,
        StoredTurn(
            exchange.last.id, "assistant", exchange.answer[:MAX_CONTENT], services.clock.now()
        ),
    )


def usage_row(exchange: Exchange, services: Services) -> UsageRow:
    """What the turn cost."""
    result, place = exchange.result, exchange.place
    if result is None:
        raise AssertionError("a turn is saved after the model has run")
    price = price_of(result.model, services.prices)
    micros = cost(result.usage, price) if price else 0
    return UsageRow(
        exchange.key.tenant,
        str(exchange.who.person),
        f"{place.platform}:{place.account}:{place.workspace_id}",
        result.model,
        result.usage,
        micros,
        services.clock.now(),
    )
