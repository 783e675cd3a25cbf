"""A secret that was found is found in its copies too, and with hidden characters in it."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from safety.decoding import visible
from safety.secret_detection.detect import find_secrets, redact_secrets

SECRET = "Xy12zz89!ab/c"
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
COPIES = {
    "reversed": SECRET[::-1],
    "base64": b64encode(SECRET.encode()).decode(),
    "base64 of more": b64encode(f"bob:{SECRET}".encode()).decode(),
    "hexadecimal": SECRET.encode().hex(),
    "percent": quote(SECRET, safe=""),
    "spaced": " ".join(SECRET),
    "dashed": "-".join(SECRET),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_in_the_same_text_is_removed(copy: str) -> None:
    assert copy not in redact_secrets(f'password = "{SECRET}" and then {copy} there').text


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_of_a_known_secret_is_removed(copy: str) -> None:
    assert redact_secrets(f"try {copy} there", (SECRET,)).text == "try [SECRET_REDACTED] there"


def test_plain_words_and_short_secrets_are_not_searched_for() -> None:
    text = "the swordfish swims at 12:30"
    assert redact_secrets(text, ("swordfish", "12:3")).text == text


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u2060", "\u00ad", "\u202e", "\ufe0f", "\x00", "\u200d"]
)
def test_hidden_characters_do_not_protect_a_token(hidden: str) -> None:
    text = f"it is {TOKEN[:12]}{hidden}{TOKEN[12:]}, keep it"
    assert redact_secrets(text).text == "it is [SECRET_REDACTED], keep it"


def test_full_width_letters_do_not_protect_a_token() -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in TOKEN)
    assert redact_secrets(f"it is {wide}.").text == "it is [SECRET_REDACTED]."


def test_positions_refer_to_the_given_text() -> None:
    text = f"\u200b\u200bit is {TOKEN[:9]}\u200b{TOKEN[9:]} ok"
    (finding,) = find_secrets(text)
    assert text[finding.start : finding.end].replace("\u200b", "") == TOKEN
    assert visible("plain").places is None
