"""Reactions under answers: a thumb is stored as feedback, any other one is ignored."""

from gateway.inbound.screening import Screening
from gateway.message import ReactionChanged, turn_id_of
from gateway.ports.queues import message_key
from gateway.stores.feedback import Feedback, rating_of
from gateway.turn.admission import principal_of, served
from gateway.turn.services import Services


class FeedbackReactions:
    """Handles reactions. Only people who are served can give feedback."""

    def __init__(self, services: Services, screening: Screening) -> None:
        self._services = services
        self._screening = screening

    async def take(self, event: ReactionChanged) -> None:
        """Store a thumb, or delete one that was removed. Raises `StoreUnavailable` and
        `TenantUnknown`.

        An answer is known for as long as its receipt is, one day.
        """
        services, rating = self._services, rating_of(event.emoji)
        all_taken_back = not event.emoji and not event.added
        if (rating is None and not all_taken_back) or event.author.is_bot or event.author.is_chat:
            return
        place, author = event.place, event.author
        writer = place.identity(author)
        tenant = services.extensions.tenant_of(place, writer)
        if await self._screening.refusal(event, tenant) is not None:
            services.count("feedback_refused", event.place.platform)
            return
        at = message_key(event.place, event.message_id)
        reply = await services.stores.outbox.reply_at(at)
        if not reply:
            return
        # The access rules of messages: lists, linked identities, extensions.
        who = principal_of(author, place, tenant, services)
        if not (await served(who, place, author.known, services)).allowed:
            services.count("feedback_refused", place.platform)
            return
        person = str(writer)
        store = services.stores.feedback
        if rating is None or not event.added:
            await store.take_back(at, person, rating)
            return
        turn_id = turn_id_of(reply)
        await store.put(Feedback(at, person, tenant, turn_id, rating, services.clock.now()))
        services.count("feedback_up" if rating > 0 else "feedback_down", place.platform)
