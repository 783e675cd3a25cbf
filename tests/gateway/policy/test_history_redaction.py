"""The stored text: without secrets, their copies, and the parts of a split one."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.message import MAX_CONTENT
from gateway.policy import history_redaction as policy
from gateway.policy.history_redaction import (
    LAST_FOR,
    MAX_CONVERSATIONS,
    MAX_SECRETS,
    VALID_FOR,
    LastMessage,
    RecentSecrets,
    redact_for_history,
    redact_messages,
    redact_name,
)

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize("at", [6, 12, 24, 36])
def test_halves_of_a_token_in_two_messages_are_removed(at: int) -> None:
    kept = redact_messages((f"first: {TOKEN[:at]}", f"{TOKEN[at:]} second"))
    assert kept.texts == ("first: [SECRET_REDACTED]", "[SECRET_REDACTED] second")
    assert kept.secrets[-1] == TOKEN


@pytest.mark.parametrize("inside", [1, 6, 20, 39])
def test_a_token_at_the_cut_leaves_no_beginning(inside: int) -> None:
    text = ("word " * MAX_CONTENT)[: MAX_CONTENT - inside] + TOKEN
    (kept,) = redact_messages((text,)).texts
    for stored in (kept, redact_for_history(text)):
        assert len(stored) <= MAX_CONTENT
        assert TOKEN[: max(inside, 3)] not in stored[-60:]


def test_halves_of_a_long_token_are_removed() -> None:
    whole = "token=" + "aB3dE5gH7j" * 120
    kept = redact_messages((f"it is {whole[:700]}", f"{whole[700:]} second"))
    assert kept.texts == ("it is token=[SECRET_REDACTED]", "[SECRET_REDACTED] second")


def test_a_copy_of_a_long_secret_is_removed() -> None:
    recent = RecentSecrets()
    secret = "q8Zk3Vt7Lm2Xw9Rb5Nc1Hd6J" * 30
    recent.add("one", (secret,), NOW)
    copy = redact_for_history(f"again {secret} please", recent.of("one", NOW))
    assert copy == "again [SECRET_REDACTED] please"


def test_a_half_is_removed_from_the_previous_message() -> None:
    kept = redact_messages((TOKEN[20:],), earlier=f"it is {TOKEN[:20]}")
    assert kept.texts == ("[SECRET_REDACTED]",)
    assert kept.earlier == "it is [SECRET_REDACTED]"


def test_text_after_the_second_half_stays() -> None:
    first, second = "nvapi-Y7UtCkexZy8xZ86", "ARnYuPHst5_MDXykCrBMRMwNOuq9gpXJe8lsiyAUTgpGHWZ7-"
    kept = redact_messages((f"{second} and not the old one",), earlier=f"my key is {first}")
    assert kept.texts == ("[SECRET_REDACTED] and not the old one",)


def test_a_password_in_the_message_after_its_announcement_is_removed() -> None:
    kept = redact_messages(("my password:", "Xy12zz89x"))
    assert kept.texts == ("my password:", "[SECRET_REDACTED]")
    assert kept.earlier is None


def test_ordinary_messages_stay() -> None:
    texts = ("I forgot my password", "again", "can you help?", "it is 12:30 already")
    assert redact_messages(texts, earlier="hello").texts == texts


def test_a_copy_in_a_later_message_is_removed() -> None:
    first = redact_messages(("my password is Xy12zz89x",))
    later = redact_messages(("reversed that is x98zz21yX",), first.secrets)
    assert later.texts == ("reversed that is [SECRET_REDACTED]",)


def test_a_name_that_is_a_token_is_removed() -> None:
    assert redact_name(TOKEN) == "[SECRET_REDACTED]"
    assert redact_name("Ada Lovelace") == "Ada Lovelace"
    assert redact_name("") == ""


def test_hidden_characters_do_not_protect_a_token() -> None:
    assert redact_for_history(f"{TOKEN[:9]}\u200b{TOKEN[9:]}") == "[SECRET_REDACTED]"


def test_secrets_are_remembered_per_conversation_for_a_limited_time() -> None:
    recent = RecentSecrets()
    recent.add("one", ("Xy12zz89",), NOW)
    assert recent.of("one", NOW) == ("Xy12zz89",)
    assert recent.of("two", NOW) == ()
    assert recent.of("one", NOW + VALID_FOR + timedelta(seconds=1)) == ()
    recent.forget("one")
    assert recent.of("one", NOW) == ()


def test_the_number_of_remembered_secrets_is_limited() -> None:
    recent = RecentSecrets()
    recent.add("one", tuple(f"secret-{number}" for number in range(2 * MAX_SECRETS)), NOW)
    assert len(recent.of("one", NOW)) == MAX_SECRETS
    for number in range(MAX_CONVERSATIONS):
        recent.add(f"other {number}", ("Xy12zz89",), NOW)
    assert recent.of("one", NOW) == ()


def test_the_last_message_of_a_person_is_remembered_for_a_limited_time() -> None:
    recent = RecentSecrets()
    recent.add_message("one", "ada", LastMessage("1", "hello", NOW))
    assert recent.last_words("one", "bob", NOW) is None
    assert recent.last_words("one", "ada", NOW) == LastMessage("1", "hello", NOW)
    assert recent.last_words("one", "ada", NOW + LAST_FOR + timedelta(seconds=1)) is None


async def test_erasing_a_person_removes_their_remembered_secrets() -> None:
    recent = RecentSecrets()
    recent.add("one", ("Xy12zz89",), NOW, "ada")
    recent.add("one", ("Ab34yy67",), NOW, "bob")
    recent.add_message("one", "ada", LastMessage("1", "half of a secret", NOW))
    await recent.erase("tenant", ("ada",))
    assert recent.of("one", NOW) == ("Ab34yy67",)
    assert recent.last_words("one", "ada", NOW) is None


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are looked through for secrets."""
    read: list[str] = []
    for name in ("find_secrets", "redact_secrets"):
        real = getattr(policy, name)

        def noted(text: str, *given: Sequence[str], real: Any = real) -> Any:
            read.append(text)
            return real(text, *given)

        monkeypatch.setattr(policy, name, noted)
    return read


def test_an_ordinary_message_is_searched_once(readings: list[str]) -> None:
    redact_messages(("can you help me with the ferry?",), earlier="good morning, it is late")
    assert readings == ["can you help me with the ferry?"]


def test_a_name_is_searched_once(readings: list[str]) -> None:
    assert [redact_name("Augusta Ada King") for _ in range(3)] == ["Augusta Ada King"] * 3
    assert len(readings) <= 1
