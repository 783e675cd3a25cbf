"""The offline model answers questions about repositories through the tools, and only with them."""

import json

import pytest

from gateway.llm.offline_tools import NOT_FOUND, repository_call, repository_report
from gateway.ports import ModelMessage, ModelRequest, TextBlock, ToolSpec

TOOLS = tuple(
    ToolSpec(name, name, {"type": "object"}, side_effects=False)
    for name in ("search_code_kb", "search_decisions", "search_incidents")
)


def asked(question: str, tools: tuple[ToolSpec, ...] = TOOLS) -> str:
    """Return the name of the tool that a question leads to, empty for none."""
    request = ModelRequest("", (ModelMessage("user", (TextBlock(question),)),), tools)
    call = repository_call(question, request)
    return "" if call is None else call.name


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("Where do we store the orders?", "search_code_kb"),
        ("how does it work?", ""),
        ("How does our queue retry?", "search_code_kb"),
        ("Why did we choose SQLite?", "search_decisions"),
        ("What did we decide about SQLite?", "search_decisions"),
        ("Was there an outage in October?", "search_incidents"),
        ("Where do we store the orders.", ""),
        ("where do I park?", ""),
        ("hello?", ""),
    ],
)
def test_a_question_leads_to_its_tool(question: str, tool: str) -> None:
    assert asked(question) == tool
    assert asked(question, ()) == ""


def test_a_result_is_reported_with_its_citation() -> None:
    entry = {
        "title": "ADR-007", "status": "accepted", "text": "We use\na queue.",
        "citation": "a.md:1-2@c0ffee", "link": "https://github.com/a/b/blob/c/a.md#L1-L2",
    }  # fmt: skip
    report = repository_report(json.dumps({"results": [entry]}))
    assert "**ADR-007** (accepted): “We use a queue.”" in report
    assert "[`a.md:1-2@c0ffee`](https://github.com/a/b/blob/c/a.md#L1-L2)" in report


def test_what_replaced_a_decision_is_named() -> None:
    entry = {"title": "ADR-007", "status": "superseded", "superseded_by": "ADR-009", "text": "x"}
    assert "(superseded by ADR-009)" in repository_report(json.dumps({"results": [entry]}))


@pytest.mark.parametrize("content", ['{"results": []}', "{}", "[]", '{"results": [1]}'])
def test_without_a_result_it_says_so(content: str) -> None:
    assert repository_report(content) == NOT_FOUND
