"""The extension of the page on extensions decides as the page says."""

import sys
import types
from importlib.metadata import EntryPoint

import pytest

from gateway.extensions import controlled_access
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId
from parley.config import from_mapping
from parley.wiring.extensions import GROUP, load_extensions
from tests.docs.blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "how-to" / "write-an-extension.md"
ROOM = Place("slack", "main", "C1", Audience.PUBLIC_ROOM, "T1")
ADA = PersonId("slack", "main", "U1")


async def test_the_extension_of_the_page_loads_and_answers_yes_and_no(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (block,) = [one for one in blocks_of(PAGE) if one.language == "python"]
    module = types.ModuleType("paid_workspaces")
    exec(compile(block.code, block.place, "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "paid_workspaces", module)
    settings = from_mapping({"extensions": {"options": {"paid": {"paid": "T1 T2"}}}})
    installed = [EntryPoint("paid", "paid_workspaces:extension", GROUP)]
    controller = load_extensions(settings, installed).access_controller
    yes = await controlled_access(controller, ADA, ROOM)
    no = await controlled_access(controller, ADA, replace(ROOM, workspace_id="T3"))
    assert (yes.allowed, yes.reason) == (True, "paid")
    assert (no.allowed, no.reason) == (False, "not_paid")
    assert no.detail == "The subscription of this workspace has ended."
