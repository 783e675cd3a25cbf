"""What is kept of an exchange that is over. Pure: the journal does the keeping."""

from dataclasses import replace

from gateway.exchange import Exchange
from gateway.ports.stores import CompletedTurn, StoredTurn, UsageRow
from gateway.services import Services
from gateway.stages.redacting import kept_answer, kept_material, kept_of


def completed(exchange: Exchange, services: Services, outcome: str) -> CompletedTurn:
    """Everything of the exchange that is kept, and what is still to be sent.

    Words are kept only where the model was asked and its answer is given; a refusal leaves a trace,
    what it cost until then, and nothing else. Where the author wants nothing to be kept, no trace
    is left either.
    """
    answered = exchange.result is not None and not exchange.refused and not exchange.unkept
    person = str(exchange.principal.person) if exchange.principal is not None else ""
    return CompletedTurn(
        key=exchange.key,
        turns=turns_of(exchange, services) if answered else (),
        usage=usage_of(exchange, services),
        accounts=exchange.meter.accounts if exchange.meter else (),
        trace=exchange.trace(outcome, services.clock.monotonic()),
        traced=not exchange.unkept,
        inbox_ids=exchange.inbox_ids,
        outbound=tuple(
            one if one.person else replace(one, person=person) for one in exchange.outbound
        ),
        waiting=exchange.aftermath.turn if answered else None,
        begun=services.deliverer.immediate_send_key(exchange.outbound),
    )


def turns_of(exchange: Exchange, services: Services) -> tuple[StoredTurn, ...]:
    """The messages and the answer as steps of the conversation, without secrets; a failed turn
    leaves no answer."""
    person, kept = str(exchange.who.person), kept_of(exchange, services)
    asked = tuple(
        StoredTurn(
            message.id,
            "user",
            text,
            message.timestamp,
            person,
            message.author.name,
            kept_material(exchange, message.material),
        )
        for message, text in zip(exchange.messages, kept.texts, strict=True)
    )
    if exchange.result is None or exchange.result.failed:
        return asked
    answer = kept_answer(exchange, services)
    return (*asked, StoredTurn(exchange.last.id, "assistant", answer, services.clock.now()))


def usage_of(exchange: Exchange, services: Services) -> tuple[UsageRow, ...]:
    """What the turn cost by now, one row where the model was asked at all."""
    meter, place = exchange.meter, exchange.place
    if meter is None or (exchange.result is None and not meter.micros):
        return ()
    return (
        UsageRow(
            exchange.key.tenant,
            str(exchange.who.person),
            f"{place.platform}:{place.account}:{place.workspace_id}",
            meter.model,
            meter.usage,
            meter.micros,
            services.clock.now(),
        ),
    )
