"""The lines that a person types in `parley init`, from the first question to the start."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from parley.cli.init import command
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import Terminal
from parley.config import load
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.openai.server import OpenAISimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from simulators.whatsapp.errors import GraphError, bad_token

MOST = 10
"""Lines, Enter included."""
PLATFORMS = {
    "web": None,
    "telegram": TelegramSimulator,
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
    "whatsapp": WhatsAppSimulator,
}
PROVIDERS = {
    "anthropic": "sk-ant-0123456789abcdef",
    "openai": "sk-0123456789abcdef",
    "openrouter": "sk-or-0123456789abcdef",
    "ollama": "",
    "vllm": "",
    "other": "a-key-of-their-own",
    "offline": "",
}
"""By provider the key of its server."""
QUESTIONS = {
    "  Bot token": "bot_token",
    "  App token": "app_token",
    "  Access token": "access_token",
    "  App secret": "app_secret",
    "  Phone number": "phone_number_id",
}


class Typist(Terminal):
    """Answers each question, and counts the lines."""

    lines: list[str]
    answers: dict[str, str]

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        typed = next((a for q, a in self.answers.items() if question.startswith(q)), "")
        self.lines.append(question.strip())
        assert len(self.lines) < 2 * MOST, self.lines
        return typed or default

    @classmethod
    @contextmanager
    def typing(cls, monkeypatch: pytest.MonkeyPatch, answers: dict[str, str]) -> Iterator[None]:
        """Type these answers on a terminal in which nothing is started."""
        cls.lines, cls.answers = [], answers
        controller, follower = os.openpty()
        with os.fdopen(follower) as keyboard:
            monkeypatch.setattr("sys.stdin", keyboard)
            monkeypatch.setattr(command, "Terminal", cls)
            monkeypatch.setattr(command, "start", started)
            yield
        os.close(controller)


def started(session: InitSession) -> int:
    """The start, which does not happen here."""
    return 0


@asynccontextmanager
async def services(
    platform: str, provider: str
) -> AsyncIterator[tuple[PlatformSimulator | None, str]]:
    """The platform, and the address of the model's server."""
    made = PLATFORMS[platform]
    simulator = made() if made is not None else None
    key = PROVIDERS[provider]
    server = (
        AnthropicSimulator(api_key=key)
        if provider == "anthropic"
        else OpenAISimulator(api_key=key, models=("one", "two"))
    )
    await server.start()
    if simulator is not None:
        await simulator.start()
    try:
        yield simulator, server.base_url
    finally:
        await server.stop()
        if simulator is not None:
            await simulator.stop()


def settings_of(simulator: PlatformSimulator | None) -> tuple[dict[str, str], list[str]]:
    """The answers to the questions about a platform, and the address of its simulator."""
    if simulator is None:
        return {}, []
    values = simulator.settings()
    keys = {**QUESTIONS, "  Bot token": "token" if "token" in values else "bot_token"}
    answers = {question: str(values[key]) for question, key in keys.items() if key in values}
    addresses = ("base_url", "api_base", "gateway_url")
    assign = [
        f"platforms.{simulator.platform}.{key}={values[key]}" for key in addresses if key in values
    ]
    return answers, assign


async def typed(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    simulator: PlatformSimulator | None,
    chosen: dict[str, str],
    base_url: str = "",
) -> list[str]:
    """Answer everything; return the questions."""
    answers, assign = settings_of(simulator)
    with Typist.typing(monkeypatch, {**chosen, **answers}):
        status = await asyncio.to_thread(
            command.init, folder / "parley.yaml", assign=assign, base_url=base_url
        )
    assert status == 0
    return Typist.lines


def pairs() -> Iterator[ParameterSet]:
    """Every platform with every model: by day each of both with a third of the others."""
    for row, platform in enumerate(PLATFORMS):
        for column, provider in enumerate(PROVIDERS):
            marks = [pytest.mark.nightly] if (row + column) % 3 else []
            yield pytest.param(platform, provider, marks=marks)


