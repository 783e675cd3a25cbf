"""Texts that people read: values without a language, shown in the language of the reader."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from gateway.errors import BadInput
from gateway.languages.catalogue import key_of, translations_of
from gateway.languages.formats import formats_of
from gateway.text import (
    Amount,
    Joined,
    Language,
    Listed,
    Moment,
    Sentence,
    Size,
    Span,
    Text,
    Value,
    Verbatim,
    as_json,
    as_text,
    counted,
    described,
    from_json,
    label,
    text,
    verbatim,
)
from tests.support.for_each import for_each

DELETED = counted("I deleted {count} memory of {who}.", "I deleted {count} memories of {who}.")
AT = datetime(2026, 3, 7, 9, 5, tzinfo=UTC)


def language(code: str, plural: str, **sentences: str) -> Language:
    """A language with the sentences that a test needs, by their keys."""
    catalogue = {"": f"Plural-Forms: {plural}\n", **sentences}
    return Language(code, translations_of(catalogue), formats_of(code))


def test_a_sentence_in_english_is_the_sentence_itself() -> None:
    assert text("I know that already.").english == "I know that already."


@for_each(
    "count, expected",
    [(1, "1 memory of Ann"), (0, "0 memories of Ann"), (1_234, "1,234 memories of Ann")],
)
def test_a_count_chooses_the_form(count: int, expected: str) -> None:
    shown = DELETED.of(count=count, who=verbatim("Ann")).english
    assert shown == f"I deleted {expected}."


@for_each(
    "count, expected",
    [(1, "usunięto jedno"), (3, "usunięto 3 wspomnienia"), (5, "usunięto 5 wspomnień")],
)
def test_a_language_has_its_own_forms(count: int, expected: str) -> None:
    rule = "nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2;"
    forms = "usunięto jedno\0usunięto {count} wspomnienia\0usunięto {count} wspomnień"
    polish = language("pl", rule, **{key_of(DELETED.msgid, DELETED.plural): forms})
    assert polish.shown(DELETED.of(count=count, who=verbatim("Ann"))) == expected


def test_a_button_has_its_own_translation() -> None:
    german = language(
        "de",
        "nplurals=2; plural=n != 1;",
        **{key_of("Open", "", "button"): "Öffnen", "Open": "Offen"},
    )
    assert german.shown(label("Open")) == "Öffnen"
    assert german.shown(text("Open")) == "Offen"


def test_a_sentence_without_a_translation_is_shown_in_english() -> None:
    german = language("de", "nplurals=2; plural=n != 1;")
    assert german.shown(described("Show what I know about you")) == "Show what I know about you"


@for_each(
    "value, english, german",
    [
        (Moment(AT), "2026-03-07 09:05 UTC", "07.03.2026, 09:05 UTC"),
        (Moment(AT, "day"), "2026-03-07", "07.03.2026"),
        (Moment(AT.astimezone(timezone(timedelta(hours=-12))), "day"), "2026-03-07", "07.03.2026"),
        (Moment(AT, "clock"), "09:05 UTC", "09:05 UTC"),
        (Amount(1_234_500_000), "$1,234.5000", "1.234,5000\N{NO-BREAK SPACE}$"),
        (Size(1_500_000), "1.5 MB", "1,5 MB"),
        (Size(999), "999 B", "999 B"),
        (1_000_000, "1,000,000", "1.000.000"),
        (Listed(tuple(map(verbatim, "abc"))), "a, b and c", "a, b und c"),
        (Listed(tuple(map(verbatim, "abcde")), "or"), "a, b, c, d or e", "a, b, c, d oder e"),
        (Listed((verbatim("a"),)), "a", "a"),
        (Listed(()), "", ""),
    ],
)
def test_values_have_the_form_of_the_language(value: Value, english: str, german: str) -> None:
    sentence = text("{value}", value=value)
    assert sentence.english == english
    assert language("de", "nplurals=2; plural=n != 1;").shown(sentence) == german


@for_each(
    "seconds, expected",
    [
        *((0.4, "0 seconds"), (1, "1 second"), (119, "119 seconds"), (120, "2 minutes")),
        *((7_199, "119 minutes"), (7_200, "2 hours"), (259_200, "3 days"), (-5, "0 seconds")),
    ],
)
def test_a_length_of_time_has_at_least_two_units(seconds: float, expected: str) -> None:
    assert text("{span}", span=Span(seconds)).english == expected


def test_a_text_in_an_f_string_is_refused() -> None:
    with pytest.raises(TypeError, match="of\\(\\)"):
        f"{text('Hello')}"


def test_braces_in_words_of_people_stay() -> None:
    assert text("You wrote {words}.", words=verbatim("{count}")).english == "You wrote {count}."


def test_a_name_does_not_turn_the_direction_of_an_arabic_sentence() -> None:
    arabic = language(
        "ar", "nplurals=1; plural=0;", **{"Hello {who}, write `/x {who}`.": "{who}: `/x {who}`"}
    )
    shown = arabic.shown(text("Hello {who}, write `/x {who}`.", who=verbatim("Ann")))
    assert shown == "\u2068Ann\u2069: `/x Ann`"


values = st.recursive(
    st.builds(text, st.text()) | st.builds(Verbatim, st.text()),
    lambda inner: (
        st.builds(Joined, st.lists(inner, max_size=3).map(tuple), st.text(max_size=2))
        | st.builds(
            lambda fill, at, count: Sentence(
                "{a}{at}{n}{list}",
                (
                    ("a", fill),
                    ("at", Moment(at)),
                    ("n", count),
                    ("list", Listed((fill, fill))),
                ),
            ),
            inner,
            st.datetimes(timezones=st.just(UTC)),
            st.integers(-(2**60), 2**60),
        )
    ),
    max_leaves=6,
)


@given(values)
def test_a_stored_text_is_the_same_when_it_is_read(value: Text) -> None:
    stored = json.decode(json.encode(value), type=Text)
    assert stored == value
    assert stored.english == value.english


def test_a_hole_that_nothing_fills_is_an_error() -> None:
    with pytest.raises(KeyError):
        _ = text("{who} asked.", when=Moment(AT)).english


@for_each(
    "said",
    [
        verbatim("Ann's *dog*"),
        DELETED.of(count=3, who=text("nobody")),
        Joined((text("Yes."), Verbatim("a_b")), " "),
        text("At {at}, {list}.", at=Moment(AT), list=Listed((verbatim("a"), verbatim("b")))),
    ],
)
def test_a_stored_text_is_the_same_again(said: Text) -> None:
    assert from_json(as_json(said)) == said


@for_each("stored", ["I know that already.", "", '{"type":"sentence"}', '{"type":'])
def test_what_an_earlier_version_stored_stays_as_it_is(stored: str) -> None:
    assert from_json(stored) == verbatim(stored)


@for_each(
    "said, empty", [(verbatim(""), True), (Joined((verbatim(""),)), True), (text("Yes."), False)]
)
def test_a_text_that_says_nothing_is_false(said: Text, empty: bool) -> None:
    assert bool(said) is not empty


def test_an_error_of_an_extension_may_have_bare_words() -> None:
    error = BadInput("No kite is left.")
    assert (error.text, str(error)) == (verbatim("No kite is left."), "No kite is left.")


def test_english_words_become_a_text_and_a_text_stays_as_it_is() -> None:
    said = text("not connected")
    assert as_text(said) is said
    assert as_text("not *connected*") == verbatim("not *connected*")
