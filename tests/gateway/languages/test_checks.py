"""A translation has the holes, commands and marks of its English sentence."""

from gateway.languages.checks import problems_of
from tests.support.for_each import for_each


@for_each(
    "msgid, form, context, problem",
    [
        ("Hello {who}.", "Hallo {who}.", "", ""),
        ("Hello {who}.", "Hallo.", "", "lacks the hole {who}"),
        ("Hello.", "Hallo {who}.", "", "unknown hole {who}"),
        ("Hello {who}.", "{who}" * 5, "", ""),
        ("Hello {who}.", "{who}" * 6, "", "more than 5 times"),
        ("Write `/help`.", "Schreib `/hilfe`.", "", "backticks"),
        ("Write `/help`.", "Schreib /help.", "", "backticks"),
        ("**Note**", "*Hinweis*", "", "0 times **"),
        ("Yes\n", "Ja", "", "line breaks"),
        ("Open", "Öffnen", "button", ""),
        ("Open", "Die ganze Unterhaltung", "button", "at most 20"),
        ("Open", " ", "", "empty"),
        ("Open", "O\N{COMBINING DIAERESIS}ffnen", "", "decomposed"),
        ("Open", "Offen\N{RIGHT-TO-LEFT OVERRIDE}", "", "U+202E"),
        ("Open", "खो\N{ZERO WIDTH JOINER}लें", "", ""),
        ("Open", "x" * 4_001, "", "at most 4000"),
    ],
)
def test_a_form_is_compared_with_its_source(
    msgid: str, form: str, context: str, problem: str
) -> None:
    problems = list(problems_of(msgid, "", context, [form], 2))
    assert bool(problems) == bool(problem)
    assert not problem or any(problem in one for one in problems)


def test_a_form_may_leave_out_the_number() -> None:
    one, other = "{count} day of {who}", "{count} days of {who}"
    assert (
        list(problems_of(one, other, "", ["ein Tag von {who}", "{count} Tage von {who}"], 2)) == []
    )


def test_each_form_of_the_language_is_needed() -> None:
    assert list(problems_of("{count} day", "{count} days", "", ["{count} dni"], 3)) == [
        "It has 1 forms instead of 3"
    ]
