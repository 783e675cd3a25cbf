"""What stays is not walked through again."""

import gc

from parley.runtime import garbage


def test_what_exists_is_set_aside_and_what_comes_later_is_still_collected() -> None:
    thresholds = gc.get_threshold()
    try:
        garbage.freeze_startup_objects()
        assert gc.get_freeze_count() > 1_000
        ring: list[object] = []
        ring.append(ring)
        del ring
        assert gc.collect() >= 1
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
