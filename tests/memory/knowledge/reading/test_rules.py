"""The files that are read: the lists, the limits and the names of secrets."""

import pytest

from memory.knowledge.reading.rules import NamedBy, Rules
from parley.config.agent_file import AgentFile, read_agent_file
from parley.config.problems import SettingsError


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", NamedBy.DOCUMENT),
        ("docs/adrs/0001-use-x.adoc", NamedBy.DOCUMENT),
        ("docs/guide/page.md", NamedBy.DOCUMENT),
        ("src/tokenizer.py", NamedBy.CODE),
        ("src/reset_password.py", NamedBy.CODE),
        ("src/secrets_manager.go", NamedBy.CODE),
        ("Dockerfile", NamedBy.CODE),
        ("deploy/values.yaml", NamedBy.CODE),
        ("deploy/secrets.yaml", NamedBy.SECRET_NAME),
        ("deploy/db-password.yml", NamedBy.SECRET_NAME),
        ("config/production.env", NamedBy.SECRET_NAME),
        (".env", NamedBy.SECRET_NAME),
        ("docs/api-token.md", NamedBy.SECRET_NAME),
        ("docs/tokenizer.md", NamedBy.DOCUMENT),
        ("docs/TOKENIZER.md", NamedBy.DOCUMENT),
        ("deploy/apiToken.yaml", NamedBy.SECRET_NAME),
        ("deploy/APITokens.yaml", NamedBy.SECRET_NAME),
        ("deploy/awscredentials.ini", NamedBy.SECRET_NAME),
        ("deploy/tokenFile.toml", NamedBy.SECRET_NAME),
        ("src/apiToken.ts", NamedBy.CODE),
        ("docs/password.md", NamedBy.NEITHER),
        ("server.key", NamedBy.NEITHER),
        ("secrets/app.py", NamedBy.NEITHER),
        ("node_modules/left-pad/index.js", NamedBy.NEITHER),
        ("web/dist/app.js", NamedBy.NEITHER),
        ("app.min.js", NamedBy.NEITHER),
        ("photo.jpg", NamedBy.NEITHER),
    ],
)
def test_a_path_is_in_one_of_the_lists(path: str, expected: NamedBy) -> None:
    assert Rules().candidate(path) is expected


def test_the_file_of_a_repository_changes_the_rules_within_the_limits() -> None:
    file = read_agent_file(
        b"ingestion:\n  include: ['notes/**']\n  exclude: ['**/old/**']\n  code: ['*.py']\n"
        b"  max_file_size_kb: 99999\n  skip_binary: false\n"
        b"skills:\n  directory: .agent/skills\n  auto_discover: false\n"
    )
    rules = file.rules()
    assert rules.max_file_bytes == 10_240 * 1_024
    assert file.rules(most_kb=800).max_file_bytes == 800 * 1_024
    assert not rules.skip_binary
    assert rules.candidate("notes/a.txt") is NamedBy.DOCUMENT
    assert rules.candidate("old/a.py") is NamedBy.NEITHER
    assert rules.candidate("node_modules/a.py") is NamedBy.NEITHER
    assert rules.candidate("deploy/.env") is NamedBy.NEITHER
    assert (file.skills.directory, file.skills.auto_discover) == (".agent/skills", False)
    assert rules.digest() != Rules().digest()


def test_without_a_file_the_defaults_apply() -> None:
    assert read_agent_file(None) == read_agent_file(b"") == AgentFile()
    assert AgentFile().rules() == Rules()
    assert AgentFile().rules().max_file_bytes == 500 * 1_024


@pytest.mark.parametrize(
    ("content", "place", "text"),
    [
        (b"ingest: {}\n", "ingest (.agent/config.yaml line 1)", "ingestion"),
        (b"ingestion:\n  exlude: []\n", "ingestion.exlude (.agent/config.yaml line 2)", "exclude"),
        (b"ingestion:\n  include: '*.md'\n", "ingestion.include", "should be a list"),
        (b"ingestion:\n  include: ['../x']\n", "ingestion.include[0]", "not usable"),
        (b"ingestion:\n  max_file_size_kb: lots\n", "ingestion.max_file_size_kb", "whole number"),
        (b"ingestion:\n  max_file_size_kb: 0\n", "ingestion.max_file_size_kb", "at least 1"),
        (b"skills:\n  directory: ../../etc\n", "skills.directory", "folder of the repository"),
        (b"skills:\n  directory: /etc\n", "skills.directory", "folder of the repository"),
        (b"skills:\n  directory: .git/hooks\n", "skills.directory", "no folder of git"),
        (b"skills:\n  directory: a/.GIT\n", "skills.directory", "no folder of git"),
        (b'skills:\n  directory: "\\ud800"\n', "skills.directory", "no character"),
        (b'ingestion:\n  skip_binary: !!bool ""\n', "ingestion.skip_binary", "does not fit"),
        (b"a: [1, 2\n", "line", "not valid YAML"),
        (b"a: !!python/object:os.system x\n", "a", "YAML tag"),
        (b"\xff\xfe", ".agent/config.yaml", "not UTF-8"),
        (b"a: 1\na: 2\n", "a", "duplicated"),
    ],
)
def test_a_mistake_names_its_place(content: bytes, place: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_agent_file(content)
    assert place in str(caught.value)
    assert text in str(caught.value)
