"""The names of all keys in Redis, and the partition of a conversation."""

import zlib

from gateway.stores.redis.client import RedisClient, quoted

PARTITIONS = 64
"""Streams over which the conversations are spread: the maximum number of workers. Must not change
while events wait, because their conversations would change streams."""
GROUP = "parley"
"""The consumer group of every stream. It has one consumer: the lease decides who reads."""
WAKE = """
local function wake(wakeup)
  if redis.call('LLEN', wakeup) == 0 then redis.call('RPUSH', wakeup, 'news') end
  redis.call('PEXPIRE', wakeup, 60000)
end
"""
"""Lua: notify a process that blocks on a list; one entry is enough."""


def partition_of(conversation: str) -> int:
    """Return the partition of a conversation; the same in every process."""
    return zlib.crc32(conversation.encode()) % PARTITIONS


class Keys:
    """The key names of one installation."""

    def __init__(self, client: RedisClient) -> None:
        self._key = client.key
        self.inbox_prefix = client.key("inbox", "")
        self.sequence = client.key("outbox-sequence")
        self.accounts = client.key("outbox-accounts")
        self.dead = client.key("outbox-dead")
        self.epoch = client.key("epoch")

    def event(self, event_id: str) -> str:
        return self._key("event", event_id)

    def inbox(self, partition: int) -> str:
        return f"{self.inbox_prefix}{partition}"

    def send(self, key: str) -> str:
        return self._key("send", key)

    def answer(self, message_key: str) -> str:
        return self._key("answer", quoted(message_key))

    def outbox(self, account: tuple[str, str]) -> str:
        return self._key("outbox", quoted(*account))

    def workers(self, kind: str) -> str:
        """A sorted set of the processes that share the streams of this kind, by last sign of
        life."""
        return self._key("workers", kind)

    def lease(self, kind: str, name: str) -> str:
        return self._key("lease", kind, name)

    def wakeup(self, kind: str, worker: str = "") -> str:
        """The list on which a process blocks; without a name, the prefix of all."""
        return self._key("wakeup", kind, worker)

    @property
    def processes(self) -> list[str]:
        """The reports of the processes, and their times: the latest report, the first one without
        a gap, and the regular end."""
        return [self._key("processes", part) for part in ("reports", "latest", "first", "ended")]

    def bucket(self, name: str) -> str:
        return self._key("bucket", name)

    def used_buckets(self, level: str) -> str:
        """A sorted set of the buckets of a level that were used lately, by time."""
        return self._key("used-buckets", level)

    def claimed(self, name: str) -> str:
        return self._key("claimed", name)

    def state(self, platform: str, account: str, name: str) -> str:
        return self._key("state", quoted(platform, account, name))

    def calls(self, account: tuple[str, str]) -> str:
        return self._key("calls", quoted(*account))

    def call(self, call_id: str) -> str:
        return self._key("call", call_id)

    def reply(self, call_id: str) -> str:
        return self._key("reply", call_id)
