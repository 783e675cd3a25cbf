"""A secret is removed to its last character, however long it is and however it is wrapped."""

import random
import string

import pytest

from safety.secret_detection.detect import redact_and_cut, redact_secrets
from tests.support.for_each import for_each

LETTERS = string.ascii_letters + string.digits
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def made(length: int, alphabet: str = LETTERS) -> str:
    source = random.Random(length)
    return "".join(source.choice(alphabet) for _ in range(length))


def shows(text: str, secret: str) -> bool:
    """Return True if eight consecutive characters remain."""
    return any(secret[i : i + 8] in text for i in range(0, len(secret) - 7, 4))


@for_each("length", [200, 256, 399, 400, 401, 600, 4_001, 20_000])
@for_each(
    "text",
    [
        *("token={} rest", "my password is {}", 'password: "{}"', "<apiToken>{}</apiToken>"),
        *("密码是{}", "curl -u bob:{} a.example", "https://a.example/?api_key={}&page=2"),
        *("postgres://bob:{}@db.example/shop", "Authorization: Bearer {}", "acme_live_{}"),
        *("mysql -u root -p{} shop", "--password {}"),
    ],
)
def test_no_tail_of_a_long_value_remains(text: str, length: int) -> None:
    secret = made(length)
    left = redact_secrets(text.format(secret)).text
    assert not shows(left, secret)


def test_the_text_behind_a_long_value_stays() -> None:
    left = redact_secrets(f"https://a.example/?api_key={made(900)}&page=2 is slow").text
    assert left == "https://a.example/?api_key=[SECRET_REDACTED]&page=2 is slow"


def test_a_quoted_passphrase_with_spaces_is_removed_to_its_closing_quote() -> None:
    words = " ".join(made(9) for _ in range(80))
    left = redact_secrets(f'passphrase = "{made(450)} {words}" # rotate').text
    assert left.endswith('" # rotate')
    assert not shows(left, words)


@for_each("width", [44, 64, 76])
@for_each("joint", ["\n", "\n    ", "\r\n", '\\n" +\n  "', "' \\\n  '", "\n> "])
@for_each(
    "text", ["API_SECRET={}\nnext=1", 'client_secret = "{}"\nnext = 1', "my token is {}\nthanks"]
)
def test_the_lines_of_a_wrapped_value_are_removed(text: str, joint: str, width: int) -> None:
    secret = made(500, LETTERS + "+/")
    lines = [secret[start : start + width] for start in range(0, len(secret), width)]
    left = redact_secrets(text.format(joint.join(lines))).text
    assert not [line for line in lines if line in left]
    assert text.rpartition("\n")[2] in left


def test_a_line_of_prose_under_a_key_stays() -> None:
    text = f"API_SECRET={made(64)}\ninternationalization\nis the next topic"
    left = redact_secrets(text).text
    assert left == "API_SECRET=[SECRET_REDACTED]\ninternationalization\nis the next topic"


@pytest.mark.parametrize("inside", [1, 4, 5, 20, 39])
def test_a_cut_leaves_no_beginning_of_a_secret(inside: int) -> None:
    text = "word " * 40 + "x" * (inside % 5)
    short = redact_and_cut(f"{text} {TOKEN}", len(text) + 1 + inside)
    assert "ghp" not in short
    assert len(short) <= len(text) + 1 + inside
