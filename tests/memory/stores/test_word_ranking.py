"""Ranks memories by their words."""

from hypothesis import given
from hypothesis import strategies as st

from memory.stores.word_ranking import (
    CHUNK,
    FEW,
    MANY,
    MAX_CANDIDATES,
    certainty,
    chosen,
    chunks,
    ranked,
)

COUNTS = st.lists(st.integers(0, 5_000), min_size=1, max_size=10)


@given(counts=COUNTS, data=st.data())
def test_scores_are_from_0_to_1_and_more_words_never_lower_them(
    counts: list[int], data: st.DataObject
) -> None:
    masks = data.draw(st.lists(st.integers(1, 2 ** len(counts) - 1), max_size=20))
    result = ranked(dict(enumerate(masks)), counts)
    scores = dict(result)
    assert all(0 < score <= 1 for score in scores.values())
    for number, mask in enumerate(masks):
        for other, more in enumerate(masks):
            if mask & more == mask:
                assert scores[number] <= scores[other] + 1e-9
    assert result == sorted(result, key=lambda hit: (-hit[1], -hit[0]))
    assert ranked({1: 2 ** len(counts) - 1}, counts)[0][1] > 1 - 1e-9


@given(counts=COUNTS)
def test_candidates_are_found_by_the_rarest_words(counts: list[int]) -> None:
    words = chosen(counts)
    assert bool(words) == any(counts)
    if words:
        assert counts[words[0]] == min(count for count in counts if count)
        assert len(words) == 1 or sum(counts[word] for word in words) <= MAX_CANDIDATES


@given(total=st.integers(0, 350), after=st.none() | st.integers(-1, 350))
def test_a_page_continues_after_the_previous_one(total: int, after: int | None) -> None:
    results = [(number, 1.0) for number in range(total)]
    rest = [hit for some in chunks(results, after) for hit in some]
    assert all(len(some) <= CHUNK for some in chunks(results, after))
    start = 0 if after is None else after + 1 if 0 <= after < total else total
    assert rest == results[start:]


def test_the_same_share_is_less_certain_in_more_memories() -> None:
    values = [certainty(0.2, memories) for memories in (0, FEW, 20, 100, MANY, 100_000)]
    assert values == sorted(values, reverse=True)
    assert values[:2] == [1.0, 1.0]
    assert values[-2:] == [0.2, 0.2]
    assert 0.2 < values[3] < values[2] < 1.0
    assert certainty(0.0, 100) == 0.0
    assert certainty(1.0, 100) == 1.0
