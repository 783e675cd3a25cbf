"""The references of files that a conversation keeps."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.immutable import replace
from gateway.message import Attachment
from gateway.ports import Capabilities
from gateway.turn.history_and_summary import MAX_PICTURES, MAX_REFERENCE, files_kept
from tests.support.messages import received

PICTURE = Attachment("image", "p1", "menu.png", "image/png", 100)
PLAN = Attachment("document", "d1", "plan.pdf", "application/pdf", 100)


def kept(*files: Attachment, quotes_by_id: bool = False) -> tuple[Attachment, ...]:
    capabilities = Capabilities(quotes_by_id=quotes_by_id)
    turn: Any = SimpleNamespace(
        connected=SimpleNamespace(manifest=SimpleNamespace(capabilities=capabilities))
    )
    return files_kept(turn, replace(received("look").message, attachments=files))


def test_a_picture_keeps_its_reference_and_another_file_does_not() -> None:
    assert kept(PLAN, PICTURE) == (replace(PLAN, ref=""), PICTURE)


@pytest.mark.parametrize("length", [MAX_REFERENCE, MAX_REFERENCE + 1])
def test_a_long_reference_is_not_kept(length: int) -> None:
    (one,) = kept(replace(PICTURE, ref="r" * length))
    assert len(one.ref) == (length if length <= MAX_REFERENCE else 0)


def test_the_references_of_the_first_pictures_are_kept() -> None:
    files = tuple(replace(PICTURE, ref=f"p{number}") for number in range(MAX_PICTURES + 5))
    assert [one.ref for one in kept(*files)] == [
        *(f"p{number}" for number in range(MAX_PICTURES)),
        *[""] * 5,
    ]


def test_where_replies_give_ids_alone_every_reference_is_kept() -> None:
    assert kept(PLAN, PICTURE, quotes_by_id=True) == (PLAN, PICTURE)
