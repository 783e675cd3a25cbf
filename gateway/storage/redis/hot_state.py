"""Everything of the hot state that lives in one Redis, put together."""

import os
import socket
import uuid

from gateway.ports import Clock
from gateway.storage.redis.adapter_state import RedisAdapterStates
from gateway.storage.redis.buckets import RedisBuckets
from gateway.storage.redis.client import RedisClient
from gateway.storage.redis.inbox import RedisInbox
from gateway.storage.redis.outbox import RedisOutbox
from gateway.storage.redis.queue_depths import RedisQueueDepths
from gateway.storage.redis.send_source import RedisSendSource
from gateway.storage.redis.work_source import LEASE, RedisWorkSource


class RedisHotState:
    """The stores and sources of one process. `client.start()` comes before their use."""

    def __init__(
        self, url: str, clock: Clock, *, prefix: str = "parley", lease: float = LEASE
    ) -> None:
        """`prefix` keeps several installations in one Redis apart; `lease` in seconds is how long
        the work of a process that died is left alone."""
        self.client = RedisClient(url, prefix=prefix)
        self.worker = process_name()
        self.work = RedisWorkSource(self.client, self.worker, lease=lease)
        self.sends = RedisSendSource(self.client, self.worker, lease=lease)
        self.depths = RedisQueueDepths(self.client, lease)
        self.inbox = RedisInbox(self.client, clock, self.work.finished)
        self.outbox = RedisOutbox(self.client, clock, self.sends.settled)
        self.buckets = RedisBuckets(self.client)
        self.states = RedisAdapterStates(self.client)


def process_name() -> str:
    """A name that no other process has, and that says where to look for it."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
