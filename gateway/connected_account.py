"""A connected account with the optional abilities of its adapter."""

from typing import Self

from msgspec import Struct

from gateway.markdown.text_renderer import Renderer, plain_parts
from gateway.platforms import renderer_of
from gateway.ports import (
    AdapterManifest,
    CanAnswerInline,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanReadThread,
    CanShowLive,
    CanType,
    PlatformAdapter,
)


class ConnectedAccount(Struct, frozen=True):
    """An account with the facts of its platform and the optional abilities of its adapter."""

    manifest: AdapterManifest
    adapter: PlatformAdapter
    renderer: Renderer = plain_parts
    typing: CanType | None = None
    read_marks: CanMarkRead | None = None
    files: CanFetchFiles | None = None
    live: CanShowLive | None = None
    inline: CanAnswerInline | None = None
    members: CanCheckMembership | None = None
    reactions: CanReact | None = None
    threads: CanReadThread | None = None
    clears_buttons: bool = False

    @classmethod
    def of(cls, manifest: AdapterManifest, adapter: PlatformAdapter) -> Self:
        """Record the abilities of the adapter once, because a Protocol check at each use is slow.
        Raises `ConfigurationError` if the platform's renderer cannot be imported."""
        return cls(
            manifest,
            adapter,
            renderer=renderer_of(manifest),
            typing=adapter if isinstance(adapter, CanType) else None,
            read_marks=adapter if isinstance(adapter, CanMarkRead) else None,
            files=adapter if isinstance(adapter, CanFetchFiles) else None,
            live=adapter if isinstance(adapter, CanShowLive) else None,
            inline=adapter if isinstance(adapter, CanAnswerInline) else None,
            members=adapter if isinstance(adapter, CanCheckMembership) else None,
            reactions=adapter if isinstance(adapter, CanReact) else None,
            threads=adapter if isinstance(adapter, CanReadThread) else None,
            clears_buttons=isinstance(adapter, CanClearButtons),
        )
