"""Texts as the words that they are found by."""

from hypothesis import given
from hypothesis import strategies as st

from memory.text.terms import index_terms

ASCII = st.text(st.characters(codec="ascii"), max_size=80)


@given(
    ASCII
    | st.lists(st.sampled_from(["Running", "c++", "a.b-c", "_", "x_y", "#", "v1.2", "+"])).map(
        "".join
    )
)
def test_a_text_has_the_same_words_beside_text_of_another_script(text: str) -> None:
    assert index_terms(f"{text} 日").split() == [*index_terms(text).split(), "日"]


def test_names_are_found_whole_and_by_their_parts() -> None:
    assert index_terms("Running c++ on db.example-1") == "run c c++ on db exampl 1 db.example-1"
    long = "a" * 40 + "-" + "b" * 40
    assert index_terms(long) == f"{'a' * 40} {'b' * 40}"
