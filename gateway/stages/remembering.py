"""Opens memory for the person who asks, and keeps the turn when it is over."""

from gateway.exchange import Exchange
from gateway.policy.decision import Decision
from gateway.remembering import Asker
from gateway.services import Services
from gateway.turn.prompt import said_in


async def open_memory(exchange: Exchange, services: Services) -> Decision:
    """Bind memory to whoever asks, and to whoever reads along."""
    exchange.memory = await services.memory.turn(asker_of(exchange, services))
    return Decision("memory", True, "opened")


async def close_memory(exchange: Exchange, services: Services) -> Decision:
    """Keep the turn, and learn what there is to tell about it."""
    if exchange.memory is None or exchange.result is None or exchange.result.failed:
        return Decision("memory", True, "nothing_kept")
    used = [call.name for call in exchange.result.calls]
    exchange.aftermath = await exchange.memory.finish(exchange.answer, used)
    return Decision("memory", True, "kept")


def asker_of(exchange: Exchange, services: Services) -> Asker:
    """Who asks, as memory knows them."""
    return Asker(
        id=exchange.id,
        principal=exchange.who,
        name=exchange.last.author.name,
        place=exchange.place,
        conversation=str(exchange.key),
        at=services.clock.now(),
        message_ids=tuple(message.id for message in exchange.messages),
        words=exchange.contents,
        said=said_in(exchange.place, exchange.last.author.name, "\n".join(exchange.contents)),
    )
