"""Output of commands that cannot steer the terminal."""

import io
import json

import pytest

from parley.cli.terminal import escaped, print_json, print_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("two lines\n\tand a tab", "two lines\n\tand a tab"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("one\rtwo\x9b31m", "one\\rtwo\\x9b31m"),
        ("bidi \u202e\u2066", "bidi \\u202e\\u2066"),
        ("name\udcff", "name\\udcff"),
        ("naïve 漢字\u3000空\u00a0b 🙂", "naïve 漢字\u3000空\u00a0b 🙂"),
    ],
)
def test_what_is_not_printed_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown
    stream = io.StringIO()
    print_text(text, stream)
    assert stream.getvalue() == shown


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"path": "\x1b\x9b\udcff"}])
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.rstrip("\n").isprintable()
    assert json.loads(out) == {"path": "\x1b\x9b\udcff"}
