"""The work of one process where several share it through Redis."""

import asyncio
from collections.abc import Coroutine, Mapping

import structlog

from gateway.inbound.dispatcher import LocalDispatcher
from gateway.outbound.deliverer import Deliverer
from gateway.platforms import ConnectedAccount
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.rpc import RpcServer
from parley.runtime import Role
from parley.runtime.remote_adapter import handlers_of

MAX_TAKEN = 1_000
"""Maximum of events, or sends, in one process; the rest waits in Redis."""

log = structlog.get_logger(__name__)

Work = Coroutine[None, None, None]


class SharedWork:
    """Takes work from Redis by the role of this process. Its tasks survive an outage of Redis."""

    def __init__(
        self,
        shared: RedisHotState,
        role: Role,
        dispatcher: LocalDispatcher,
        deliverer: Deliverer,
        connected: Mapping[tuple[str, str], ConnectedAccount],
    ) -> None:
        self._shared = shared
        self._role = role
        self._dispatcher = dispatcher
        self._deliverer = deliverer
        self._connected = connected
        self._taking = True
        self._intake: list[asyncio.Task[None]] = []
        self._sending: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to take the work of this role."""
        if self._role != "adapter":
            self._intake.append(_task(self._take_events(), "take-events"))
        if self._role != "worker":
            self._sending.append(_task(self._take_sends(), "take-sends"))
            for account, connected in self._connected.items():
                state = self._shared.states.of(*account)
                handlers = handlers_of(connected, self._deliverer, state)
                calls = RpcServer(self._shared.client, account, handlers)
                self._sending.append(_task(calls.run(), f"calls-{':'.join(account)}"))

    def stop_taking(self) -> None:
        """Take no more events. Current work continues, and its leases are kept."""
        self._taking = False

    async def stop(self) -> None:
        """Stop, and release the remaining work to other processes at once."""
        await _cancel(self._intake)
        await _cancel(self._sending)
        if self._role != "adapter":
            await self._shared.work.release()
        if self._role != "worker":
            await self._shared.sends.release()

    async def _take_events(self) -> None:
        await self._shared.work.run(
            self._dispatcher.dispatch,
            lambda: self._taking and self._dispatcher.queues.waiting < MAX_TAKEN,
        )

    async def _take_sends(self) -> None:
        await self._shared.sends.run(
            list(self._connected),
            self._deliverer.take,
            lambda: self._deliverer.waiting < MAX_TAKEN,
        )


def _task(work: Work, name: str) -> "asyncio.Task[None]":
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("shared_work_failed", task=task.get_name(), error=repr(task.exception()))


async def _cancel(tasks: "list[asyncio.Task[None]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tasks.clear()
