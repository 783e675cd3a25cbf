"""No credential reaches a public room, not even in pieces; everything else arrives whole."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.people import Audience
from gateway.policy.response_filter import REPLACEMENT, StreamFilter, filter_response
from tests.safety.secret_detection.test_detect import KEYS
from tests.support.for_each import for_each
from tests.support.processor_time import seconds
from tests.support.property_cases import cases

PUBLIC = Audience.PUBLIC_ROOM

KEYS_WITH_A_LEAD = ("aws_secret", "slack_webhook")

# What may be shown, and what may not.
SECRETS = [
    *(("", KEYS[name]) for name in KEYS if name not in KEYS_WITH_A_LEAD),
    ("aws_", KEYS["aws_secret"].removeprefix("aws_")),
    ("https://", KEYS["slack_webhook"].removeprefix("https://")),
    ("postgres", "://bob:hunter2@db.example/x"),
    ("", 'password = "hunter2"'),
    ("", "PASSWORD': 'hunter2"),
    ("", 'api_key: "hunter2"'),
    ("", "apikey='hunter2"),
    ("", "Bearer hunter2"),
    ("", "ghp\\_" + "a1" * 18),
    ("", "password \\= 'hunter2'"),
    ("", "ghp_" + "a1" * 9 + "<b></b>" + "a1" * 9),
    ("", "ghp_" + "a1" * 9 + "<!-- x -->" + "a1" * 9),
    ("", "ghp_" + "a1" * 9 + "****" + "a1" * 9),
    ("<", "ghp\\_" + "a1" * 18),
    ("](", "ghp\\_" + "a1" * 18),
    ("", "&#103;hp_" + "a1" * 18),
    ("", "ghp&lowbar;" + "a1" * 18),
    ("", "ghp_" + "a1" * 9 + "&#x61;1" + "a1" * 8),
    ("", "AKIA" + "Q3" * 4 + "~~" + "Q3" * 4),
    ("", "AKIA" + "Q3" * 4 + "`" + "Q3" * 4),
    ("", "AKIA" + "Q3" * 4 + "\u200b" + "Q3" * 4),
    ("", "AKIA" + "Q3" * 4 + "&ZeroWidthSpace;" + "Q3" * 4),
    ("", "\uff21KIA" + "Q3" * 8),
    ("", "AKIA" + "Q3" * 4 + "](https://e.org)[" + "Q3" * 4),
    ("", "AKIA" + "Q3" * 4 + "}\\text{" + "Q3" * 4),
    ("", "pass&#119;ord = 'hunter2'"),
    ("https://e.org/?k=", "%67hp_" + "a1" * 18),
    ("https://e.org/?k=", "ghp%5F" + "a1" * 18),
]
ORDINARY = [
    "The password is kept in the vault.",
    "Use `api_key` as the header's name: it is required.",
    "Load-bearing walls; the bearer.",
    "git clone https://github.com/owner/repo.git at 12:30:45",
    "sk-, ghp_, AKIA, xoxb- and eyJ begin tokens; -----BEGIN begins a key.",
    "C:\\path\\to\\file, a\\_b and \\*stars\\*",
    "日本語 🎉 password",
    "100%",
    "Save 20% of it: https://e.org/?q=a%20b%2Fc%",
    "",
]


def released(pieces: list[str], audience: Audience = PUBLIC) -> tuple[str, StreamFilter]:
    """Everything that a stream lets through."""
    stream = StreamFilter(audience)
    return "".join([*map(stream.feed, pieces), stream.finish()]), stream


def cut_at(text: str, places: list[int]) -> list[str]:
    """The text in pieces."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[a:b] for a, b in itertools.pairwise(ends)]


@for_each("secret", list(map("".join, SECRETS)))
def test_a_secret_is_replaced_by_a_sentence_in_a_public_room(secret: str) -> None:
    decision = filter_response(f"Here you are: {secret}", PUBLIC)
    assert (decision.text, decision.blocked) == (REPLACEMENT.english, True)
    assert decision.reason.startswith("secret_")


