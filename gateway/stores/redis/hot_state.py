"""All hot state of one Redis."""

import os
import socket
import uuid

from gateway.ports import Clock
from gateway.stores.redis.adapter_state import RedisAdapterStates
from gateway.stores.redis.buckets import RedisBuckets
from gateway.stores.redis.client import RedisClient
from gateway.stores.redis.inbox import RedisInbox
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.redis.queue_depths import RedisQueueDepths
from gateway.stores.redis.send_source import RedisSendSource
from gateway.stores.redis.work_source import LEASE, RedisWorkSource


class RedisHotState:
    """The stores and sources of one process. Call `client.start()` before use."""

    def __init__(
        self, url: str, clock: Clock, *, prefix: str = "parley", lease: float = LEASE
    ) -> None:
        """`prefix` separates installations in one Redis; `lease` is the time in seconds after which
        the work of a dead process is taken over."""
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
    """Return a name that is unique among processes and tells host and process id."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
