"""The end of an exchange where what lasts and what moves live in two places."""

from gateway.stores import Completed, Inbox, Keeper


class TwoStepJournal:
    """Implements `gateway.stores.Journal`: what lasts first, because that is harmless to repeat."""

    def __init__(self, keeper: Keeper, inbox: Inbox) -> None:
        self._keeper = keeper
        self._inbox = inbox

    async def complete(self, done: Completed) -> bool:
        """Keep the exchange, then finish its events and queue their answer in one step. False
        when somebody else finished them before."""
        await self._keeper.keep(done)
        return await self._inbox.finish(done.inbox_ids, done.outbound, done.begun)
