"""Finds the installed platforms, Parley's own and those of plugins, and what the adapter of a
connected account can do.

A package provides a platform by an entry point of the group `parley.adapters` that names an
`AdapterManifest`. A package that cannot be loaded is reported and does not affect the others.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Self

from msgspec import Struct, field

from gateway.errors import ConfigurationError
from gateway.markdown.text_renderer import Renderer, plain_parts
from gateway.ports import (
    AccountSettings,
    AdapterContext,
    AdapterManifest,
    CanAnswerInline,
    CanCheckMembership,
    CanClearButtons,
    CanDescribeSpaces,
    CanFetchFiles,
    CanFetchPortraits,
    CanLinkMessages,
    CanMarkRead,
    CanNameRooms,
    CanOverhear,
    CanReact,
    CanReadThread,
    CanShowEnd,
    CanShowLive,
    CanTellReach,
    CanType,
    PlatformAdapter,
    SettingChoices,
)

GROUP: Final = "parley.adapters"
OWN_PACKAGE: Final = "parley-gateway"
PLATFORM_NAME: Final = re.compile(r"^[a-z][a-z0-9]{1,29}$")
"""The name of a platform."""
_LOAD: Final = re.compile(r"^[\w.]+:\w+$")
_RESERVED_KEYS: Final = ("accounts",)


class Discovery(Struct, frozen=True):
    """The platforms by name, and one sentence about each package that cannot be used."""

    manifests: Mapping[str, AdapterManifest] = field(default_factory=dict)
    """The manifests by the name of the platform."""
    problems: tuple[str, ...] = ()
    """A sentence for each package that cannot be used."""


def discover(installed: Iterable[EntryPoint] | None = None) -> Discovery:
    """Load the manifests of all installed adapters; `installed` replaces the installed packages.

    When several packages claim a platform, Parley's own adapter has it; without one no package has
    it.
    """
    claims: defaultdict[str, list[tuple[EntryPoint, AdapterManifest]]] = defaultdict(list)
    problems: list[str] = []
    for entry in sorted(
        set(entry_points(group=GROUP) if installed is None else installed), key=_order
    ):
        try:
            manifest = _checked(entry, entry.load())
        except ConfigurationError as error:
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            problems.append(f"{_name(entry)} could not be loaded: {reason}. The others still work.")
        else:
            claims[manifest.platform].append((entry, manifest))
    manifests = {}
    for platform, rivals in claims.items():
        winner, problem = _settle(platform, rivals)
        if winner is not None:
            manifests[platform] = winner
        if problem:
            problems.append(problem)
    return Discovery(manifests, tuple(problems))


@lru_cache(1)
def installed() -> Mapping[str, AdapterManifest]:
    """Return the manifests of the installed platforms. The first call takes half a second."""
    return discover().manifests


def adapter_class(
    manifest: AdapterManifest,
) -> Callable[[AccountSettings, AdapterContext], PlatformAdapter]:
    """Import the adapter, and with it its platform's library. Raises `ConfigurationError`."""
    adapter: Callable[[AccountSettings, AdapterContext], PlatformAdapter]
    adapter = _loaded("adapter", manifest, manifest.load)
    return adapter


def renderer_of(manifest: AdapterManifest) -> Renderer:
    """Import the platform's renderer; plain text where it has none. Raises `ConfigurationError`."""
    if not manifest.renderer:
        return plain_parts
    renderer: Renderer = _loaded("renderer", manifest, manifest.renderer)
    return renderer


async def choices_of(
    manifest: AdapterManifest, key: str, settings: AccountSettings
) -> SettingChoices:
    """Ask the platform for the possible values of a setting; empty for one it does not list.
    Raises `ConfigurationError`."""
    if key not in manifest.choices:
        return SettingChoices()
    listed: SettingChoices
    listed = await _loaded(f"list of {key}", manifest, manifest.choices[key])(settings)
    return listed


