"""Memory backends are chosen by setting, and one that cannot work stops the start."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.ports.clock import SystemClock
from memory.backends.guard import GuardedBackend
from parley.config import SettingsError, from_mapping
from parley.testing import MemoryCase, opened_memory
from parley.wiring.memory_backends import GROUP, describe, load_backends
from tests.support.memory_backends import DictBackend, SearchingBackend

HERE = "tests.parley.wiring.test_memory_backends"
DICT = EntryPoint("notes", "tests.support.memory_backends:dict_backend", GROUP)
SEARCHING = EntryPoint("vault", "tests.support.memory_backends:searching_backend", GROUP)
ALSO_SEARCHING = EntryPoint("other", "tests.support.memory_backends:searching_backend", GROUP)


class Unerasable(DictBackend):
    """A backend of an author who forgot the erasure."""

    erase = None  # type: ignore[assignment]  # it has none


class Blocking(DictBackend):
    """A backend whose method is not awaited."""

    def health(self) -> str:  # type: ignore[override]  # what an author may do wrong
        return "fine"


class Old(DictBackend):
    """A backend of an earlier port."""

    async def forget(self, ids: object) -> list[str]:  # type: ignore[override]  # likewise
        return []


class Down(DictBackend):
    """A backend whose service does not answer."""

    async def start(self) -> None:
        raise OSError("no route to the notes server")


def unerasable(options: Mapping[str, str]) -> DictBackend:
    return Unerasable()


def blocking(options: Mapping[str, str]) -> DictBackend:
    return Blocking()


def old(options: Mapping[str, str]) -> DictBackend:
    return Old()


def down(options: Mapping[str, str]) -> DictBackend:
    return Down()


def failing(options: Mapping[str, str]) -> DictBackend:
    raise ValueError(f"cannot use the key {options['key']}")


NOT_CALLABLE = "a text"


def loaded(memory: Mapping[str, object], *installed: EntryPoint) -> tuple[GuardedBackend, ...]:
    return load_backends(from_mapping({"memory": memory}), SystemClock(), installed=installed)


def refusal(memory: Mapping[str, object], *installed: EntryPoint) -> str:
    with pytest.raises(SettingsError) as raised:
        loaded(memory, *installed)
    return str(raised.value)


def refusal_of(factory: str, **more: object) -> str:
    entry = EntryPoint("notes", f"{HERE}:{factory}", GROUP)
    return refusal({"backend": "notes", **more}, entry)


def test_an_installed_backend_that_is_not_chosen_is_not_imported() -> None:
    broken = EntryPoint("notes", "no_such_module:backend", GROUP)
    assert loaded({}, broken) == ()
    assert loaded({"backend": "builtin"}, broken) == ()


def test_nothing_is_loaded_while_memory_is_off() -> None:
    assert loaded({"enabled": False, "backend": "notes"}) == ()


def test_the_chosen_backends_are_loaded_in_their_order() -> None:
    several = loaded({"backend": ["vault", "notes"]}, DICT, SEARCHING)
    assert [one.name for one in several] == ["vault", "notes"]
    assert describe(("vault", "notes"), several) == "vault (own search, own brief), notes"


def test_a_backend_is_loaded_by_setting() -> None:
    load = {"mine": "tests.support.memory_backends:dict_backend"}
    (one,) = loaded({"backend": "mine", "backend_load": load})
    assert one.name == "mine"


def test_options_reach_the_backend() -> None:
    section = {"backend": "notes", "backend_options": {"notes": {"shelf": "an-option"}}}
    (one,) = loaded(section, DICT)
    assert isinstance(one.backend, DictBackend)
    assert one.backend.kept is DictBackend("an-option").kept


def test_a_missing_backend_names_the_setting_and_a_close_name() -> None:
    text = refusal({"backend": "note"}, DICT)
    assert "memory.backend: names note, and no installed package has a memory backend" in text
    assert "notes" in text


def test_two_backends_with_a_brief_are_refused_by_name() -> None:
    text = refusal({"backend": ["vault", "other"]}, SEARCHING, ALSO_SEARCHING)
    assert "memory.backend: names several backends that write the brief: vault, other." in text


def test_parleys_own_memory_writes_a_brief_too() -> None:
    text = refusal({"backend": ["builtin", "vault"]}, SEARCHING)
    assert "memory.backend: names several backends that write the brief: builtin, vault." in text
    assert [one.name for one in loaded({"backend": ["builtin", "notes"]}, DICT)] == ["notes"]


def test_two_packages_with_one_name_are_refused() -> None:
    twin = EntryPoint("notes", "tests.support.memory_backends:searching_backend", GROUP)
    text = refusal({"backend": "notes"}, DICT, twin)
    assert "several packages claim this name" in text
    assert DICT.value in text
    assert twin.value in text


def test_a_backend_that_cannot_erase_is_refused() -> None:
    text = refusal_of("unerasable")
    assert "has no erase(), without which a person's data cannot be exported and erased" in text


@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("blocking", "has a health() that is not async"),
        ("old", "has a forget() that does not take 2 arguments"),
        ("NOT_CALLABLE", "is not a function that returns a MemoryBackend"),
        ("no_such_function", "could not be loaded: AttributeError"),
    ],
)
def test_an_unusable_backend_is_refused_with_the_reason(factory: str, reason: str) -> None:
    assert reason in refusal_of(factory)


def test_an_error_of_a_backend_shows_no_option() -> None:
    options = {"notes": {"key": "correct-horse"}}
    text = refusal_of("failing", backend_options=options)
    assert "cannot use the key (not shown)" in text
    assert "correct-horse" not in text


def test_options_of_an_unknown_backend_are_refused() -> None:
    text = refusal({"backend_options": {"note": {"a": "b"}}}, DICT)
    assert "memory.backend_options: names the backend note" in text


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"backend": ["notes", "notes"]}, "names a backend twice"),
        ({"backend": []}, "memory.backend"),
        ({"backend_load": {"builtin": "a:b"}}, "is the name of Parley's own memory"),
    ],
)
def test_a_contradictory_setting_is_refused(section: Mapping[str, object], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        from_mapping({"memory": section})


async def test_a_backend_that_does_not_start_stops_the_program(tmp_path: Path) -> None:
    section = {"backend": "notes", "backend_load": {"notes": f"{HERE}:down"}}
    case = MemoryCase("down", lambda folder: {"memory": section}, "notes")
    with pytest.raises(ConfigurationError, match="no route to the notes server") as raised:
        async with opened_memory(case, tmp_path):
            raise AssertionError("it started")
    assert "memory.backend" in str(raised.value)


def test_the_abilities_follow_from_the_methods() -> None:
    plain, searching = loaded({"backend": ["notes", "vault"]}, DICT, SEARCHING)
    assert not isinstance(plain.backend, SearchingBackend)
    assert (plain.recalls, plain.briefs) == (False, False)
    assert (searching.recalls, searching.briefs) == (True, True)
