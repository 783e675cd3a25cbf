"""Bytes become text, or a reason."""

import pytest

from memory.knowledge.ingest.prepare import FileText, text_of
from memory.knowledge.model import SkipReason
from safety.unicode import REDACTED

KEY = "AKIA" + "Q3EGRLTWNZXB7YJM"


@pytest.mark.parametrize(
    ("content", "text", "guessed"),
    [
        (b"plain\r\ntext\rend", "plain\ntext\nend", False),
        ("gr\u00fc\u00df".encode(), "gr\u00fc\u00df", False),
        (b"\xef\xbb\xbfmark", "mark", False),
        ("gr\u00fc\u00df".encode("utf-16"), "gr\u00fc\u00df", False),
        (b"\xfe\xff" + "gr\u00fc\u00df".encode("utf-16-be"), "gr\u00fc\u00df", False),
        ("gr\u00fc\u00df".encode("latin-1"), "gr\u00fc\u00df", True),
        (b"\x93quoted\x94 \x96 gr\xfc\xdf", "\u201cquoted\u201d \u2013 gr\u00fc\u00df", True),
        (b"\x81 gr\xfc\xdf", "\x81 gr\u00fc\u00df", True),
        ("gr\u00fc\u00df".encode() + b"\xff", "gr\u00fc\u00df\ufffd", True),
        ("\u00e9\xe0".encode() + b" \xc3 \xa0 ok", "\u00e9\u00e0 \ufffd \ufffd ok", True),
        ("\u6771\u4eac\u90fd".encode()[:-1] + b" end", "\u6771\u4eac\ufffd end", True),
    ],
)
def test_encodings_are_recognised(content: bytes, text: str, guessed: bool) -> None:
    assert text_of(content) == FileText(text, 0, guessed)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", SkipReason.EMPTY),
        (b" \n\t\n", SkipReason.EMPTY),
        (b"a\0b", SkipReason.BINARY),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(1, 30)) * 10, SkipReason.BINARY),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
            SkipReason.LFS_POINTER,
        ),
        (b"x=1;" * 5_000, SkipReason.MINIFIED),
        (KEY.encode() + b"\n", SkipReason.SECRET),
    ],
)
def test_what_is_not_text_for_people_is_skipped(content: bytes, reason: SkipReason) -> None:
    assert text_of(content) is reason


def test_binary_content_is_read_where_the_rules_want_it() -> None:
    result = text_of(b"text with a\0 byte", skip_binary=False)
    assert result == FileText("text with a byte", 0, True)


def test_secrets_are_replaced_and_lines_keep_their_numbers() -> None:
    lines = ["import os"] * 200
    lines[5] = f'aws_access_key_id = "{KEY}"'
    lines[10:14] = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEAx7ZkQ2rT5wN8bVq3LmYc1Df6Gh9JkPsUoXiWeRtAzSbCvMn",
        "x7ZkQ2rT5wN8bVq3LmYc1Df6Gh9JkPsUoXiWeRtAzSbCvMnMIIEpAIBAAKCAQEA",
        "-----END RSA PRIVATE KEY-----",
    ]
    lines[19] = "last = 19"
    result = text_of("\n".join(lines).encode())
    assert isinstance(result, FileText)
    assert result.redacted >= 2
    assert KEY not in result.text
    assert "MIIE" not in result.text
    assert REDACTED in result.text
    assert result.text.split("\n")[19] == "last = 19"
