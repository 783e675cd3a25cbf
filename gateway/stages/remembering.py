"""Opens memory for the person who asks, and keeps the turn when it is over."""

from gateway.authorship import without_quotations
from gateway.exchange import Exchange
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.remembering import REDACTION_NOTICE, Caller
from gateway.services import Services
from gateway.stages.redacting import kept_answer, kept_material, kept_of, redact_aside
from gateway.stages.secret_notes import LATER, REMOVED, noted, secret_note
from gateway.turn.prompt import said_in


async def open_memory(exchange: Exchange, services: Services) -> Decision:
    """Bind memory to whoever asks, and to whoever reads along."""
    await redact_aside(exchange, services)
    exchange.memory = await services.memory.turn(asker_of(exchange, services))
    if exchange.unkept:
        services.recent_secrets.forget_person(str(exchange.key), str(exchange.who.person))
        return Decision("memory", True, "off")
    return Decision("memory", True, "opened")


async def close_memory(exchange: Exchange, services: Services) -> Decision:
    """Keep the turn, and learn what there is to tell about it."""
    if exchange.memory is None or exchange.result is None:
        return Decision("memory", True, "nothing_kept")
    await redact_aside(exchange, services)
    note = note_of(exchange, services)
    if note and not reads_alone(exchange):
        covered = (REDACTION_NOTICE,) if note == REMOVED else ()
        await exchange.memory.tell_later(LATER[note], instead_of=covered)
    if exchange.result.failed:
        exchange.aftermath = noted(exchange.aftermath, note)
        return Decision("memory", True, "nothing_kept")
    used = [call.name for call in exchange.result.calls]
    after = await exchange.memory.finish(kept_answer(exchange, services), used)
    exchange.aftermath = noted(after, note)
    return Decision("memory", True, "kept")


def note_of(exchange: Exchange, services: Services) -> str:
    """What the person is told of the secrets in what they wrote and showed; nothing where they
    switched memory off, and nothing is kept anyway."""
    if exchange.unkept:
        return ""
    shown = exchange.material
    return secret_note(kept_of(exchange, services), shown, kept_material(exchange, shown))


def asker_of(exchange: Exchange, services: Services) -> Caller:
    """Who asks, as memory knows them."""
    return Caller(
        id=exchange.id,
        principal=exchange.who,
        name=exchange.last.author.name,
        place=exchange.place,
        conversation=str(exchange.key),
        at=services.clock.now(),
        message_ids=tuple(message.id for message in exchange.messages),
        words=tuple(without_quotations(content) for content in exchange.contents),
        said=said_of(exchange, services),
        material=kept_material(exchange, exchange.material),
        alone=reads_alone(exchange),
    )


def reads_alone(exchange: Exchange) -> bool:
    """True where something can be said to the author that nobody else reads."""
    direct = exchange.place.audience is Audience.DIRECT
    return direct or exchange.connected.manifest.capabilities.ephemeral


def said_of(exchange: Exchange, services: Services) -> str:
    """The author's own text as it is kept, without secrets; empty where there is none."""
    if not exchange.content.strip():
        return ""
    texts = kept_of(exchange, services).texts
    return said_in(exchange.place, exchange.last.author.name, "\n".join(texts))
