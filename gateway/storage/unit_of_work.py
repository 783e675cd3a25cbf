"""The end of an exchange where what lasts and what moves live in two places."""

from gateway.ports.stores import CompletedTurn, Inbox, TurnWriter


class TwoStepUnitOfWork:
    """Implements `gateway.ports.stores.UnitOfWork`: what lasts first, because that is harmless to
    repeat."""

    def __init__(self, keeper: TurnWriter, inbox: Inbox) -> None:
        self._keeper = keeper
        self._inbox = inbox

    async def complete(self, done: CompletedTurn) -> bool:
        """Keep the exchange, then finish its events and queue their answer in one step. False
        when somebody else finished them before."""
        await self._keeper.keep(done)
        return await self._inbox.finish(done.inbox_ids, done.outbound, done.begun)
