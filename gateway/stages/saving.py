"""What is kept of an exchange that is over. Pure: the journal does the keeping."""

from gateway.exchange import Exchange
from gateway.llm.prices import cost, price_of
from gateway.message import MAX_CONTENT
from gateway.services import Services
from gateway.stores import Completed, StoredTurn, UsageRow


def completed(exchange: Exchange, services: Services, outcome: str) -> Completed:
    """Everything of the exchange that is kept, and what is still to be sent.

    Words are kept only where the model was asked; a refusal leaves a trace and nothing else.
    """
    asked = exchange.result is not None
    return Completed(
        key=exchange.key,
        turns=turns_of(exchange, services) if asked else (),
        usage=(usage_row(exchange, services),) if asked else (),
        accounts=exchange.accounts,
        trace=exchange.trace(outcome, services.clock.monotonic()),
        inbox_ids=exchange.inbox_ids,
        outbound=exchange.outbound,
    )


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
    answer = exchange.answer[:MAX_CONTENT]
    return (*asked, StoredTurn(exchange.last.id, "assistant", answer, services.clock.now()))


def usage_row(exchange: Exchange, services: Services) -> UsageRow:
    """What the turn cost."""
    result, place = exchange.result, exchange.place
    if result is None:
        raise AssertionError("usage is asked for after the model has run")
    price = price_of(result.model, services.prices)
    return UsageRow(
        exchange.key.tenant,
        str(exchange.who.person),
        f"{place.platform}:{place.account}:{place.workspace_id}",
        result.model,
        result.usage,
        cost(result.usage, price) if price else 0,
        services.clock.now(),
    )
