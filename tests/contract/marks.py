"""Which adapters a test is about: those that have something, those that do not, others."""

from collections.abc import Mapping
from typing import Final

import pytest

from gateway.ports import (
    CanAnswerInline,
    CanCheckMembership,
    CanClearButtons,
    CanDelete,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanShowLive,
    CanType,
)

PROTOCOLS: Final[Mapping[str, type]] = {
    "deletes": CanDelete,
    "typing": CanType,
    "read_marks": CanMarkRead,
    "reactions": CanReact,
    "inline_queries": CanAnswerInline,
    "files_in": CanFetchFiles,
    "live": CanShowLive,
    "tells_members": CanCheckMembership,
    "clears_buttons": CanClearButtons,
}
"""Abilities: an adapter has those whose methods its class has."""
FEATURES: Final = ("rooms", "threads", "files_out", "native_commands", "further_ids")
"""Facts of a platform that the program does not ask for; `Variant.features` names them."""

proves = pytest.mark.proves
lacks = pytest.mark.lacks
where = pytest.mark.where.with_args
