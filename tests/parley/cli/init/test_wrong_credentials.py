"""Every credential wrong once: the sentence for it says what is wrong and where the right one is.

`pytest -s` prints all of them.
"""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from gateway.immutable import replace
from gateway.platforms import discover
from parley.cli.init.files import Answers
from parley.cli.init.model import ask_for_model
from parley.cli.init.platforms import ask_for_platforms
from parley.cli.init.session import Given, InitSession
from parley.cli.init.terminal import Terminal
from parley.config.yaml_file import Value
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.openai.server import OpenAISimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.parley.cli.init.kit import SECRET

GIVEN = Given(yes=True)
NOWHERE = "http://127.0.0.1:9"
TELEGRAM = "7000000009:a-token-of-the-right-form-but-unknown"
DISCORD = "MTE5ODYyMjQ4MzQ3MTkyNTI0.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWsAbCdEf"
META = "EAAanothertoken0123456789abcdef"
SLACK_BOT, SLACK_APP = "xoxb-000000000000", "xapp-1-A0OTHER-000000000000"


class Platforms:
    """The four simulated platforms."""

    def __init__(self) -> None:
        self.telegram = TelegramSimulator()
        self.discord = DiscordSimulator()
        self.slack = SlackSimulator()
        self.whatsapp = WhatsAppSimulator()
        self.all: dict[str, PlatformSimulator] = {
            each.platform: each for each in (self.telegram, self.discord, self.slack, self.whatsapp)
        }


@pytest.fixture
async def platforms() -> AsyncIterator[Platforms]:
    made = Platforms()
    for simulator in made.all.values():
        await simulator.start()
    yield made
    for simulator in made.all.values():
        await simulator.stop()


async def said_by(
    given: Given,
    env: Mapping[str, str],
    values: dict[str, Value],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    step: Callable[[InitSession], None],
) -> str:
    """Everything that one step says, on one line."""
    config, result = folder / "parley.yaml", discover()
    session = InitSession(Terminal(), config, given, env, result, Answers(values))
    await asyncio.to_thread(step, session)
    assert not config.exists()
    return " ".join(capsys.readouterr().out.split())


def show(title: str, said: str) -> None:
    broken = said.partition("BROKEN ")[2] or said
    sys.stdout.write(f"{title}\n    {broken}\n")


