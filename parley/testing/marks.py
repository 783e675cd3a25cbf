"""The tests of a contract suite, and their marks: the adapters that a test is for.

`proves(name)`: those with an ability, a capability or a feature; `lacks(name)`: those without;
`where(condition, reason)`: those whose case meets the condition. For others the test is skipped,
with the reason.
"""

from collections.abc import Mapping
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any, Final

import pytest

from gateway.ports import (
    CanAnswerInline,
    CanCheckMembership,
    CanClearButtons,
    CanDelete,
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
)
from parley.testing.case import FEATURES, AdapterCase

PROTOCOLS: Final[Mapping[str, type]] = {
    "deletes": CanDelete,
    "typing": CanType,
    "ends": CanShowEnd,
    "read_marks": CanMarkRead,
    "reactions": CanReact,
    "reads_threads": CanReadThread,
    "inline_queries": CanAnswerInline,
    "files_in": CanFetchFiles,
    "live": CanShowLive,
    "tells_members": CanCheckMembership,
    "links_messages": CanLinkMessages,
    "tells_reach": CanTellReach,
    "names_rooms": CanNameRooms,
    "overhears": CanOverhear,
    "describes_spaces": CanDescribeSpaces,
    "portraits": CanFetchPortraits,
    "clears_buttons": CanClearButtons,
}
"""Abilities: an adapter has those whose methods its class has."""

proves = pytest.mark.proves
lacks = pytest.mark.lacks
where = pytest.mark.where.with_args


def unfit(case: AdapterCase, mark: pytest.Mark) -> str:
    """The reason why a test with this mark is not for the adapter; empty if it is."""
    if mark.name == "where":
        condition, reason = mark.args
        return "" if condition(case) else f"{case.name}: {reason}"
    if mark.name == "proves":
        return "" if _has(case, mark.args[0]) else f"{case.name}: {_missing(mark.args[0])}"
    if mark.name == "lacks":
        return f"{case.name} has {mark.args[0]}" if _has(case, mark.args[0]) else ""
    return ""


def _has(case: AdapterCase, name: str) -> bool:
    if protocol := PROTOCOLS.get(name):
        return case.has(protocol)
    if name in FEATURES:
        return name in case.features
    return bool(getattr(case.manifest.capabilities, name))


def _missing(name: str) -> str:
    if protocol := PROTOCOLS.get(name):
        return f"its adapter has no method of {protocol.__name__}"
    if name in FEATURES:
        return f"its case does not name the feature {name!r}"
    return f"its manifest does not declare the capability {name!r}"


def suite_of(module: ModuleType) -> dict[str, Any]:
    """The tests of a module with its marks; asynchronous ones run also where pytest-asyncio is
    not in its automatic mode."""
    shared = getattr(module, "pytestmark", ())
    suite = {}
    for name, test in vars(module).items():
        if name.startswith("test_") and test.__module__ == module.__name__:
            for mark in (shared,) if isinstance(shared, pytest.MarkDecorator) else shared:
                mark(test)
            suite[name] = pytest.mark.asyncio(test) if iscoroutinefunction(test) else test
    return suite
