"""A person who writes a secret is notified that it was not stored; for a possible secret they are
asked."""

import pytest

from gateway.authorship import Material
from gateway.policy.history_redaction import redact_for_history, redact_messages
from gateway.ports.memory import ShownFooter
from gateway.turn.memory import LEFT_OUT, REMOVED, noted, secret_note

ROW = "Zm9vYmFyYmF6cXV4" * 5
DIGITS = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"


def note_for(*texts: str, shown: str = "") -> str:
    material = (Material("forwarded", shown, "Eve"),) if shown else ()
    after = tuple(Material("forwarded", redact_for_history(one.text), "Eve") for one in material)
    return secret_note(redact_messages(texts), material, after).english


@pytest.mark.parametrize(
    "text",
    [
        "my password is Xy12zz89x",
        "use AKIA" + "IOSFODNN7ABCDEFG please",
        "postgres://root:hunter22x@db.example/x",
        "Authorization: Bearer abc.def.ghi123456",
        f"password: {ROW}",
    ],
)
def test_definite_and_probable_secrets_are_reported(text: str) -> None:
    assert note_for("hello", text) == REMOVED.english
    assert note_for("look", shown=text) == REMOVED.english


@pytest.mark.parametrize("secret", [ROW, DIGITS])
def test_a_possible_secret_is_omitted_and_asked_about(secret: str) -> None:
    text = f"what do you make of {secret} here?"
    kept = redact_messages((text,))
    assert kept.texts == ("what do you make of [SECRET_REDACTED] here?",)
    assert kept.secrets == ()
    assert note_for(text) == LEFT_OUT.english
    answer = redact_for_history(f"{secret} is 40 characters long", kept.possible)
    assert secret not in answer


def test_possible_and_probable_secrets_are_one_line() -> None:
    assert note_for(f"my password is Xy12zz89x and {ROW}") == REMOVED.english


@pytest.mark.parametrize(
    "text",
    [
        "what is a password?",
        "how do I reset my PIN",
        f"see commit {DIGITS}",
        "the password is in the vault under pager",
        "look at https://example.com/a/very/long/path/that/goes/on/and/on/and/on/and/on/to/the/end",
        "",
    ],
)
def test_nothing_is_reported_for_ordinary_text(text: str) -> None:
    assert note_for(text) == ""
    assert note_for("look", shown=text) == ""
    assert redact_messages((text,)).texts == (text,)


def test_the_line_is_below_the_notes_of_memory() -> None:
    assert noted(ShownFooter("_Noted._"), REMOVED.english).note == f"_Noted._\n{REMOVED.english}"
    assert noted(ShownFooter(), REMOVED.english).note == REMOVED.english
    assert noted(ShownFooter("_Noted._"), "").note == "_Noted._"


def test_the_line_is_shown_also_where_undo_is_typed() -> None:
    answer = noted(ShownFooter("_Noted._", typed="_Noted · /undo mem-1_"), LEFT_OUT.english)
    assert answer.typed == f"_Noted · /undo mem-1_\n{LEFT_OUT.english}"
    assert noted(ShownFooter("_Noted._"), LEFT_OUT.english).typed == ""


def test_a_repeated_letter_is_stored() -> None:
    text = "a" * 80
    assert redact_messages((text,)).texts == (text,)
    assert note_for(text) == ""