Change = Mapping[str, object]
CASES: list[tuple[str, str, Change, str]] = [
    ("telegram", "a Slack token", {"bot_token": SLACK_BOT},
     "expected 123456789:AA…. It looks like a Slack bot token (xoxb-…). @BotFather shows it"),
    ("telegram", "half a token", {"bot_token": "7000000009:abc"},
     "It has 14 characters in another format; copy it again as a whole. @BotFather"),
    ("telegram", "an unknown token", {"bot_token": TELEGRAM},
     "bot token: Telegram does not know the bot token. What to do: Ask @BotFather for the token"),
    ("telegram", "no network", {"base_url": NOWHERE},
     "What to do: Check the network, and `platforms.telegram.base_url`."),
    ("discord", "the application id", {"token": "1198622483471925248"},
     "It looks like an id of Discord (17 to 20 digits). Page Bot of your application"),
    ("discord", "a refused token", {"token": DISCORD},
     "token: Discord refused the token. What to do: Reset it at"),
    ("discord", "a token of another app", {"application_id": "1234567890123456789"},
     "application: the token belongs to"),
    ("discord", "no network", {"api_base": f"{NOWHERE}/api/v10"},
     "connection: Discord cannot be reached"),
    ("slack", "exchanged tokens: the bot token", {"bot_token": SLACK_APP},
     "It looks like a Slack app token (xapp-1-…). Page OAuth & Permissions"),
    ("slack", "exchanged tokens: the app token", {"app_token": SLACK_BOT},
     "It looks like a Slack bot token (xoxb-…). Page Basic Information"),
    ("slack", "a refused bot token", {"bot_token": SLACK_BOT},
     "Slack bot token: refused: invalid_auth. The token is wrong. What to do: Copy it again"),
    ("slack", "a refused app token", {"app_token": SLACK_APP},
     "Slack app token: refused: invalid_auth. The token is wrong. What to do: Make one"),
    ("slack", "no network", {"base_url": f"{NOWHERE}/api/"},
     "Slack bot token: Slack cannot be reached"),
    ("whatsapp", "another token", {"access_token": SLACK_BOT},
     "This is not an access token of Meta: expected EAA…. It looks like a Slack bot token"),
    ("whatsapp", "a refused token", {"access_token": META},
     "access token: WhatsApp: error 190"),
    ("whatsapp", "the phone number", {"phone_number_id": "+1 555 010 9999"},
     "This is not a phone number ID: expected 106540352242922, digits only. It looks like a phone"),
    ("whatsapp", "the account's id", {"phone_number_id": "102290129340398"},
     'phone number id: Meta knows no such object What to do: Copy "Phone number ID"'),
    ("whatsapp", "the token as app secret", {"app_secret": META},
     "This is not an app secret of Meta: expected 32 digits and letters from a to f. It looks"),
    ("whatsapp", "the secret of another app", {"app_secret": "0" * 32},
     "app secret: it is not the secret of the app to which the access token belongs What to do:"),
    ("whatsapp", "no network", {"base_url": NOWHERE},
     "platform reachable: WhatsApp cannot be reached"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mistake", "change", "sentence"), CASES, ids=[f"{n}: {m}" for n, m, *_ in CASES]
)
async def test_the_sentence_for_each_wrong_credential(
    platforms: Platforms,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    mistake: str,
    change: Change,
    sentence: str,
) -> None:
    settings = {**platforms.all[name].settings(), **change}
    reply = await said_by(*_asked(name, settings), tmp_path, capsys, ask_for_platforms)
    show(f"{name}, {mistake}:", reply)
    assert sentence in reply
    for key, value in change.items():
        assert key not in SECRET or str(value) not in reply


def _asked(
    name: str, settings: Mapping[str, object]
) -> tuple[Given, dict[str, str], dict[str, Value]]:
    """Credentials in the environment, addresses in the configuration."""
    addresses = {"base_url", "api_base", "gateway_url", "application_id", "mode", "api_version"}
    env = {
        f"{name}_{key}".upper(): str(value)
        for key, value in settings.items()
        if key not in addresses
    }
    section: dict[str, Value] = {k: str(v) for k, v in settings.items() if k in addresses}
    return replace(GIVEN, platforms=(name,)), env, {"platforms": {name: section}}


async def test_a_missing_permission_is_no_wrong_credential(
    platforms: Platforms, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    platforms.discord.message_content = False
    platforms.slack.scopes.discard("chat:write")
    shown: list[tuple[str, str]] = []
    try:
        for name, sentence in (
            ("discord", "message content intent: the bot may not read messages What to do: Switch"),
            ("slack", "Slack scope: chat:write: missing: to answer What to do: Add it under OAuth"),
        ):
            question = _asked(name, platforms.all[name].settings())
            reply = await said_by(*question, tmp_path, capsys, ask_for_platforms)
            shown.append((f"{name}, a missing permission:", reply))
            assert sentence in reply
    finally:
        platforms.discord.message_content = True
        platforms.slack.scopes.add("chat:write")
    for each in shown:
        show(*each)


async def test_two_slack_tokens_of_two_apps_are_noticed(
    platforms: Platforms, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {**platforms.slack.settings(), "app_token": platforms.slack.server.other_app_token}
    reply = await said_by(*_asked("slack", settings), tmp_path, capsys, ask_for_platforms)
    show("slack, an app token of another app:", reply)
    assert re.search(
        r"the app token belongs to the app A0OTHERAPP, the bot token to the app", reply
    )


async def test_the_sentence_for_each_wrong_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anthropic, server = AnthropicSimulator(), OpenAISimulator()
    await anthropic.start()
    await server.start()
    given = replace(GIVEN, provider="anthropic")
    near = replace(given, base_url=anthropic.base_url)
    ours = replace(GIVEN, provider="other", base_url=server.base_url, model="gpt-test")
    shown: list[tuple[str, str]] = []
    cases: list[tuple[str, Given, dict[str, str], str]] = [
        ("an OpenRouter key", given, {"ANTHROPIC_API_KEY": "sk-or-v1-0123456789ab"},
         "This is not an Anthropic API key: expected sk-ant-api03-…. It looks like an OpenRouter"),
        ("a refused key", near, {"ANTHROPIC_API_KEY": "sk-ant-0123456789ab"},
         "the key is refused (HTTP 401)"),
        ("an unknown model", replace(near, model="claude-of-yesterday"),
         {"ANTHROPIC_API_KEY": anthropic.api_key}, "the model claude-of-yesterday does not exist"),
        ("no network", replace(given, base_url=NOWHERE), {"ANTHROPIC_API_KEY": "sk-ant-0123456789"},
         "is not reachable"),
        ("a missing key", ours, {}, "answers, but it needs a key."),
        ("a refused key", ours, {"MODEL_API_KEY": "wrong"}, "the key is refused (HTTP 401)"),
        ("an unknown model", replace(ours, model="gpt-9"), {"MODEL_API_KEY": server.api_key},
         "The server has no model gpt-9. It has: gpt-test."),
        ("a server that does not run", replace(GIVEN, provider="ollama", base_url=NOWHERE), {},
         "Nothing answers at http://127.0.0.1:9/v1"),
    ]  # fmt: skip
    try:
        for mistake, question, env, sentence in cases:
            reply = await said_by(question, env, {}, tmp_path, capsys, ask_for_model)
            shown.append((f"{question.provider}, {mistake}:", reply))
            assert sentence in reply
    finally:
        await anthropic.stop()
        await server.stop()
    for each in shown:
        show(*each)
