"""Links of an answer that the model was not given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.turn.given_links import addresses_in, with_given_links

GIVEN = frozenset({"https://t.me/c/1/2", "https://example.org/page?a=1"})


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("The release moves [1](https://t.me/c/1/2).", None),
        ("The release moves [1](https://t.me/c/1/3).", "The release moves 1."),
        ("It is at https://example.org/page?a=1, I think.", None),
        ("See https://t.me/c/1/9.", "See ."),
        ("See t.me/c/1/9 and www.example.com", "See  and "),
        ("See <https://t.me/c/1/9>", "See "),
        ("![chart](https://evil.example/x.png)", "chart"),
        ('[a](<https://evil.example/> "t") b', "a b"),
        ("[1]: https://evil.example/x", "[1]: "),
        ("https://ACME.slack.com/archives/C1/p1", ""),
        ("acme.slack.com/archives/C1/p1", ""),
        ("**[1](https://t.me/c/1/2)** and `code`", None),
        ("no link", None),
    ],
)
def test_only_given_links_stay(answer: str, shown: str | None) -> None:
    assert with_given_links(answer, GIVEN) == (answer if shown is None else shown)


def test_addresses_of_a_text_are_found() -> None:
    text = "see https://a.example/x, (https://b.example/y) and t.me/c/1/2."
    assert addresses_in(text) == {"https://a.example/x", "https://b.example/y", "t.me/c/1/2"}


@given(st.text(st.sampled_from("[]()<>! \nahtps:/.me1"), max_size=200))
def test_no_other_address_is_left(text: str) -> None:
    kept = with_given_links(with_given_links(text, GIVEN), GIVEN)
    assert addresses_in(kept) <= GIVEN or addresses_in(kept) <= addresses_in(text)
