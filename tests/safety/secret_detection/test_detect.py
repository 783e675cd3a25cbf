"""Recognition of credentials: kinds, certainty, and time."""

import pytest

from safety.secret_detection.detect import KINDS, find_secrets
from safety.secret_detection.kinds import Level
from tests.support.for_each import for_each
from tests.support.processor_time import QUADRATIC, growth

A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEYS = {
    "anthropic_key": "sk-ant-api03-" + "x1-_" * 20,
    "openai_key": "sk-" + "aB3" * 16,
    "aws_key_id": "AKIA" + "ABCD2345" * 2,
    "aws_secret": 'aws_secret_access_key = "' + "aB3/" * 10,
    "github_token": "ghp_" + A36,
    "parley_token": "parley_" + "eyJw" * 30 + "." + "a1B-_" * 8 + "xyz",
    "gitlab_token": "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "slack_token": "xox" + "b-1234567890-abcdefghij",
    "slack_webhook": "https://hooks.slack.com/services/T0000/B0000/" + "x" * 20,
    "google_key": "AIza" + "a" * 35,
    "stripe_key": "sk_live_" + "a" * 24,
    "telegram_token": "123456789:AA" + "x" * 33,
    "discord_token": "M" + "a" * 23 + "." + "b" * 6 + "." + "c" * 27,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    "private_key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}


@for_each("name", KEYS)
def test_a_definite_secret_is_found_with_its_position(name: str) -> None:
    text = f"before {KEYS[name]} after"
    (finding,) = [f for f in find_secrets(text) if f.kind.name == name]
    assert finding.kind.level is Level.DEFINITE
    assert text[finding.start : finding.end] in KEYS[name]
    assert KEYS[name].endswith(text[finding.start : finding.end])


@pytest.mark.parametrize(
    ("text", "name", "level"),
    [
        ("postgres://bob:hunter2@db/x", "connection_string", Level.PROBABLE),
        ("Password: hunter2", "password", Level.PROBABLE),
        ("Authorization: Bearer abc.def", "bearer_token", Level.PROBABLE),
        ("A" * 64, "long_base64", Level.POSSIBLE),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "forty_hex_digits", Level.POSSIBLE),
    ],
)
def test_less_certain_findings_have_their_level(text: str, name: str, level: Level) -> None:
    (finding,) = find_secrets(text)
    assert (finding.kind.name, finding.kind.level) == (name, level)


@pytest.mark.parametrize(
    "text",
    [
        "The credential helper is git-credential",
        "task-implement-the-new-feature-in-the-gateway",
        "see http://localhost:8080/a@b and git@github.com:owner/repo.git",
        "a < b && c > d; defaced, 1234567 and sk-8",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_ordinary_text_contains_no_secret(text: str) -> None:
    assert find_secrets(text) == []


def test_overlapping_findings_count_once_as_the_most_certain() -> None:
    (finding,) = find_secrets(f"password={KEYS['github_token']}")
    assert finding.kind.name == "github_token"


def test_a_finding_does_not_contain_the_secret() -> None:
    (finding,) = find_secrets(KEYS["github_token"])
    assert A36 not in repr(finding)


@pytest.mark.parametrize(
    "seed", ["password ", "eyJabcdefgh.", "-----BEGIN ", "://a:", "M" * 25 + ".", "1", "sk-a"]
)
def test_time_grows_linearly_with_the_text(seed: str) -> None:
    assert growth(find_secrets, seed, 200_000) < QUADRATIC


def test_every_kind_has_a_bounded_pattern() -> None:
    assert all(0 < kind.pattern.longest <= 10_000 for kind in KINDS)
