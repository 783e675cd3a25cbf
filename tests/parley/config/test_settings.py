"""The values of a configuration: defaults, the file, the environment over it, secrets by
reference."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.people import Audience, Role
from gateway.policy.invocation import Trigger
from gateway.policy.rate_limits import RateLimits
from parley.config import Settings, SettingsError, from_mapping, load
from parley.config.problems import closest, dotted
from tests.parley.config.kit import PLATFORMS, load_text


def test_without_configuration_the_defaults_and_the_offline_model_apply() -> None:
    settings = load(None, {}, PLATFORMS)
    assert settings.model.provider == "offline"
    assert settings.accounts() == ()
    assert settings.limits == RateLimits()
    assert settings.limits.user_per_minute == 5
    assert settings.invocation.triggers == (Trigger.MENTION, Trigger.DIRECT_MESSAGE, Trigger.REPLY)
    assert (settings.context.max_messages, settings.context.max_tokens) == (10, 2000)
    assert settings.context.ttl_hours == 24
    assert settings.storage_url == settings.database.url == "sqlite:///data/parley.db"
    assert settings.server.host == settings.webhooks.host == "127.0.0.1"


def test_an_empty_file_and_empty_sections_are_the_defaults(tmp_path: Path) -> None:
    nothing = load(None, {}, PLATFORMS)
    assert load_text(tmp_path, "").model_dump() == nothing.model_dump()
    sections = "platforms:\n  pigeon:\n  drum:\nmodel:\nlimits:\nmcp:\n  servers:\n"
    assert load_text(tmp_path, sections).model_dump() == nothing.model_dump()


def test_a_file_sets_every_kind_of_value(tmp_path: Path) -> None:
    settings = load_text(
        tmp_path,
        """
        assistant: {name: Ada, channels: {"slack:C01": {persona: Brief., model: small}}}
        model:
          provider: openai
          name: llama
          base_url: http://127.0.0.1:11434/v1
          fallbacks: [{provider: anthropic, api_key: key-1}, {provider: offline}]
        mcp:
          servers:
            files: {command: mcp-files, args: [--root, /srv], env: {LEVEL: debug}}
            web: {url: https://tools.example/mcp, headers: {Authorization: Bearer x}}
        tools: {files: {role: operator, audiences: [direct]}}
        budgets: {user_per_day: 1, prices: {llama: {input: 0.5, output: 1.5}}}
        invocation: {triggers: [all], channels: {-1001: {triggers: [], prefix: "!"}}}
        access: {owners: [12345, "slack:U1"], default_role: guest}
        """,
    )
    assert settings.assistant.channels["slack:C01"].model == "small"
    assert [f.provider for f in settings.model.fallbacks] == ["anthropic", "offline"]
    assert settings.mcp.servers["files"].args == ("--root", "/srv")
    assert settings.tools["files"].role is Role.OPERATOR
    assert settings.tools["files"].audiences == (Audience.DIRECT,)
    assert settings.budgets.prices["llama"].output == 1.5
    assert settings.invocation.triggers == (Trigger.ALL,)
    assert settings.invocation.channels["-1001"].triggers == ()
    assert settings.access.owners == ("12345", "slack:U1")


def test_a_platform_without_credentials_is_off_and_several_accounts_are_possible(
    tmp_path: Path,
) -> None:
    settings = load_text(
        tmp_path,
        """
        platforms:
          pigeon:
            ring_number: "7"
            loft: north
            accounts:
              night: {ring_number: "8", loft: south}
              spare: {altitude: 5}
        """,
    )
    assert [(a.platform, a.name) for a in settings.accounts()] == [
        ("pigeon", "main"),
        ("pigeon", "night"),
    ]
    assert [a.path for a in settings.accounts()] == [
        "platforms.pigeon",
        "platforms.pigeon.accounts.night",
    ]


def test_the_environment_overrides_the_file_and_its_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PARLEY_LIMITS__USER_PER_MINUTE=2\nLOFT=west\n")
    text = "limits: {user_per_minute: 1, channel_per_minute: 1}\nplatforms: {pigeon: {}}\n"
    from_dotenv = load_text(tmp_path, text)
    assert from_dotenv.limits.user_per_minute == 2
    assert from_dotenv.limits.channel_per_minute == 1
    assert load_text(tmp_path, text, {"PARLEY_LIMITS__USER_PER_MINUTE": "3"}).limits == (
        from_dotenv.limits.model_copy(update={"user_per_minute": 3})
    )


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        ("PARLEY_PLATFORMS__PIGEON__RING_NUMBER", "12", "platforms.pigeon.ring_number"),
        ("PARLEY_PLATFORMS__PIGEON__ALTITUDE", "12", "platforms.pigeon.altitude"),
        ("PARLEY_PLATFORMS__PIGEON__WINDY", "True", "platforms.pigeon.windy"),
        ("PARLEY_PLATFORMS__PIGEON__FEATHERS", "a, b", "platforms.pigeon.feathers"),
        ("PARLEY_PLATFORMS__PIGEON__FEATHERS", '["a", "b,c"]', "platforms.pigeon.feathers"),
        ("PARLEY_CONTEXT__TTL_HOURS", "0.5", "context.ttl_hours"),
        ("PARLEY_ACCESS__OWNERS", "1,slack:U2", "access.owners"),
        ("PARLEY_BUDGETS__PRICES", '{"m-1": {"input": 1, "output": 2}}', "budgets.prices"),
        ("PARLEY_ASSISTANT", '{"name": "Ada"}', "assistant.name"),
    ],
)
def test_every_value_can_be_set_by_the_environment(
    tmp_path: Path, variable: str, value: str, read: str
) -> None:
    expected = {
        "platforms.pigeon.ring_number": "12",
        "platforms.pigeon.altitude": 12,
        "platforms.pigeon.windy": True,
        "platforms.pigeon.feathers": ("a", "b") if "[" not in value else ("a", "b,c"),
        "context.ttl_hours": 0.5,
        "access.owners": ("1", "slack:U2"),
        "assistant.name": "Ada",
    }
    env = {variable: value}
    if "ring" in read:
        env["PARLEY_PLATFORMS__PIGEON__LOFT"] = "north"
    result: object = load_text(tmp_path, "", env)
    for step in read.split("."):
        result = getattr(result, step)
    if read == "budgets.prices":
        assert result["m-1"].output == 2  # type: ignore[index]
    else:
        plain = getattr(result, "get_secret_value", lambda: result)()
        assert plain == expected[read]


def test_the_environment_sets_values_in_mappings_and_lists(tmp_path: Path) -> None:
    settings = load_text(
        tmp_path,
        "model: {provider: offline, fallbacks: [{provider: offline}]}\n"
        "mcp: {servers: {files: {command: old}}}\n"
        "invocation: {channels: {c0aB: {prefix: '?'}}}\n",
        {
            "PARLEY_MODEL__FALLBACKS__0__MAX_TOKENS": "99",
            "PARLEY_MODEL__FALLBACKS__1__MAX_TOKENS": "98",
            "PARLEY_MCP__SERVERS__FILES__COMMAND": "new",
            "PARLEY_MCP__SERVERS__WEB__URL": "https://tools.example",
            "PARLEY_INVOCATION__CHANNELS__C0AB__PREFIX": "!",
            "PARLEY_INVOCATION__CHANNELS__C9__PREFIX": "#",
        },
    )
    assert [f.max_tokens for f in settings.model.fallbacks] == [99, 98]
    assert settings.mcp.servers["files"].command == "new"
    assert set(settings.mcp.servers) == {"files", "web"}
    assert {k: v.prefix for k, v in settings.invocation.channels.items()} == {
        "c0aB": "!",
        "C9": "#",
    }


def test_variables_that_are_not_keys_are_ignored(tmp_path: Path) -> None:
    load_text(tmp_path, "", {"PARLEY_PORT": "tcp://10.0.0.1", "PARLEY_SERVER_PORT": "tcp://x"})


def test_references_are_replaced_from_the_environment_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "ring.txt").write_text("77\n")
    settings = load_text(
        tmp_path,
        'assistant: {persona: "costs $${5} and ${WHO}"}\n'
        "limits: {user_per_minute: '${RATE}'}\n"
        "platforms: {pigeon: {ring_number: '${file:ring.txt}', loft: '${WHO} ${WHO}'}}\n",
        {"WHO": "Ada", "RATE": "7"},
    )
    assert settings.assistant.persona == "costs ${5} and Ada"
    assert settings.limits.user_per_minute == 7
    (account,) = settings.accounts()
    assert account.settings.model_dump()["loft"] == "Ada Ada"
    ring = account.settings.model_dump()["ring_number"]
    assert ring.get_secret_value() == "77"


def test_without_a_file_the_env_file_of_its_folder_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / ".env").write_text("PARLEY_PLATFORMS__PIGEON__LOFT=west\n")
    monkeypatch.chdir(tmp_path)
    env = {"PARLEY_PLATFORMS__PIGEON__RING_NUMBER": "77"}
    (account,) = load(None, env, PLATFORMS).accounts()
    assert account.settings.model_dump()["loft"] == "west"


def test_the_anthropic_key_of_the_environment_is_enough(tmp_path: Path) -> None:
    env = {"ANTHROPIC_API_KEY": "key-of-env"}
    settings = load(None, env, PLATFORMS)
    assert settings.model.provider == "anthropic"
    assert settings.model.api_key is not None
    assert settings.model.api_key.get_secret_value() == "key-of-env"
    explicit = load_text(tmp_path, "model: {api_key: own}", env)
    assert explicit.model.api_key is not None
    assert explicit.model.api_key.get_secret_value() == "own"
    assert load_text(tmp_path, "model: {provider: offline}", env).model.api_key is None
    fallback = load_text(
        tmp_path,
        "model:\n  provider: offline\n"
        "  fallbacks: [{provider: anthropic}, {provider: openai, name: m}]\n",
        {**env, "OPENAI_API_KEY": "other"},
    )
    keys = [f.api_key.get_secret_value() for f in fallback.model.fallbacks if f.api_key]
    assert keys == ["key-of-env", "other"]


def test_yaml_words_have_the_meaning_of_version_1_2(tmp_path: Path) -> None:
    text = "assistant: {name: no, persona: 12:30}\naccess: {owners: [0123, 1_000]}\n"
    settings = load_text(tmp_path, text)
    assert settings.assistant.name == "no"
    assert settings.assistant.persona == "12:30"
    assert settings.access.owners == ("0123", "1_000")


def test_anchors_and_merge_keys_work(tmp_path: Path) -> None:
    settings = load_text(
        tmp_path,
        """
        invocation:
          channels:
            A: &quiet {triggers: [mention], prefix: "!"}
            B: *quiet
            C: {<<: *quiet, prefix: "?"}
        """,
    )
    assert {k: v.prefix for k, v in settings.invocation.channels.items()} == {
        "A": "!",
        "B": "!",
        "C": "?",
    }
    assert {v.triggers for v in settings.invocation.channels.values()} == {(Trigger.MENTION,)}


def test_settings_are_frozen_and_hide_secrets(tmp_path: Path) -> None:
    settings = load_text(
        tmp_path,
        "model: {api_key: hush-1}\nserver: {token: hush-2-hush-2-hush}\n"
        "mcp: {servers: {a: {command: x, env: {K: hush-3}}}}\n"
        "platforms: {pigeon: {ring_number: hush-4, loft: a}}\n",
    )
    assert "hush" not in repr(settings)
    with pytest.raises(ValueError, match="frozen"):
        settings.limits.user_per_minute = 3


def test_a_mapping_is_loaded_like_a_file() -> None:
    settings = from_mapping(
        {"platforms": {"pigeon": {"ring_number": "1", "loft": "a", "feathers": ["x"]}}},
        platforms=PLATFORMS,
    )
    assert isinstance(settings, Settings)
    assert [a.platform for a in settings.accounts()] == ["pigeon"]
    with pytest.raises(SettingsError, match=r"platforms\.pigeon\.lofft.*\"loft\""):
        from_mapping({"platforms": {"pigeon": {"lofft": "a"}}}, platforms=PLATFORMS)


def test_the_file_may_be_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "parley.yaml"
    path.write_text("limits: {user_per_minute: 1}\n")
    path.chmod(stat.S_IRUSR)
    assert load(path, {}, PLATFORMS).limits.user_per_minute == 1


@given(st.text(min_size=1, max_size=40).filter(lambda t: t.strip() and "${" not in t))
def test_any_text_of_the_environment_is_used_unchanged(text: str) -> None:
    settings = from_mapping({}, {"PARLEY_ASSISTANT__PERSONA": text}, PLATFORMS)
    assert settings.assistant.persona == text


def test_paths_accept_the_usual_spellings() -> None:
    assert dotted(("model", "fallbacks", 0, "name")) == "model.fallbacks[0].name"
    assert closest("Bot_Tokn", ["bot_token", "app_token"]) == "bot_token"
    assert closest("zebra", ["bot_token"]) == ""


def test_loading_settings_imports_no_platform_library() -> None:
    code = (
        "import sys; from parley.config import load; load(None, {});"
        "heavy = {'discord', 'slack_bolt', 'slack_sdk', 'telegram', 'anthropic', 'openai', 'mcp',"
        " 'aiohttp', 'httpx', 'httpx2', 'rich', 'typer', 'pydantic_settings'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ({"provider": "anthropic", "auth_token": "t"}, ""),
        ({"provider": "anthropic", "api_key": "k", "headers": {"x-team": "a"}, "web": True}, ""),
        ({"provider": "anthropic", "api_key": "k", "headers": {"x team": "a"}}, "name of a header"),
        ({"provider": "anthropic", "api_key": "k", "headers": {"x": "a\r\ny: b"}}, "printable"),
        ({"provider": "openai", "name": "m", "api_key": "k", "web": True}, "provider anthropic"),
        ({"provider": "anthropic", "api_key": "k", "api": "auto"}, ""),
        ({"provider": "anthropic", "api_key": "k", "api": "chat"}, "provider openai"),
        ({"provider": "anthropic", "api_key": "k", "without": ["tools"]}, "provider openai"),
    ],
)
def test_what_only_one_provider_takes(model: dict[str, object], problem: str) -> None:
    if not problem:
        assert from_mapping({"model": model}).model.provider == "anthropic"
        return
    with pytest.raises(SettingsError, match=problem):
        from_mapping({"model": model})
