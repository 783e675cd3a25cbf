"""The configuration of a running program: the file and the environment, with the stored overrides
over them.

Each process reads the newest version every few seconds. A change replaces the policies as one
value, so that all decisions of a turn see the same ones.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from gateway.errors import UsageError
from gateway.platforms import discover
from gateway.ports.clock import Clock, SystemClock
from gateway.stores.config_versions import ConfigVersion, ConfigVersions
from gateway.text import NO_TEXT, Text, counted, verbatim
from gateway.turn.services import CurrentPolicies
from parley.config import Settings, SettingsError
from parley.config.load import Origins
from parley.config.overrides import (
    Overlaid,
    Override,
    changed,
    overlaid,
    overrides_in,
    parsed,
    written,
)
from parley.wiring.policies import policies_of, unpriced_models
from parley.wiring.storage import Storage

COMMAND_LINE: Final = "command line"
"""The author of a change from the command line."""
NO_VERSION: Final = "There is no version {number} any more."
NO_CHANGE: Final = "There is no change to undo."

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class LiveConfiguration:
    """`base` is the configuration of file and environment with the `origins` of its values. The
    state is that of `version`, None while nothing was ever changed here."""

    base: Settings
    policies: CurrentPolicies
    versions: ConfigVersions
    clock: Clock
    origins: Origins = field(default_factory=dict)
    version: ConfigVersion | None = None
    state: Overlaid = field(init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.state = Overlaid(self.base)

    @property
    def settings(self) -> Settings:
        """The configuration in force."""
        return self.state.settings

    @property
    def number(self) -> int:
        """The number of the version in force, 0 for none."""
        return 0 if self.version is None else self.version.number

    @property
    def overrides(self) -> tuple[Override, ...]:
        """All stored overrides, also the ignored ones."""
        return _stored(self.version)

    @property
    def problem(self) -> str:
        """A sentence about ignored overrides in English, empty for none."""
        return str(self.said)

    @property
    def said(self) -> Text:
        """A sentence about ignored overrides, empty for none."""
        return ignored_text(self.state)

    async def refresh(self) -> None:
        """Apply the newest version, if it is another one. Raises `StoreUnavailable`."""
        async with self._reading:
            newest = await self.versions.newest(self.number)
            if newest is not None:
                await self._apply(newest)

    async def change(
        self,
        by: str,
        based_on: int,
        changes: Sequence[Override],
        removed: Sequence[tuple[str, ...]] = (),
    ) -> ConfigVersion | None:
        """Store and apply a change by a person; None if `based_on` is not the newest version any
        more. Raises `SettingsError` for a change that cannot be used, and `StoreUnavailable`."""
        await self.refresh()
        if based_on != self.number:
            return None
        new = await self.changed(changes, removed)
        keys = (*(one.key for one in changes), *(".".join(path) for path in removed))
        return await self._store(by, based_on, keys, written(new))

    async def changed(
        self, changes: Sequence[Override], removed: Sequence[tuple[str, ...]] = ()
    ) -> tuple[Override, ...]:
        """Return the overrides after a change. Raises `SettingsError`."""
        manifests = discover().manifests
        stored = self.overrides
        return await asyncio.to_thread(
            lambda: changed(self.base, stored, changes, removed, manifests, unpriced_models)
        )

    async def with_overrides(self, overrides: Sequence[Override]) -> Overlaid:
        """Return the configuration with these overrides, without applying it."""
        return await asyncio.to_thread(overlaid, self.base, overrides, discover().manifests)

    async def target(self, number: int) -> ConfigVersion | None:
        """Return a version to restore, None for the state without overrides. Raises `BadInput`."""
        found = await self.versions.find(number) if number else None
        if number and found is None:
            raise UsageError(NO_VERSION.format(number=number))
        return found

    async def undo(self, by: str, based_on: int) -> ConfigVersion | None:
        """Restore the version before the newest change; a further undo goes one step further back.
        As `restore`."""
        before = await self._before()
        return await self._restore(by, based_on, before, 0 if before is None else before.origin)

    async def undone(self) -> Overlaid:
        """Return the configuration after an undo, without applying it. Raises as `undo`."""
        return await self.with_overrides(_stored(await self._before()))

    async def restored(self, number: int) -> Overlaid:
        """Return the configuration of a version, without applying it. Raises as `restore`."""
        return await self.with_overrides(_stored(await self.target(number)))

    async def _before(self) -> ConfigVersion | None:
        await self.refresh()
        if self.version is None or self.version.origin == 0:
            raise UsageError(NO_CHANGE)
        return await self.target(self.version.origin - 1)

    async def restore(self, by: str, based_on: int, number: int) -> ConfigVersion | None:
        """Store and apply an earlier version as a new one, also if not all of it can be used; 0
        removes all overrides. None if `based_on` is not the newest version any more. Raises
        `BadInput` for an unknown version, and `StoreUnavailable`."""
        await self.refresh()
        return await self._restore(by, based_on, await self.target(number))

    async def _restore(
        self, by: str, based_on: int, found: ConfigVersion | None, origin: int | None = None
    ) -> ConfigVersion | None:
        if based_on != self.number:
            return None
        overrides = _stored(found)
        before = {one.key: one.value for one in self.overrides}
        after = {one.key: one.value for one in overrides}
        keys = [key for key in {**before, **after} if before.get(key, ...) != after.get(key, ...)]
        return await self._store(by, based_on, keys, written(overrides), origin)

    async def _store(
        self, by: str, based_on: int, keys: Sequence[str], text: str, origin: int | None = None
    ) -> ConfigVersion | None:
        number = based_on + 1
        made = ConfigVersion(
            number, number if origin is None else origin, by, self.clock.now(), tuple(keys), text
        )
        if not await self.versions.add(made):
            await self.refresh()
            return None
        async with self._reading:
            if number > self.number:
                await self._apply(made)
        return made

    async def _apply(self, version: ConfigVersion) -> None:
        try:
            self.state = await self.with_overrides(overrides_in(parsed(version.overrides)))
        except SettingsError as error:
            self.state = Overlaid(self.base, (), error.problems)
        self.version = version
        self.policies.value = policies_of(self.state.settings)
        log.info("overrides_applied", version=version.number, keys=len(self.state.in_force))
        for one in self.state.ignored:
            log.warning("override_ignored", key=one.path, problem=one.text, advice=one.advice)


async def stored_configuration(settings: Settings, storage: Storage) -> LiveConfiguration:
    """Return the configuration with the overrides in opened stores, for a command. Raises
    `StoreUnavailable`."""
    live = LiveConfiguration(settings, CurrentPolicies(), storage.config_versions, SystemClock())
    await live.refresh()
    return live


def ignored_text(state: Overlaid) -> Text:
    """Return a sentence about ignored overrides, empty for none."""
    if not state.ignored:
        return NO_TEXT
    named = ", ".join(one.path for one in state.ignored[:5] if one.path)
    if not named:
        return counted(
            "{count} override is ignored, because the value cannot be used",
            "{count} overrides are ignored, because the values cannot be used",
            count=len(state.ignored),
        )
    return counted(
        "{count} override is ignored, because the value cannot be used: {keys}",
        "{count} overrides are ignored, because the values cannot be used: {keys}",
        count=len(state.ignored),
        keys=verbatim(named),
    )


def _stored(version: ConfigVersion | None) -> tuple[Override, ...]:
    if version is None:
        return ()
    try:
        return overrides_in(parsed(version.overrides))
    except SettingsError:
        return ()
