"""PDFs in requests: as each service takes them, and as words where a model takes none."""

import base64
from typing import Any

import pytest

from gateway.llm.anthropic.request import to_body as anthropic_body
from gateway.llm.chat_completions.limits import ServerLimits
from gateway.llm.chat_completions.refusal import ServerRefusal, parts_of
from gateway.llm.chat_completions.request import to_body as chat_body
from gateway.llm.factory import ModelChoice, single_provider
from gateway.llm.plainer_call import plainer_request, without_pdfs
from gateway.llm.responses import to_body as responses_body
from gateway.llm.tokens import IMAGE_TOKENS, estimate_block
from gateway.ports import DocumentBlock, ModelMessage, ModelRequest, TextBlock
from simulators.anthropic.checks import check_request

PDF = DocumentBlock("pages 1, 3 of `scan.pdf`", b"%PDF-1.7 data", 2, "You do not see pages 1, 3.")
REQUEST = ModelRequest("be kind", (ModelMessage("user", (PDF, TextBlock("read it"))),))
DATA = base64.b64encode(PDF.data).decode()


def test_claude_gets_a_document() -> None:
    body = anthropic_body(REQUEST, "claude")

    check_request(body)
    (first, _) = body["messages"][0]["content"]
    assert (first["type"], first["title"]) == ("document", PDF.name)
    assert first["source"] == {
        "type": "base64",
        "media_type": "application/pdf",
        "data": DATA,
    }


def test_the_responses_api_gets_a_file() -> None:
    body = responses_body(REQUEST, "gpt", "maker", encrypted=True)

    part = body["input"][-1]["content"][0]
    assert part == {
        "type": "input_file",
        "filename": PDF.name,
        "file_data": f"data:application/pdf;base64,{DATA}",
    }


def chat_parts(*without: Any) -> Any:
    limits = ServerLimits(frozenset(without))
    return chat_body(REQUEST, "m", limits, "maker", "max_tokens")["messages"][-1]["content"]


def test_chat_completions_get_a_file_only_where_the_server_takes_it() -> None:
    assert chat_parts()[0]["file"]["file_data"] == f"data:application/pdf;base64,{DATA}"
    assert chat_parts("pdf")[0] == {"type": "text", "text": PDF.instead}
    assert chat_parts("pdf", "text_parts") == f"{PDF.instead}\n\nread it"


@pytest.mark.parametrize(
    ("choice", "takes"),
    [
        (ModelChoice("openai", "m", "k", "http://127.0.0.1:1/v1"), False),
        (ModelChoice("openai", "m", "k", "http://127.0.0.1:1/v1", pdf=True), True),
        (ModelChoice("openai", "m", "k", api="chat"), True),
        (ModelChoice("openai", "m", "k", api="chat", pdf=False), False),
    ],
)
def test_the_entry_of_a_model_says_whether_it_takes_pdfs(choice: ModelChoice, takes: bool) -> None:
    provider: Any = single_provider(choice)

    body = provider.known_body(REQUEST, "m")

    assert ("pdf" in parts_of(body)) is takes


def test_a_refused_pdf_becomes_words_in_this_request() -> None:
    for words in ("This model does not support PDF input", "input_file is not supported"):
        plainer = plainer_request(REQUEST, ServerRefusal(400, (), words.lower()))
        assert plainer is not None
        assert plainer.messages[0].content[0] == TextBlock(PDF.instead)
    assert plainer_request(REQUEST, ServerRefusal(400, (), "no such tool")) is None


def test_a_model_that_takes_no_pdf_reads_which_pages_it_misses() -> None:
    assert without_pdfs(REQUEST).messages[0].content[0] == TextBlock(PDF.instead)
    assert without_pdfs(without_pdfs(REQUEST)) == without_pdfs(REQUEST)


def test_a_pdf_counts_its_pages() -> None:
    assert estimate_block(PDF) >= 2 * IMAGE_TOKENS
