"""A memory backend in the memory of the process: the shortest one that keeps the contract."""

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from gateway.immutable import replace
from gateway.ports.memory_backend import BackendAccess, FoundStatement, Statement

SHELVES: dict[str, dict[tuple[str, str], Statement]] = {}
"""The statements by the option `shelf`, so that they outlive a backend."""


class DictBackend:
    """Implements `gateway.ports.memory_backend.MemoryBackend`."""

    def __init__(self, shelf: str = "") -> None:
        self.kept = SHELVES.setdefault(shelf, {}) if shelf else {}

    async def remember(self, access: BackendAccess, statement: Statement) -> None:
        key = statement.tenant, statement.id
        old = self.kept.get(key)
        if old is not None and not access.may_change(old):
            raise PermissionError(statement.id)
        self.kept[key] = statement

    async def list_statements(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> Sequence[Statement]:
        seen = [one for one in self.kept.values() if access.sees(one)]
        seen.sort(key=lambda one: one.order, reverse=True)
        return [one for one in seen if after is None or one.order < after.order][:limit]

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> Sequence[str]:
        keys = [(access.tenant, id_) for id_ in ids]
        gone = [key for key in keys if key in self.kept and access.may_change(self.kept[key])]
        for key in gone:
            del self.kept[key]
        return [id_ for _, id_ in gone]

    async def forget_messages(
        self, tenant: str, channel: str, message_ids: Sequence[str]
    ) -> Sequence[Statement]:
        gone = [
            one
            for one in self.kept.values()
            if (one.tenant, one.channel, one.confirmed) == (tenant, channel, False)
            and set(one.messages) & set(message_ids)
        ]
        for one in gone:
            del self.kept[one.tenant, one.id]
        return gone

    async def export(self, tenant: str, persons: Sequence[str]) -> Sequence[Mapping[str, object]]:
        return [
            {**asdict(one), "at": str(one.at), "expires_at": str(one.expires_at)}
            for one in self._of(tenant, persons)
        ]

    async def erase(self, tenant: str, persons: Sequence[str]) -> int:
        theirs = self._of(tenant, persons)
        for one in theirs:
            key = one.tenant, one.id
            if one.scope == "user":
                del self.kept[key]
            else:
                nameless = replace(one, person="", room="", channel="", messages=(), details={})
                self.kept[key] = nameless
        return len(theirs)

    async def health(self) -> str:
        return f"{len(self.kept)} statements"

    def _of(self, tenant: str, persons: Sequence[str]) -> list[Statement]:
        kept = self.kept.values()
        return [one for one in kept if one.tenant == tenant and one.person in persons]


class SearchingBackend(DictBackend):
    """One that searches, and writes the brief, by itself."""

    async def recall(
        self, access: BackendAccess, question: str, limit: int
    ) -> Sequence[FoundStatement]:
        words = set(question.casefold().strip("?").split())
        results = []
        for one in self.kept.values():
            shared = words & set(one.text.casefold().strip(".").split())
            if shared and access.sees(one) and not one.replaced_by:
                results.append(FoundStatement(one, len(shared) / len(words)))
        return sorted(results, key=lambda one: -one.score)[:limit]

    async def brief(self, access: BackendAccess, characters: int) -> str:
        texts = [one.text for one in await self.list_statements(access, None, 50)]
        return "\n".join(f"- {text}" for text in texts)[:characters]


def dict_backend(options: Mapping[str, str]) -> DictBackend:
    """A factory, as an entry point names one."""
    return DictBackend(options.get("shelf", ""))


def searching_backend(options: Mapping[str, str]) -> SearchingBackend:
    """A factory, as an entry point names one."""
    return SearchingBackend(options.get("shelf", ""))
