"""The end of `parley init`: what prevents a start, and the first owner."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from gateway.message import Place
from gateway.people import Audience
from gateway.platforms import discover
from gateway.ports.admissions import Applicant
from gateway.ports.clock import SystemClock
from parley.app import App
from parley.cli.init.command import may_start, welcome_owner
from parley.cli.init.files import Answers
from parley.cli.init.session import Given, InitSession
from parley.cli.init.terminal import Terminal
from parley.config import Settings, from_mapping
from parley.config.yaml_file import Value
from parley.python_environment import install_command
from parley.wiring.access import wire_access
from parley.wiring.storage import Storage

WEB: dict[str, Value] = {"platforms": {"web": {"enabled": True}}}
ADA = Applicant("default", "web:main:ada", "Ada", Place("web", "main", "ada", Audience.DIRECT))


@dataclass
class Running:
    """The parts of a running program that the end of `parley init` uses."""

    settings: Settings
    storage: Storage

    console_address = "http://127.0.0.1:1/console/"

    async def console_link(self) -> str:
        """A link that signs an owner in."""
        return "http://127.0.0.1:1/console/sign-in#secret"

    def page_addresses(self) -> list[str]:
        """The addresses of its pages."""
        return ["http://127.0.0.1:1/chat/"]

    def page_links(self) -> list[str]:
        """Links that admit a browser to its pages."""
        return ["http://127.0.0.1:1/log-in#secret"]


def session_with(folder: Path, values: dict[str, Value]) -> InitSession:
    return InitSession(Terminal(), folder / "parley.yaml", Given(), {}, discover(), Answers(values))


Said = Callable[[], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return lambda: " ".join(capsys.readouterr().out.split())


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    settings = from_mapping({**WEB, "database": {"url": "memory://"}})
    storage = Storage(settings, SystemClock())
    await storage.start()
    yield Running(settings, storage)
    await storage.stop()


def test_a_missing_library_prevents_the_start_and_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setattr("parley.python_environment.LIBRARIES", {"openai": ("no_such_library",)})
    memory: Value = {"embedding_provider": "openai", "embedding": {"api_key": "k"}}
    assert not may_start(session_with(tmp_path, {**WEB, "memory": memory}))
    text = said()
    assert "Before the start: " in text
    assert "memory.embedding_provider needs the library no_such_library" in text.replace(":", "")
    assert " ".join(install_command("openai").split()) in text


def test_without_a_platform_there_is_nothing_to_start(tmp_path: Path, said: Said) -> None:
    assert not may_start(session_with(tmp_path, {}))
    assert "No platform is set up, so there is nothing to start." in said()
    assert may_start(session_with(tmp_path, {**WEB}))


async def test_a_program_that_has_an_owner_shows_no_code(
    tmp_path: Path, running: Running, said: Said
) -> None:
    access = wire_access(running.settings, running.storage, SystemClock())
    code = await access.owner_codes.create()
    assert await access.claims.claim(ADA, code.code) is not None
    await welcome_owner(session_with(tmp_path, {**WEB}), cast("App", running))
    text = said()
    assert text.startswith("Owners: Ada (web:main:ada). Ctrl-C ends the program.")
    assert "OWNER-" not in text
    assert "The console shows" in text


async def test_output_that_others_may_read_has_no_link_that_signs_an_owner_in(
    tmp_path: Path, running: Running, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.pairing.admissions.OWNER_CODE_VALID", timedelta(0))
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    await welcome_owner(session_with(tmp_path, {**WEB}), cast("App", running))
    text = said()
    assert "sign-in#" not in text
    assert "log-in#" not in text
    assert "http://127.0.0.1:1/console/ `parley console link --operator" in text


async def test_a_code_that_nobody_uses_ends_with_the_command_for_a_new_one(
    tmp_path: Path, running: Running, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.pairing.admissions.OWNER_CODE_VALID", timedelta(0))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    await welcome_owner(session_with(tmp_path, {**WEB}), cast("App", running))
    text = said()
    assert "OWNER-" in text
    assert "- the web page: http://127.0.0.1:1/log-in#secret" in text
    assert "http://127.0.0.1:1/console/sign-in#secret" in text
    assert "Nobody used the code, and it has expired." in text
    assert "prints a new code" in text
