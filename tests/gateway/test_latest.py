"""A bounded mapping keeps the keys that were set last."""

from gateway.latest import Latest


def test_of_more_keys_the_one_that_was_set_the_longest_ago_goes() -> None:
    kept: Latest[str, int] = Latest(2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"a": 3, "c": 4}


def test_an_update_is_bounded_as_well() -> None:
    kept: Latest[int, None] = Latest(3)
    kept.update(dict.fromkeys(range(10)))
    assert list(kept) == [7, 8, 9]