def _loaded(part: str, manifest: AdapterManifest, name: str) -> Any:
    """The object that `name`, "package.module:name", stands for."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        raise ConfigurationError(
            f"The {part} for {manifest.title} ({name}) could not be loaded: {reason}."
        ) from error


def _order(entry: EntryPoint) -> tuple[bool, str, str]:
    return (_package(entry) != OWN_PACKAGE, entry.name, entry.value)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _name(entry: EntryPoint) -> str:
    package = _package(entry)
    return f'The adapter plugin "{entry.name}"' + (f" of the package {package}" if package else "")


def _checked(entry: EntryPoint, value: object) -> AdapterManifest:
    """The manifest, if it is valid. Raises `ConfigurationError`."""

    def refuse(reason: str) -> ConfigurationError:
        return ConfigurationError(f"{_name(entry)} cannot be used: {reason}.")

    if not isinstance(value, AdapterManifest):
        raise refuse(f"{entry.value} is not an AdapterManifest")
    if not PLATFORM_NAME.match(value.platform):
        raise refuse("its platform name should be 2 to 30 lower-case letters and digits")
    if value.platform != entry.name:
        raise refuse(f'the entry point should be called "{value.platform}", like its platform')
    if not _LOAD.match(value.load):
        raise refuse('its load should read "package.module:Class"')
    if value.renderer and not _LOAD.match(value.renderer):
        raise refuse('its renderer should read "package.module:function"')
    if not issubclass(value.settings, AccountSettings):
        raise refuse("its settings should be a subclass of AccountSettings")
    reserved = [key for key in _RESERVED_KEYS if key in value.settings.model_fields]
    if reserved:
        raise refuse(f'its settings use the key "{reserved[0]}", which belongs to Parley')
    needed = [k for k, f in value.settings.model_fields.items() if f.is_required()]
    if needed:
        raise refuse(f'its settings need a default for "{needed[0]}"')
    return value


def _settle(
    platform: str, rivals: list[tuple[EntryPoint, AdapterManifest]]
) -> tuple[AdapterManifest | None, str]:
    if len(rivals) == 1:
        return rivals[0][1], ""
    packages = ", ".join(_package(entry) or entry.value for entry, _ in rivals)
    own = [manifest for entry, manifest in rivals if _package(entry) == OWN_PACKAGE]
    if len(own) == 1:
        rest = "Parley's own adapter is used."
        return own[0], f'Several packages offer the platform "{platform}" ({packages}). {rest}'
    rest = "None of them is used; uninstall all but one."
    return None, f'Several packages offer the platform "{platform}" ({packages}). {rest}'


class ConnectedAccount(Struct, frozen=True):
    """An account with the facts of its platform and the optional abilities of its adapter."""

    manifest: AdapterManifest
    """The facts of the platform."""
    adapter: PlatformAdapter
    renderer: Renderer = plain_parts
    """The renderer that the manifest names, or plain text."""
    typing: CanType | None = None
    """Shows that an answer is being written."""
    ends: CanShowEnd | None = None
    """Shows that nobody waits for a message any more."""
    read_marks: CanMarkRead | None = None
    """Marks messages as read."""
    files: CanFetchFiles | None = None
    """Fetches attachments."""
    live: CanShowLive | None = None
    """Shows an answer while it grows."""
    inline: CanAnswerInline | None = None
    """Answers inline queries."""
    members: CanCheckMembership | None = None
    """Tells who is a member of a channel."""
    reaches: CanTellReach | None = None
    """Tells which messages reach a person who did not write just now."""
    reactions: CanReact | None = None
    """Adds and removes reactions."""
    rooms: CanNameRooms | None = None
    """Tells the names of rooms."""
    spaces: CanDescribeSpaces | None = None
    """Tells the facts about workspaces."""
    portraits: CanFetchPortraits | None = None
    """Fetches the pictures of people."""
    threads: CanReadThread | None = None
    """Reads the earlier messages of a thread."""
    links: CanLinkMessages | None = None
    """Tells the addresses of messages."""
    overhears: CanOverhear | None = None
    """Tells if it gets messages that do not address the assistant."""
    clears_buttons: bool = False
    """True if the adapter removes the buttons of a sent message."""

    @classmethod
    def of(cls, manifest: AdapterManifest, adapter: PlatformAdapter) -> Self:
        """Record the abilities of the adapter once, because a Protocol check at each use is slow.
        Raises `ConfigurationError` if the platform's renderer cannot be imported."""
        return cls(
            manifest,
            adapter,
            renderer=renderer_of(manifest),
            typing=adapter if isinstance(adapter, CanType) else None,
            ends=adapter if isinstance(adapter, CanShowEnd) else None,
            read_marks=adapter if isinstance(adapter, CanMarkRead) else None,
            files=adapter if isinstance(adapter, CanFetchFiles) else None,
            live=adapter if isinstance(adapter, CanShowLive) else None,
            inline=adapter if isinstance(adapter, CanAnswerInline) else None,
            members=adapter if isinstance(adapter, CanCheckMembership) else None,
            reaches=adapter if isinstance(adapter, CanTellReach) else None,
            reactions=adapter if isinstance(adapter, CanReact) else None,
            rooms=adapter if isinstance(adapter, CanNameRooms) else None,
            spaces=adapter if isinstance(adapter, CanDescribeSpaces) else None,
            portraits=adapter if isinstance(adapter, CanFetchPortraits) else None,
            threads=adapter if isinstance(adapter, CanReadThread) else None,
            links=adapter if isinstance(adapter, CanLinkMessages) else None,
            overhears=adapter if isinstance(adapter, CanOverhear) else None,
            clears_buttons=isinstance(adapter, CanClearButtons),
        )
