"""Errors of a wrong configuration: every problem at once, with its place and advice, without
secrets."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.platforms import Discovery
from parley.config import SettingsError, from_mapping, load
from parley.config.yaml_file import parse_yaml
from tests.parley.config.kit import PLATFORMS, load_text, refusal


def test_every_problem_is_reported_at_once_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load_text(
            tmp_path,
            "limits:\n  user_per_minut: 3\nmodel:\n  timeout: fast\nplatforms:\n  pigeonn: {}\n",
            {"PARLEY_SERVER__PORT": "http"},
        )
    text = str(refused.value)
    assert len(refused.value.problems) == 4
    assert f"limits.user_per_minut ({tmp_path}/parley.yaml line 2)" in text
    assert f"model.timeout ({tmp_path}/parley.yaml line 4): should be a number." in text
    assert "server.port (PARLEY_SERVER__PORT): should be a whole number." in text
    assert 'is not a platform known here. Did you mean "pigeon"?' in text


def test_an_incomplete_account_is_reported_beside_other_problems(tmp_path: Path) -> None:
    text = "limits: {user_per_minut: 3}\nplatforms: {pigeon: {loft: a, accounts: {b: {loft: 5}}}}"
    assert list(refusal(tmp_path, text)) == [
        "limits.user_per_minut",
        "platforms.pigeon.accounts.b.loft",
        "platforms.pigeon.ring_number",
    ]


@pytest.mark.parametrize(
    ("text", "path", "sentence"),
    [
        ("limit: {}", "limit", 'Did you mean "limits"?'),
        ("pigeon: {loft: a}", "pigeon", 'Did you mean "platforms.pigeon"?'),
        ("invocation: {trigger: [all]}", "invocation.trigger", 'Did you mean "triggers"?'),
        ("invocation: {triggers: [mentions]}", "invocation.triggers[0]", 'mean "mention"?'),
        ("conversation: {overlap: que}", "conversation.overlap", "one of: collect, queue, drop"),
        ("invocation: {triggers: all}", "invocation.triggers", "should be a list."),
        ("invocation: {ignore_bots: yes}", "invocation.ignore_bots", "true or false"),
        ("limits: {user_per_minute: '5'}", "limits.user_per_minute", "whole number"),
        ("limits: {user_per_minute: 5.0}", "limits.user_per_minute", "whole number"),
        ("limits: {user_per_minute: true}", "limits.user_per_minute", "whole number"),
        ("limits: {user_per_minute: -1}", "limits.user_per_minute", "should be at least 0."),
        ("limits: 5", "limits", "should be a section with keys."),
        ("assistant: {name: 5}", "assistant.name", "should be a text; put it in quotes."),
        ("assistant: {name: null}", "assistant.name", "should be a text"),
        ("access: {allowed_users: []}", "access.allowed_users", "is an empty list."),
        ("access: {allowed_users: [true]}", "access.allowed_users[0]", "should be a text"),
        ("access: {owners: [true]}", "access.owners[0]", "should be a text"),
        ("server: {host: 0.0.0.0}", "server", "needs token"),
        ("server: {host: 0.0.0.0, token: ''}", "server.token", "at least 16"),
        ("database: {url: mysql://x}", "database.url", "should be sqlite:///FILE"),
        ("model: {provider: anthropic}", "model", "ANTHROPIC_API_KEY"),
        ("model: {provider: openai, api_key: x}", "model", "needs name for provider openai,"),
        ("webhooks: {port: 8081}", "webhooks.port", "the port of the local listener"),
        ("access: {owners: ['pigon:12']}", "access.owners", 'Did you mean "pigeon"?'),
        ("invocation: {channels: {pigon:12: {}}}", "invocation.channels.pigon:12", '"pigeon"?'),
        ("database: {url: 'sqlite:///'}", "database.url", "should be sqlite:///FILE"),
        ("platforms: {pigeon: {perch: x}}", "platforms.pigeon.perch", "begins with https://"),
        ("platforms: {pigeon: {flock: x}}", "platforms.pigeon.flock", "should be digits."),
        ("workers: {concurrency: 9999}", "workers.concurrency", "should be at most 1000."),
        ("model: {timeout: 0}", "model.timeout", "should be more than 0."),
        ("model: {base_url: localhost:8080}", "model.base_url", "begins with https://"),
        ("mcp: {servers: {a: {}}}", "mcp.servers.a", "either command"),
        ("mcp: {servers: {a: {command: x, url: 'http://x'}}}", "mcp.servers.a", "not both"),
        ("mcp: {servers: {A b: {command: x}}}", "mcp.servers.A b", "is not a valid name"),
        ("platforms: {pigeon: {loft: a}}", "platforms.pigeon.ring_number", "is missing."),
        (
            "platforms: {pigeon: {accounts: {two: {loft: a}}}}",
            "platforms.pigeon.accounts.two.ring_number",
            "remove the section",
        ),
        (
            "platforms: {pigeon: {accounts: {main: {}}}}",
            "platforms.pigeon.accounts.main",
            "directly",
        ),
        ("budgets: {user_per_day: -1}", "budgets.user_per_day", "should be at least 0."),
        ("budgets: {prices: {m: {input: 1}}}", "budgets.prices.m.output", "is missing."),
        ("budgets: {prices: {m: {input: -1, output: 1}}}", "budgets.prices.m.input", "at least 0"),
        ("budgets: {prices: {m: {input: .nan, output: 1}}}", "budgets.prices.m.input", "a number"),
        ("budgets: {prices: {m: {input: .inf, output: 1}}}", "budgets.prices.m.input", "a number"),
        (
            "budgets: {prices: {m: {input: 1, output: 1, cached: 1}}}",
            "budgets.prices.m.cached",
            "key",
        ),
    ],
)
def test_each_mistake_has_its_own_message(
    tmp_path: Path, text: str, path: str, sentence: str
) -> None:
    refused = refusal(tmp_path, text)
    assert list(refused) == [path]
    assert sentence in refused[path]


def test_an_unset_reference_is_reported_with_its_own_line(tmp_path: Path) -> None:
    text = "limits:\n  user_per_minute: 3\nmodel:\n  api_key: ${NOWHERE}\n"
    with pytest.raises(SettingsError) as refused:
        load_text(tmp_path, text, {})
    assert [p.origin for p in refused.value.problems] == [f"{tmp_path}/parley.yaml line 4"]


def test_a_missing_variable_is_one_problem_even_if_its_section_requires_the_key(
    tmp_path: Path,
) -> None:
    text = "model: {provider: anthropic, api_key: '${NOWHERE}'}\n"
    assert list(refusal(tmp_path, text)) == ["model.api_key"]


def test_an_integer_bound_is_shown_without_a_fraction(tmp_path: Path) -> None:
    refused = refusal(tmp_path, "budgets: {user_per_day: -1}")
    assert refused == {"budgets.user_per_day": "should be at least 0."}


@pytest.mark.parametrize(
    ("env", "path", "sentence"),
    [
        ({"PARLEY_LIMIT__X": "1"}, "PARLEY_LIMIT__X", 'Did you mean "limits"?'),
        ({"PARLEY_LIMITS__USER": "1"}, "PARLEY_LIMITS__USER", "user_per_minute"),
        ({"PARLEY_LIMITS__USER_PER_MINUTE": ""}, "PARLEY_LIMITS__USER_PER_MINUTE", "empty"),
        ({"PARLEY_LIMITS__USER_PER_MINUTE": "5.0"}, "limits.user_per_minute", "whole number"),
        ({"PARLEY_LIMITS__USER_PER_MINUTE__X": "5"}, None, "has no keys below it"),
        ({"PARLEY_MODEL__FALLBACKS__3__NAME": "5"}, None, "is beyond the end"),
        ({"PARLEY___X": "5"}, "PARLEY___X", "does not name a key"),
        ({"PARLEY_BUDGETS__PRICES": "{oops"}, "budgets.prices", "should be a section"),
        ({"PARLEY_ACCESS__OWNERS": "[oops"}, "access.owners", "should be a list"),
        ({"PARLEY_INVOCATION__IGNORE_BOTS": "maybe"}, "invocation.ignore_bots", "true or false"),
    ],
)
def test_environment_variables_are_validated_by_the_same_rules(
    tmp_path: Path, env: dict[str, str], path: str | None, sentence: str
) -> None:
    refused = refusal(tmp_path, "", env)
    assert list(refused) == [path or next(iter(env))]
    assert sentence in next(iter(refused.values()))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("${RING}", "is not set. Set it, or put RING=… into the file .env"),
        ("${RINGS}", 'Did you mean "RINGG"?'),
        ("${EMPTY}", "is set but empty"),
        ("${BLANK}", "is set but empty"),
        ("${}", "neither ${NAME} nor ${file:PATH}"),
        ("${RING:-x}", "neither ${NAME} nor ${file:PATH}"),
        ("${file:nowhere.txt}", "cannot be read: No such file"),
        ("${file:empty.txt}", "is empty"),
        ("${file:big.txt}", "is larger than 64 KiB"),
        ("${file:binary.txt}", "is not UTF-8"),
    ],
)
def test_an_unset_reference_is_refused(tmp_path: Path, value: str, sentence: str) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "big.txt").write_text("x" * 65_537)
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe")
    env = {"EMPTY": "", "BLANK": " ", **({"RINGG": "1"} if "RINGS" in value else {})}
    refused = refusal(tmp_path, f"platforms: {{pigeon: {{loft: a, ring_number: '{value}'}}}}", env)
    assert sentence in refused["platforms.pigeon.ring_number"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "is not valid YAML"),
        ("limits: {user_per_minute: 1}\nlimits: {}\n", "is duplicated; the first one is in line 1"),
        ("- a\n- b\n", "should be sections with keys"),
        ("limits: !!python/object:os.system {}", "limits.*YAML tag"),
        ("assistant: {name: !env X}", "YAML tag"),
        ("a: &a [*a]", "nested deeper|not a known key"),
        ("x: " + "[" * 5_000 + "]" * 5_000, "nested deeper"),
        ("assistant: {? [a] : b}", "not a plain word"),
        ('"\\ud800": b', "not a plain word"),
        ('assistant: {name: "\\udc80"}', "no character"),
        ('limits: {user_per_minute: !!int ""}', "tag that does not fit"),
        ("limits: {user_per_minute: !!float x}", "tag that does not fit"),
        ("invocation: {ignore_bots: !!bool x}", "tag that does not fit"),
        ("assistant: {name: !!null x}", "tag that does not fit"),
        ("assistant: {<<: 5}", "should name a section"),
        ("a: 1\n---\nb: 2\n", "is not valid YAML"),
        ("a: \x07", "character that is not allowed"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load_text(tmp_path, text)


def test_files_and_aliases_have_limits(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="larger than 256 KiB"):
        load_text(tmp_path, "#" * 300_000)
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )
    with pytest.raises(SettingsError, match="more than 20000 values"):
        load_text(tmp_path, bomb)
    merges = "a0: &a0 {k: v}\n" + "".join(
        f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9)
    )
    with pytest.raises(SettingsError, match="more than 20000 values"):
        load_text(tmp_path, merges)
    (tmp_path / ".env").write_text("X=" + "y" * 300_000)
    with pytest.raises(SettingsError, match=r"\.env is larger than 256 KiB"):
        load_text(tmp_path, "")


def test_an_invalid_line_of_the_env_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# fine\nexport RING='a b'\nLOFT = tall house\nTWO WORDS\n")
    with pytest.raises(SettingsError) as refused:
        load_text(tmp_path, "platforms: {}")
    places = [problem.path for problem in refused.value.problems]
    assert places == [f"{tmp_path}/.env line 4"]


def test_a_missing_file_names_parley_init(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="`parley init` writes one"):
        load(tmp_path / "none.yaml", {}, PLATFORMS)
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path, {}, PLATFORMS)


def test_a_broken_adapter_package_is_reported_where_its_platform_is_configured() -> None:
    broken = Discovery(PLATFORMS.manifests, ('The adapter plugin "owl" could not be loaded: x.',))
    with pytest.raises(SettingsError, match=r'platforms\.owl: is a platform whose plugin.*"owl"'):
        from_mapping({"platforms": {"owl": {}}}, platforms=broken)


SECRET = "hush-7f3a"


@pytest.mark.parametrize(
    "text",
    [
        "server: {token: hush-7f3a}",
        "model: {api_key: [hush-7f3a]}",
        "model: {base_url: 'hush-7f3a'}",
        "model: {provider: hush-7f3a}",
        "limits: {user_per_minute: hush-7f3a}",
        "platforms: {pigeon: {ring_number: {a: hush-7f3a}}}",
        "platforms: {pigeon: {ring_number: *hush-7f3a}}",
        "platforms: {pigeon: {ring_number: 'a'hush-7f3a}}",
        "platforms: {pigeon: {ring_number: @hush-7f3a}}",
        'platforms: {pigeon: {ring_number: "hush-7f3a',
        "access: {owners: hush-7f3a}",
        "mcp: {servers: {a: {url: hush-7f3a}}}",
        "platforms: {pigeon: {loft: bad-hush-7f3a}}",
    ],
)
def test_no_message_repeats_a_value(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_text(tmp_path, text)
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(refused.value.__cause__)


YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below),
    max_leaves=8,
)
SECTIONS = st.sampled_from(
    ["assistant", "model", "mcp", "tools", "budgets", "limits", "invocation", "access", "server"]
)


@given(st.dictionaries(SECTIONS, YAML_VALUES, max_size=3))
def test_any_values_are_accepted_or_refused_without_a_crash(values: dict[str, object]) -> None:
    with suppress(SettingsError):
        from_mapping(values, platforms=PLATFORMS)


@given(st.text(max_size=200))
def test_any_text_is_accepted_or_refused_without_a_crash(text: str) -> None:
    with suppress(SettingsError):
        parse_yaml(text, "parley.yaml")


STEPS = st.sampled_from(
    [
        "MODEL",
        "FALLBACKS",
        "0",
        "1",
        "NAME",
        "PLATFORMS",
        "PIGEON",
        "ACCOUNTS",
        "B",
        "LIMITS",
        "",
        "x",
    ]
)
VARIABLES = st.lists(STEPS, max_size=6).map(lambda steps: "PARLEY_" + "__".join(steps))
TEXTS = st.sampled_from(["1", "a,b", "[1]", "{}", '{"name": 1}', "[", "", "true", "${X}"])


@given(st.dictionaries(VARIABLES, TEXTS, max_size=4))
def test_any_variables_are_accepted_or_refused_without_a_crash(env: dict[str, str]) -> None:
    with suppress(SettingsError):
        from_mapping({"model": {"fallbacks": [{"provider": "offline"}]}}, env, PLATFORMS)
