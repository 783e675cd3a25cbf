"""The names of everything in Redis, and which partition a conversation belongs to."""

import zlib

from gateway.storage.redis.client import RedisClient, quoted

PARTITIONS = 64
"""Streams that the conversations are spread over: the most workers that can share the work.
Not to be changed while events wait, because their conversations would change streams."""
GROUP = "parley"
"""The consumer group of every stream. It has one consumer: who reads is settled by the lease."""

RING = """
local function ring(bell)
  if redis.call('LLEN', bell) == 0 then redis.call('RPUSH', bell, 'news') end
  redis.call('PEXPIRE', bell, 60000)
end
"""
"""Lua: wake the process that waits at a bell; one ring is as good as ten."""


def partition_of(lane: str) -> int:
    """The partition of a conversation; the same in every process."""
    return zlib.crc32(lane.encode()) % PARTITIONS


class Keys:
    """Key names of one installation."""

    def __init__(self, client: RedisClient) -> None:
        self._key = client.key
        self.inbox_prefix = client.key("inbox", "")
        self.sequence = client.key("outbox-sequence")
        self.accounts = client.key("outbox-accounts")
        self.dead = client.key("outbox-dead")

    def event(self, event_id: str) -> str:
        """Whether an event is known, open or done."""
        return self._key("event", event_id)

    def inbox(self, partition: int) -> str:
        """The stream of accepted events of a partition."""
        return f"{self.inbox_prefix}{partition}"

    def send(self, key: str) -> str:
        """The state of one send (a hash)."""
        return self._key("send", key)

    def answer(self, stands_at: str) -> str:
        """The key of the send that a message of ours confirmed."""
        return self._key("answer", quoted(stands_at))

    def outbox(self, account: tuple[str, str]) -> str:
        """The stream of waiting sends of an account."""
        return self._key("outbox", quoted(*account))

    def workers(self, kind: str) -> str:
        """Who shares the streams of this kind: a sorted set by last sign of life."""
        return self._key("workers", kind)

    def lease(self, kind: str, name: str) -> str:
        """Who may read a stream of this kind."""
        return self._key("lease", kind, name)

    def bell(self, kind: str, worker: str = "") -> str:
        """What a process waits at; without a name, the prefix of all."""
        return self._key("bell", kind, worker)

    def bucket(self, name: str) -> str:
        """A token bucket."""
        return self._key("bucket", name)

    def once(self, name: str) -> str:
        """A mark that something happened."""
        return self._key("once", name)

    def state(self, platform: str, account: str, name: str) -> str:
        """A value of an adapter."""
        return self._key("state", quoted(platform, account, name))

    def calls(self, account: tuple[str, str]) -> str:
        """The calls that wait for the process connected to an account."""
        return self._key("calls", quoted(*account))

    def call(self, call_id: str) -> str:
        """The body of one call."""
        return self._key("call", call_id)

    def reply(self, call_id: str) -> str:
        """The reply to one call."""
        return self._key("reply", call_id)
