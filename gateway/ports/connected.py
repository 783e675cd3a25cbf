"""A connected account with the optional abilities of its adapter."""

from dataclasses import dataclass
from typing import Self

from gateway.ports import (
    AdapterManifest,
    CanAnswerInline,
    CanCheckMembership,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanShowLive,
    CanType,
    PlatformAdapter,
)


@dataclass(frozen=True, slots=True)
class Connected:
    """An account, what is known of its platform, and which optional abilities its adapter has."""

    manifest: AdapterManifest
    adapter: PlatformAdapter
    typing: CanType | None = None
    read_marks: CanMarkRead | None = None
    files: CanFetchFiles | None = None
    live: CanShowLive | None = None
    inline: CanAnswerInline | None = None
    members: CanCheckMembership | None = None
    reactions: CanReact | None = None

    @classmethod
    def of(cls, manifest: AdapterManifest, adapter: PlatformAdapter) -> Self:
        """Look once which abilities the adapter has; asking a Protocol each time is slow."""
        return cls(
            manifest,
            adapter,
            typing=adapter if isinstance(adapter, CanType) else None,
            read_marks=adapter if isinstance(adapter, CanMarkRead) else None,
            files=adapter if isinstance(adapter, CanFetchFiles) else None,
            live=adapter if isinstance(adapter, CanShowLive) else None,
            inline=adapter if isinstance(adapter, CanAnswerInline) else None,
            members=adapter if isinstance(adapter, CanCheckMembership) else None,
            reactions=adapter if isinstance(adapter, CanReact) else None,
        )
