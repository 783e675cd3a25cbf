"""Invisible characters are removed from a text; visible ones remain."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.unicode import safe_unicode
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

TAGS = "".join(chr(0xE0000 + ord(char)) for char in "obey")


@for_each(
    ("text", "safe"),
    [
        ("pay \u202e001 \u202c now", "pay 001  now"),
        ("a\u2066b\u2069\u200e\u200f\u061cc", "abc"),
        (f"hello{TAGS}", "hello"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U0001f3f4"),
        ("ig\u200bno\u2060re\ufeff", "ignore"),
        ("scr\u200dipt\u200c", "script"),
        ("😀" + "".join(chr(0xE0100 + n) for n in range(16)), "😀"),
        ("a\ufe0f\ufe00\ufe01", "a"),
        ("\ufff9base\ufffaover\ufffb", "baseover"),
        ("a\ufdd0\uffff\U0001fffeb", "ab"),
        ("\ud83d\ude00 \ud83d", "😀 "),
        ("a\x00b\x1b[31mc\x7f\x9b", "ab[31mc"),
        ("one\u2028two\u2029three\x85four", "one\ntwo\nthree\nfour"),
        ("cafe\u0301", "café"),
        ("ㅤ\u115f\u00adx", "x"),
    ],
)
def test_hidden_characters_are_removed(text: str, safe: str) -> None:
    assert safe_unicode(text) == safe


@for_each(
    "text",
    [
        "line\nline\r\n\ttab",
        "👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👍🏽 🇩🇪 1️⃣ ☺️ ©️ 🙂‍↔️ 🧑🏿‍🚀",
        "می‌خواهم به خانه بروم",
        "क्‍ष और क्‌ष",
        "ශ්‍රී ලංකා",
        "مرحبا بالعالم، كيف الحال؟",
        "שלום עולם (123)",
        "日本語、中文、한국어",
        "葛\U000e0100飾区",
        "ᠮᠣᠩᠭᠣᠯ᠎ᠠ",
        "Ελληνικά, Русский, Türkçe, Tiếng Việt",
        "x² + y² ≤ z², a ∪\ufe00 b",
    ],
)
def test_ordinary_text_is_kept(text: str) -> None:
    assert safe_unicode(text) == unicodedata.normalize("NFC", text)


def test_combining_marks_are_limited() -> None:
    assert len(safe_unicode("a" + "\u0316" * 500)) == 31


@given(
    st.text(
        st.one_of(
            st.characters(),
            st.sampled_from(
                "\u200c\u200d\ufe0f\ufe0e\u0301\u0316ab1#\u20e3कم❤😀\U000e0100葛\u180b"
            ),
        ),
        max_size=40,
    )
)
def test_normalising_is_idempotent_and_gives_nfc(text: str) -> None:
    safe = safe_unicode(text)
    assert safe_unicode(safe) == safe
    assert unicodedata.is_normalized("NFC", safe)
    assert not any(0xE0000 <= ord(char) <= 0xE007F or 0xD800 <= ord(char) < 0xE000 for char in safe)
    assert all(unicodedata.category(char) != "Cc" or char in "\n\r\t" for char in safe)


@pytest.mark.parametrize("seed", ["\u0315\u0316", "\u200d", "a\u0301", "😀\u200d", "\ufe0f"])
def test_time_grows_linearly_with_the_text(seed: str) -> None:
    text = "a" + (seed * 100_000)[:100_000]
    assert seconds(lambda: safe_unicode(text), 5) < 5