@for_each("audience", [Audience.DIRECT, Audience.PRIVATE_ROOM])
@for_each("secret", list(map("".join, SECRETS[-5:])))
def test_other_audiences_are_not_filtered(secret: str, audience: Audience) -> None:
    assert filter_response(secret, audience).text == secret
    assert released([secret], audience)[0] == secret
    assert filter_response(secret, audience).reason == "not_public"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_unchanged(text: str) -> None:
    decision = filter_response(text, PUBLIC)
    assert (decision.text, decision.reason, decision.blocked) == (text, "no_secret", False)
    assert released(list(text))[0] == text


def test_the_sentence_is_exactly_the_specified_one() -> None:
    assert REPLACEMENT.english == (
        "I found relevant information but it may contain sensitive data."
        " Please ask in a private channel."
    )


@for_each(("lead", "secret"), SECRETS)
def test_no_part_of_a_secret_passes_letter_by_letter(lead: str, secret: str) -> None:
    lead = f"Of course, it is 7 < 8: {lead}"
    shown, stream = released(list(f"{lead}{secret} and more"))
    assert stream.blocked
    assert lead.startswith(shown)


@settings(max_examples=cases(400), deadline=None)
@given(
    before=st.one_of(st.text(max_size=40), st.sampled_from(ORDINARY)),
    secret=st.sampled_from(SECRETS),
    after=st.text(max_size=20),
    places=st.lists(st.integers(0, 500), max_size=20),
)
def test_no_part_of_a_secret_passes_at_any_chunk_size(
    before: str, secret: tuple[str, str], after: str, places: list[int]
) -> None:
    shown, stream = released(cut_at(before + "".join(secret) + after, places))
    assert stream.blocked
    assert (before + secret[0]).startswith(shown)


@settings(max_examples=cases(400), deadline=None)
@given(
    parts=st.lists(
        st.one_of(
            st.text(max_size=10),
            st.sampled_from(
                [*ORDINARY, "password", " = ", "'", "bearer", "sk-", "eyJ", "://", ":", "@"]
            ),
        ),
        max_size=12,
    ),
    places=st.lists(st.integers(0, 500), max_size=20),
)
def test_the_streamed_and_the_complete_filter_agree(parts: list[str], places: list[int]) -> None:
    text = "".join(parts)
    whole = filter_response(text, PUBLIC)
    shown, stream = released(cut_at(text, places))
    assert stream.blocked == whole.blocked
    assert shown == text or (whole.blocked and text.startswith(shown))


def test_after_a_secret_nothing_more_is_released() -> None:
    stream = StreamFilter(PUBLIC)
    assert stream.feed("Bearer abc") == ""
    assert stream.feed(" and a lot more text") == ""
    assert stream.finish() == ""
    assert stream.reason == "secret_bearer_token"


def test_the_held_back_text_is_limited() -> None:
    stream = StreamFilter(PUBLIC)
    shown = sum(len(stream.feed("eyJ" + "a" * 97)) for _ in range(100))
    assert shown > 10_000 - 400


@pytest.mark.parametrize(
    "seed",
    [
        "plain words, ",
        "password",
        "eyJabcdefgh",
        "://a:",
        "MMMM.",
        "\\",
        "bearer   ",
        "<b>",
        "<!--",
        "eyJ<b",
    ],
)
def test_the_time_grows_linearly_with_the_answer(seed: str) -> None:
    short, long = 4_000, 24_000
    limit = 3 * long / short * seconds(lambda: filtered(seed, short))
    assert seconds(lambda: filtered(seed, long), limit) < limit


def filtered(seed: str, length: int) -> None:
    """An answer, whole and as it is written."""
    text = (seed * length)[:length]
    filter_response(text, PUBLIC)
    released([text[i : i + 500] for i in range(0, length, 500)])
