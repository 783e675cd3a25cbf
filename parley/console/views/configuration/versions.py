"""The versions of the overrides: what each changed, undo, restore, and a reset."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person, to_read
from gateway.stores.config_versions import ConfigVersion
from gateway.text import Text, text
from memory.actions.call import MAX_NUMBER, Digits
from parley.config import SettingsError
from parley.config.overrides import overrides_in, parsed
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.said import SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.configuration.changes import Number, checked, conflict, done
from parley.console.views.configuration.page import (
    PATH,
    TEMPLATE,
    ConfigurationOut,
    check_governs,
    shown_value,
)

PAGE: Final = 20
FILE: Final = text("as in the file")
MAX_SHOWN: Final = 500
"""Characters of a value in a comparison."""


class ConfigurationVersionsQuery(Input):
    """`after` is `next` of the page before."""

    after: Annotated[int, Field(ge=0, le=MAX_NUMBER), Digits] = 0


class UndoForm(Input):
    """`based_on` is the version that the page showed."""

    based_on: Number


class RestoreForm(UndoForm):
    """The version to restore; 0 removes all overrides."""

    version: Number


class ChangeOut(Output):
    """A changed override, before and after."""

    key: str
    before: SaidOrStr
    after: SaidOrStr


class ConfigVersionOut(Output):
    """A version. `undone_to` is the version to which an undo went back, None for another change."""

    number: int
    author: str
    author_name: str = ""
    at: datetime
    undone_to: int | None
    changes: tuple[ChangeOut, ...]


class ConfigVersionsOut(Output):
    """A page of versions, the newest first. `next` is 0 at the end."""

    newest: int
    may_change: bool
    versions: tuple[ConfigVersionOut, ...] = Field(max_length=PAGE)
    next: int


async def versions(
    viewer: Viewer, services: ConsoleServices, params: ConfigurationVersionsQuery
) -> ConfigVersionsOut:
    """Return a page of versions."""
    await check_governs(viewer, services)
    live = services.configuration
    await live.refresh()
    kept = await live.versions.listed(PAGE + 1, params.after)
    names = await names_of(viewer, services, (one.author for one in kept[:PAGE]))
    page = await asyncio.to_thread(lambda: tuple(_compared(kept, names)))
    return ConfigVersionsOut(
        newest=live.number,
        may_change=viewer.is_owner,
        versions=page[:PAGE],
        next=kept[PAGE - 1].number if len(kept) > PAGE else 0,
    )


async def undo(viewer: Viewer, services: ConsoleServices, params: UndoForm) -> ConfigurationOut:
    """Undo the last change; a further undo goes one step further back."""
    await check_governs(viewer, services, Role.OWNER)
    live = services.configuration
    await live.refresh()
    if params.based_on != live.number:
        raise await conflict(viewer, services)
    await checked(viewer, services, await live.undone())
    return await done(viewer, services, await live.undo(viewer.person, params.based_on))


async def restore(
    viewer: Viewer, services: ConsoleServices, params: RestoreForm
) -> ConfigurationOut:
    """Restore an earlier version as a new one."""
    await check_governs(viewer, services, Role.OWNER)
    live = services.configuration
    await live.refresh()
    if params.based_on != live.number:
        raise await conflict(viewer, services)
    await checked(viewer, services, await live.restored(params.version))
    made = await live.restore(viewer.person, params.based_on, params.version)
    return await done(viewer, services, made)


def _compared(kept: list[ConfigVersion], names: Mapping[str, str]) -> Iterator[ConfigVersionOut]:
    for place, version in enumerate(kept[:PAGE]):
        before = _texts(kept[place + 1]) if place + 1 < len(kept) else {}
        after = _texts(version)
        keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        yield ConfigVersionOut(
            number=version.number,
            author=version.author,
            author_name=names.get(version.author, ""),
            at=version.at,
            undone_to=None if version.origin == version.number else version.origin,
            changes=tuple(
                ChangeOut(
                    key=key,
                    before=before.get(key, FILE),
                    after=after.get(key, FILE),
                )
                for key in sorted(keys)
            ),
        )


def _texts(version: ConfigVersion) -> Mapping[str, Text | str]:
    try:
        overrides = overrides_in(parsed(version.overrides))
    except SettingsError:
        return {}
    return {one.key: shown_value(one, MAX_SHOWN) for one in overrides}


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="configuration_versions",
        method="GET",
        path=f"{PATH}/versions",
        allowed=to_read(Role.OPERATOR),
        summary="The versions of the overrides, with what each changed",
        run=versions,
        template="configuration/versions.html",
    ),
    ConsoleRoute(
        name="undo_configuration",
        method="POST",
        path=f"{PATH}/undo",
        allowed=in_person(Role.OWNER),
        summary="Undo the last change of the configuration",
        run=undo,
        template=TEMPLATE,
        example={"based_on": "0"},
    ),
    ConsoleRoute(
        name="restore_configuration",
        method="POST",
        path=f"{PATH}/restore",
        allowed=in_person(Role.OWNER),
        summary="Restore an earlier version of the overrides, or remove all of them",
        run=restore,
        template=TEMPLATE,
        example={"based_on": "0", "version": "0"},
    ),
)
