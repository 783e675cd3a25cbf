"""Which of several forms of a test run for each change; the other forms run at night.

The code below an engine or a platform has suites of its own that cover each of them (`stores`,
`contract`, `adapters`), so that one behaviour above it is not tried on all of them by day. The
choice depends on the name of the test only: a test has the same forms in every run, and all tests
together have every form.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from zlib import crc32

import pytest

ENGINES: Final = ("sqlite", "postgres")
BY_DAY: Final = (*("sqlite",) * 3, "postgres")
"""How often a test above the stores runs on each engine: a database of PostgreSQL takes longer."""
ABOVE_THE_STORES: Final = (
    *("tests/memory/agents/", "tests/memory/documents/", "tests/memory/commands/"),
    *("tests/memory/embeddings/", "tests/memory/knowledge/ingest/", "tests/memory/transfer/"),
    *("tests/memory/turns/", "tests/memory/write/", "tests/parley/console/"),
)
"""Folders whose tests reach a database through stores that are tested on either engine. A test in
which the database decides between writers at once keeps both (`pytest.mark.both_engines`)."""
PLATFORMS: Final = "tests/e2e/"
"""The folder whose tests run on several platforms, or ways of connecting to them."""
Form = TypeVar("Form")


def two_of(forms: Sequence[Form], name: str) -> tuple[Form, ...]:
    """Two forms that are as far apart in the order as possible; all where there are fewer."""
    first = crc32(name.encode()) % len(forms)
    second = (first + len(forms) // 2) % len(forms)
    return (forms[first],) if first == second else (forms[first], forms[second])


def one_of(forms: Sequence[Form], name: str) -> Form:
    """One form."""
    return forms[crc32(name.encode()) % len(forms)]


def leave_forms_to_the_night(items: Sequence[pytest.Item]) -> None:
    """Mark as `nightly` all but two platforms, and all but one engine, of each test that has
    more."""
    for name, forms in _forms(items, _platform).items():
        _leave(forms, two_of(list(forms), name))
    for name, forms in _forms(items, _engine).items():
        chosen = one_of(BY_DAY, name)
        _leave(forms, (chosen if chosen in forms else next(iter(forms)),))


def _forms(
    items: Sequence[pytest.Item], form_of: Callable[[pytest.Function], str | None]
) -> Mapping[str, Mapping[str, Sequence[pytest.Item]]]:
    """The items of each test by their form, in the order of the forms."""
    tests: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            form = form_of(item)
            if form is not None:
                name = item.nodeid.partition("[")[0]
                tests.setdefault(name, {}).setdefault(form, []).append(item)
    return tests


def _leave(forms: Mapping[str, Sequence[pytest.Item]], kept: Sequence[str]) -> None:
    for form in forms.keys() - set(kept):
        for item in forms[form]:
            item.add_marker(pytest.mark.nightly)


def _platform(item: pytest.Function) -> str | None:
    variant = item.callspec.params.get("variant")
    return str(variant) if variant is not None and item.nodeid.startswith(PLATFORMS) else None


def _engine(item: pytest.Function) -> str | None:
    if not item.nodeid.startswith(ABOVE_THE_STORES) or "/stores/" in item.nodeid:
        return None
    if item.get_closest_marker("both_engines") or "second_engine" in item.fixturenames:
        return None
    return next((one for one in item.callspec.params.values() if one in ENGINES), None)