@pytest.mark.parametrize(("platform", "provider"), list(pairs()))
async def test_every_platform_with_every_model_takes_at_most_ten_lines(
    platform: str, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if provider in {"openai", "openrouter", "other"}:  # a server of somebody else costs money
        monkeypatch.setattr("parley.cli.init.model.is_local", lambda address: False)
    async with services(platform, provider) as (simulator, address):
        chosen = {
            "Platforms": platform,
            "Model": address if provider == "other" else provider,
            "  API key": PROVIDERS[provider],
            "  Model": "2",
            "  Dollars a month and both prices": "10 2.5 10",
        }
        url = "" if provider in {"other", "offline"} else address
        lines = await typed(monkeypatch, tmp_path, simulator, chosen, url)
    assert len(lines) <= MOST, lines
    settings = load(tmp_path / "parley.yaml", {})
    assert [account.platform for account in settings.accounts()] == [platform]
    expected = provider if provider in {"anthropic", "offline"} else "openai"
    assert settings.model.provider == expected
    paid = provider in {"anthropic", "openai", "openrouter", "other"}
    assert settings.budgets.workspace_per_month == (10 if paid else None)


async def whatsapp_with_claude(
    monkeypatch: pytest.MonkeyPatch, folder: Path, prepare: Callable[[WhatsAppSimulator], None]
) -> tuple[list[str], Path]:
    """Set up WhatsApp with Anthropic; return the questions and the configuration."""
    async with services("whatsapp", "anthropic") as (simulator, address):
        assert isinstance(simulator, WhatsAppSimulator)
        prepare(simulator)
        chosen = {"Platforms": "whatsapp", "  API key": PROVIDERS["anthropic"]}
        lines = await typed(monkeypatch, folder, simulator, chosen, address)
    return lines, folder / "parley.yaml"


def one_more_number(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.other_numbers = {"106540352249999": "15550001111"}


def nothing_listed(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.accounts = []


def a_list_that_fails(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.failing["phone_numbers"] = [GraphError(200)]


@pytest.mark.parametrize(
    ("prepare", "question"),
    [
        (one_more_number, "Phone number id"),
        (nothing_listed, "Phone number ID, from WhatsApp > API Setup (not the number)"),
        (a_list_that_fails, "Phone number ID, from WhatsApp > API Setup (not the number)"),
    ],
)
async def test_a_number_that_cannot_be_derived_is_asked_for_within_the_same_limit(
    prepare: Callable[[WhatsAppSimulator], None],
    question: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, config = await whatsapp_with_claude(monkeypatch, tmp_path, prepare)
    assert question in lines
    assert len(lines) <= MOST, lines
    assert "106540352242922" in config.read_text()


async def test_the_only_number_of_a_token_is_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, config = await whatsapp_with_claude(monkeypatch, tmp_path, lambda simulator: None)
    assert not any(line.startswith("Phone number") for line in lines)
    assert "106540352242922" in config.read_text()
    output = " ".join(capsys.readouterr().out.split())
    assert "ok phone number id: 106540352242922, of 15550783881 Simulated Business" in output
    assert "ok app secret: it belongs to the access token's app" in output


async def test_a_refused_token_is_asked_for_again_before_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse_once(simulator: WhatsAppSimulator) -> None:
        simulator.graph.state.failing["debug_token"] = [bad_token()]

    lines, config = await whatsapp_with_claude(monkeypatch, tmp_path, refuse_once)
    assert lines.count("Access token (EAA…)") == 2
    assert not any(line.startswith("Phone number") for line in lines)
    assert "BROKEN access token: WhatsApp: error 190" in " ".join(capsys.readouterr().out.split())
    assert "106540352242922" in config.read_text()


async def test_the_address_of_a_server_is_asked_for_when_its_number_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with services("web", "ollama") as (simulator, address):
        chosen = {"Platforms": "web", "Model": "6", "  Address": address, "  Model": "2"}
        lines = await typed(monkeypatch, tmp_path, simulator, chosen)
    assert lines[:4] == ["Platforms", "Model", "Address of the server", "Model"]
    assert load(tmp_path / "parley.yaml", {}).model.base_url == address


async def test_a_second_run_asks_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {"Platforms": "web", "Model": "offline"}
    first = await typed(monkeypatch, tmp_path, None, chosen)
    second = await typed(monkeypatch, tmp_path, None, chosen)
    assert second == [*first, "Start now? [Y/n]"]


async def test_a_setup_with_something_broken_asks_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with services("discord", "offline") as (simulator, _):
        assert isinstance(simulator, DiscordSimulator)
        simulator.message_content = False
        answers, assign = settings_of(simulator)
        again = {"  Press Enter to check again": "keep"}
        chosen = {"Platforms": "discord", "Model": "offline", **again}
        with Typist.typing(monkeypatch, {**chosen, **answers}):
            status = await asyncio.to_thread(command.init, tmp_path / "parley.yaml", assign=assign)
    assert status == 1
    assert Typist.lines[-1] == "Start now? [Y/n]"
