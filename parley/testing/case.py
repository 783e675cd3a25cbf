"""Adapters and memories as their contract suites test them, with the few facts that a suite cannot
find out."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

from msgspec import Struct, field

from gateway.platforms import adapter_class
from gateway.ports import AccountSettings, AdapterManifest, CanCheckLiveness, PlatformAdapter
from simulators.base import PlatformSimulator, SimPerson

if TYPE_CHECKING:
    import pytest
from pathlib import Path

FEATURES: Final = ("rooms", "threads", "files_out", "native_commands", "further_ids")
"""Facts of a platform that the program does not ask for; `AdapterCase.features` names them."""
ACTIONS: Final = ("send", "typing", "read", "react", "unreact")
"""The actions whose requests `AdapterCase.methods` can name."""
Repetition = Literal["platform", "adapter", "person"]
"""The origin of the repetition of an event that could not be stored: the platform without an
acknowledgement; the adapter, if a platform has none; the person, who is notified."""


@runtime_checkable
class HostedPlatform(Protocol):
    """A platform that the adapter itself serves: people can come once it is connected."""

    async def host(self, adapter: PlatformAdapter) -> None:
        """Open what people use."""
        ...


class AdapterCase(Struct, frozen=True):
    """One adapter in one way of connecting.

    `name` stands in the names of the tests. `platform` makes the simulator for an account, "main"
    unless several are tested. `features` are of `FEATURES`. `settings` are
    keys of the section beside those of the simulator.
    """

    name: str
    manifest: AdapterManifest
    """The manifest of the adapter."""
    platform: Callable[[str], PlatformSimulator]
    features: frozenset[str] = frozenset()
    settings: Mapping[str, object] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    """The names of requests in the simulator's `calls` and `faults`, by action: "send", "typing",
    "read", "react", "unreact". Without "send", failures of the platform are not tested."""
    typed: Callable[[str], str] = str
    """The encoding of typed text in the platform's app."""
    mention: Callable[[SimPerson], str] | None = None
    """The form in which people write a mention of another person; None: there are no mentions."""
    broken: str | dict[str, object] | None = None
    """Markup that the platform refuses; None: it refuses none."""
    unknown_chat: str = ""
    """A well-formed id of a chat that does not exist; empty: no id is checked."""
    strange: Callable[[PlatformSimulator], Awaitable[None]] | None = None
    """Delivers an update of a kind that does not exist yet; None: there are no kinds."""
    another_bot: Callable[[PlatformSimulator], SimPerson] | None = None
    """A bot in the room "general"; None: there are no other bots."""
    repetition: Repetition = "platform"
    """The origin of the repetition of an event that could not be stored."""
    replies: bool = True
    """People can reply to a message."""
    repeatable: bool = True
    """The platform may deliver an event twice."""
    edits: bool = True
    """The adapter reports edited messages."""
    deletions: bool = True
    """The adapter reports deleted messages."""
    captions: bool = False
    """A forwarded file has a caption: the simulator's `forward` takes `files`."""
    accounts: bool = True
    """Several accounts can be connected at once."""
    whole_parts: bool = True
    """People see each sent part as one message."""
    holds_connection: bool = True
    """The adapter holds a connection that can stop to receive; false for webhooks."""
    unhurried: "Callable[[PlatformSimulator, pytest.MonkeyPatch], None] | None" = None
    """Prevents repeated deliveries on a slow machine, for platforms that repeat within seconds."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a feature or an action that does not exist: its tests would be
        skipped."""
        for field_name, given, known in (
            ("features", self.features, FEATURES),
            ("methods", frozenset(self.methods), ACTIONS),
        ):
            if unknown := sorted(frozenset(given) - set(known)):
                names = ", ".join(known)
                raise ValueError(f"{field_name} of {self.name}: {unknown[0]!r} is none of {names}")

    def settings_for(self, platform: PlatformSimulator, account: str) -> AccountSettings:
        """The section of the configuration that points at this platform."""
        return self.manifest.settings.model_validate({**platform.settings(), **self.settings})

    def has(self, protocol: type) -> bool:
        """True if the adapter's class has the methods of a protocol."""
        adapter = adapter_class(self.manifest)
        return isinstance(adapter, type) and issubclass(adapter, protocol)

    @property
    def can_become_unresponsive(self) -> bool:
        """True if its connection can stop to receive, and the adapter reports that."""
        return self.holds_connection and self.has(CanCheckLiveness)


PATIENCE: Final = 30.0
"""Seconds after which it counts as never happening. Nothing that works takes as long, on however
busy a machine; what does not work costs a failing test so much, and a green one nothing."""


class MemoryCase(Struct, frozen=True):
    """One configuration of memory.

    `name` stands in the names of the tests. `settings` returns the configuration for an empty
    folder, without `database` for a SQLite file in that folder. `backend` is the name of the memory
    backend in `memory.backend` that is tested; empty for Parley's own memory, for which the tests
    of the port are skipped.
    """

    name: str
    settings: Callable[[Path], Mapping[str, object]]
    backend: str = ""
