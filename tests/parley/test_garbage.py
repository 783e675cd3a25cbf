"""What stays is not walked through again."""

import gc

from parley import garbage


def test_collections_come_after_more_objects_than_pythons_own() -> None:
    thresholds = gc.get_threshold()
    try:
        garbage.collect_rarely()
        assert gc.get_threshold() == (garbage.YOUNG, *thresholds[1:])
    finally:
        gc.set_threshold(*thresholds)


def test_what_exists_is_set_aside_and_what_comes_later_is_still_collected() -> None:
    thresholds = gc.get_threshold()
    try:
        garbage.set_aside()
        assert gc.get_freeze_count() > 1_000
        ring: list[object] = []
        ring.append(ring)
        del ring
        assert gc.collect() >= 1
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
