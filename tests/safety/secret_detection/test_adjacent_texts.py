"""An optimisation that skips the joint reading of two adjacent texts never hides a secret."""

import itertools

import pytest

from benchmarks.safety.keys import keys
from gateway.policy import history_redaction as kept_words
from gateway.policy.history_redaction import redact_messages
from safety.secret_detection.detect import may_hold_token, may_label

EACH = 17
"""Every so-many-th text of the corpus, and of the places at which it is broken."""

LAYOUTS = [
    *("my password:\nXy12zz89x", "login: bob\nXy12zz89x!", "the key is\nsk-a1B2c3D4e5F6g7H8"),
    *("Authorization: Bearer\neyJhbGciOiJIUzI1NiJ9", 'basicauth(\n"bob", "Xy12zz89x"'),
    *("login bob\npassword Xy12zz89x", "heroku:\n01234567-89ab-cdef-0123-456789abcdef"),
    *("recovery phrase:\n" + "apple banana cherry delta eagle forest garden harbour island jungle "
      "kitten ladder", "mein Passwort ist\nXy12zz89x", "パスワードは\nXy12zz89x"),
    *("4111 1111\n1111 1111", "4111 1111 1111 1111", "пароль\nXy12zz89x", "ssh: bob /\nXy12zz89x"),
    *("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7a1B2c3D4e5F6g7H8i9J0\n", "\"d\":\n\"x\""),
]  # fmt: skip


def _corpus() -> list[str]:
    """Texts of which nothing is cut off when they are read in two messages."""
    made = (text for *_, text in itertools.islice(keys(), 0, None, EACH))
    return [*LAYOUTS, *(text for text in made if len(text) <= kept_words.JOINED)]


def _broken(text: str) -> list[tuple[str, str]]:
    """The text in two messages, broken at every line and at some other places."""
    lines = [place for place, char in enumerate(text) if char == "\n"]
    return [(text[:at], text[at:]) for at in {*lines, *range(1, len(text), EACH)}]


def test_the_result_is_the_same_with_and_without_the_shortcut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [pair for text in _corpus() for pair in _broken(text)]
    spared = [redact_messages((after,), earlier=before) for before, after in pairs]
    monkeypatch.setattr(kept_words, "may_label", lambda _: True)
    monkeypatch.setattr(kept_words, "may_hold_token", lambda _: True)
    assert spared == [redact_messages((after,), earlier=before) for before, after in pairs]
    assert len(pairs) > 1_000
    assert sum(one.secrets != () for one in spared) > 100


@pytest.mark.parametrize("text", ["can you help?", "it is 12:30 already", "Guten Morgen, Ada!"])
def test_ordinary_text_uses_the_shortcut(text: str) -> None:
    assert not may_label(text)
    assert not may_hold_token(text)


@pytest.mark.parametrize("text", ["my pass\u200bword", "my ｐassword"])
def test_text_with_hidden_characters_never_uses_the_shortcut(text: str) -> None:
    assert may_label(text)
    assert may_hold_token(text)
