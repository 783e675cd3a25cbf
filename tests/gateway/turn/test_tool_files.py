"""Files that tools return, from the bytes of a server to the sends of an answer."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from gateway.immutable import replace
from gateway.llm.anthropic.request import _written  # the form of one block
from gateway.llm.calibration import EXACT
from gateway.llm.chat_completions.limits import ServerLimits
from gateway.llm.chat_completions.refusal import refusal_of
from gateway.llm.chat_completions.request import PICTURE_LEFT_OUT, PICTURES_OF_TOOLS, to_body
from gateway.llm.plainer_call import LEFT_OUT, plainer_request
from gateway.llm.responses import _items  # the form of one message
from gateway.llm.tokens import estimate_messages
from gateway.message import OutboundFile
from gateway.people import Audience
from gateway.ports import (
    Capabilities,
    ImageBlock,
    ModelMessage,
    ModelRequest,
    TextBlock,
    ToolAnswer,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolSpec,
)
from gateway.turn.mcp_bounds import read_message
from gateway.turn.model_attempts import IMAGE_LEFT_OUT, fit
from gateway.turn.tool_files import (
    DOWNLOAD,
    MAX_ALL,
    MAX_ENCODED,
    MAX_FILE,
    MAX_FILES,
    MAX_SEEN,
    ShownFiles,
    decoded,
    file_of,
    name_in,
)
from tests.gateway.llm.asking import ADD, question
from tests.gateway.turn.mcp_program import PNG
from tests.gateway.turn.stubs import spec
from tests.support.gateway import Gateway, gateway
from tests.support.messages import place, received

CHART = OutboundFile("chart.png", "image/png", PNG)
CALL = ToolCall("c1", "draw", "{}")
KEY = "AKIA" + "IOSFODNN7ABCDEFG"
CALLED = ModelMessage("assistant", (CALL,))


@dataclass
class Drawing:
    """A tool that returns these files."""

    files: tuple[OutboundFile, ...] = (CHART,)
    spec: ToolSpec = field(default_factory=lambda: spec("draw"))

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (self.spec,)

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        return ToolResult("Sales of May", self.files)

    async def close(self) -> None:
        pass


def draws_once(request: ModelRequest) -> str | ModelMessage:
    last = request.messages[-1].content
    return "Here it is." if any(isinstance(b, ToolOutcome) for b in last) else CALLED


def outcome_of(g: Gateway) -> ToolOutcome:
    (outcome,) = [
        b for b in g.model.requests[-1].messages[-1].content if isinstance(b, ToolOutcome)
    ]
    return outcome


# --- the answer -------------------------------------------------------------------------------


async def test_a_picture_of_a_tool_follows_the_text_and_the_model_sees_it() -> None:
    async with gateway(tools=(Drawing(),)) as g:
        g.model.reply = draws_once
        await g.take(received("a chart"))

        assert [(one.part.text if one.part else "", one.file) for one in g.adapter.sent] == [
            ("Here it is.", None),
            ("", CHART),
        ]
        assert outcome_of(g).images == (ImageBlock("image/png", PNG),)
        told = (
            "Sales of May\n\n(chart.png is shown to the person below your answer: do not link it)"
        )
        assert outcome_of(g).content == told


async def test_the_outbox_holds_the_picture_until_it_is_sent() -> None:
    async with gateway(tools=(Drawing(),)) as g:
        g.model.reply = draws_once
        g.services.deliverer.submit = lambda *_: None  # type: ignore[method-assign]  # the process dies here
        await g.take(received("a chart"))

        waiting = await g.services.stores.outbox.waiting(9)
        assert [entry.outbound.file for entry in waiting] == [None, CHART]


async def test_a_type_that_the_platform_refuses_is_not_sent_and_the_model_is_told() -> None:
    only_png = Capabilities(file_types=frozenset({"image/png"}))
    gif = OutboundFile("moving.gif", "image/gif", b"GIF89a...")
    async with gateway(tools=(Drawing((gif, CHART)),), capabilities=only_png) as g:
        g.model.reply = draws_once
        await g.take(received("a chart"))

        assert [one.file for one in g.adapter.sent if one.file] == [CHART]
        assert "(moving.gif is not shown to the person: this platform" in outcome_of(g).content


async def test_nothing_is_sent_of_a_tool_after_a_failed_turn() -> None:
    def fails(request: ModelRequest) -> str | ModelMessage:
        answer = draws_once(request)
        return answer if isinstance(answer, ModelMessage) else ModelMessage("assistant", ())

    async with gateway(tools=(Drawing(),)) as g:
        g.model.reply = fails
        await g.take(received("a chart"))

        assert g.outcomes() == ["empty"]
        assert [one.file for one in g.adapter.sent] == [None]


@pytest.mark.parametrize(
    ("audience", "sent"), [(Audience.PUBLIC_ROOM, 1), (Audience.PRIVATE_ROOM, 2)]
)
async def test_a_text_file_with_a_secret_stays_out_of_public_rooms(
    audience: Audience, sent: int
) -> None:
    secret = OutboundFile("keys.csv", "text/csv", f"aws,{KEY}\n".encode())
    async with gateway(tools=(Drawing((secret, CHART)),)) as g:
        g.model.reply = draws_once
        await g.take(received("a chart", at=place(audience=audience), mentions_bot=True))

        assert len([one for one in g.adapter.sent if one.file]) == sent
        assert CHART in [one.file for one in g.adapter.sent]


async def test_a_tool_that_is_not_permitted_here_shows_nothing() -> None:
    private = replace(spec("draw", side_effects=True), secrets=True)
    async with gateway(tools=(Drawing(spec=private),)) as g:
        g.model.reply = draws_once
        await g.take(
            received("a chart", at=place(audience=Audience.PUBLIC_ROOM), mentions_bot=True)
        )

        assert not [one for one in g.adapter.sent if one.file]


# --- bounds -----------------------------------------------------------------------------------


def test_an_answer_has_at_most_four_files_and_each_once() -> None:
    shown = ShownFiles()
    pictures = [file_of(PNG + bytes([n]), "image/png", "x") for n in range(MAX_FILES + 2)]

    told, seen = shown.take([*pictures, pictures[0]])

    assert [file.name for file in shown.files] == ["x.png", "x-2.png", "x-3.png", "x-4.png"]
    assert told.count("not shown to the person: an answer has at most 4 files") == 2
    assert told.endswith("(x.png is shown to the person below your answer: do not link it)")
    assert len(seen) == MAX_FILES + 1


def test_the_files_of_an_answer_have_a_common_limit() -> None:
    shown = ShownFiles()
    large = [OutboundFile(f"{n}.bin", DOWNLOAD, bytes([n]) * MAX_FILE) for n in range(3)]

    told, seen = shown.take(large)

    assert sum(len(file.data) for file in shown.files) == MAX_ALL
    assert "10 MB together" in told
    assert seen == ()


def test_a_picture_that_models_do_not_take_is_shown_and_not_seen() -> None:
    large = OutboundFile("a.png", "image/png", PNG + bytes(MAX_SEEN))

    assert ShownFiles().take([large]) == (
        "(a.png is shown to the person below your answer: do not link it)",
        (),
    )


@pytest.mark.parametrize(
    ("data", "mime", "name", "expected"),
    [
        (PNG, "text/html", "a.html", ("a.png", "image/png")),
        (b"<svg onload=x>", "image/svg+xml", "a.svg", ("a.svg", DOWNLOAD)),
        (b"<html>", "text/html", "a.html", ("a.html", DOWNLOAD)),
        (b"x", "application/xhtml+xml", "a", ("a", DOWNLOAD)),
        (b"not a picture", "image/png", "a.png", ("a.png", DOWNLOAD)),
        (b"a,b", "text/csv", "../../etc/pass\u202ewd", ("passwd.csv", "text/csv")),
        (b"a,b", "text/csv; charset=utf-8", "", ("file.csv", "text/csv")),
        (b"x", "x\r\ny/z", "...", ("file", DOWNLOAD)),
        (
            b"x",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "s.xlsx",
            ("s.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ),
        (b"x", "text/plain", "n" * 500 + ".txt", ("n" * 76 + ".txt", "text/plain")),
    ],
)
def test_the_bytes_decide_on_a_picture_and_names_are_harmless(
    data: bytes, mime: str, name: str, expected: tuple[str, str]
) -> None:
    file = file_of(data, mime, name_in(name) or name)

    assert (file.name, file.mime) == expected
    assert file.data == data


def test_names_are_the_last_part_of_an_address() -> None:
    assert name_in("file:///tmp/a%20b.csv?x=1") == "a b.csv"
    assert name_in("ui://x/..%2F..%2Fetc%2Fpasswd") == "passwd"
    assert name_in("http://[") == ""


@pytest.mark.parametrize("encoded", ["a", "$$$$", "A" * (MAX_ENCODED + 4), ""])
def test_data_that_is_damaged_too_large_or_empty_has_a_reason(encoded: str) -> None:
    assert isinstance(decoded(encoded), str)


def result(*content: object) -> list[dict[str, object]]:
    body = {"jsonrpc": "2.0", "id": 1, "result": {"content": list(content)}}
    message = read_message(json.dumps(body).encode())
    assert message is not None
    pieces: list[dict[str, object]] = message.value["result"]["content"]
    return pieces


def picture(data: str) -> dict[str, object]:
    return {"type": "image", "mimeType": "image/png", "data": data, "extra": "x"}


def test_a_message_keeps_files_within_the_bounds() -> None:
    good = base64.b64encode(PNG).decode()
    pieces = result(*[picture(good)] * MAX_FILES, picture(good), picture("A" * (MAX_ENCODED + 4)))

    assert [piece["type"] for piece in pieces] == ["image"] * MAX_FILES + ["text"] * 2
    assert all(set(piece) == {"type", "data", "mimeType"} for piece in pieces[:MAX_FILES])
    assert pieces[MAX_FILES]["text"] == "(image, image/png: not shown, too many files)"


def test_a_picture_is_not_repeated_as_structured_text() -> None:
    good = base64.b64encode(PNG).decode()
    body = {"content": [picture(good)], "structuredContent": {"result": [{"data": good}]}}
    message = read_message(json.dumps({"jsonrpc": "2.0", "id": 1, "result": body}).encode())

    assert message is not None
    assert [piece["type"] for piece in message.value["result"]["content"]] == ["image"]


def test_a_link_to_a_resource_stays_a_link() -> None:
    (piece,) = result({"type": "resource_link", "name": "page", "uri": "http://10.0.0.1/x"})

    assert piece == {"type": "text", "text": "(page: http://10.0.0.1/x)"}


# --- the forms of the services ----------------------------------------------------------------

PICTURE = ImageBlock("image/png", PNG)
OUTCOME = ToolOutcome("c1", "drawn", images=(PICTURE,))
ENCODED = base64.b64encode(PNG).decode()
ASKED = question("a chart", CALLED, ModelMessage("user", (OUTCOME,)), tools=(ADD,))


def test_anthropic_gets_the_picture_in_the_result() -> None:
    written = _written(OUTCOME)

    assert written is not None
    source = {"type": "base64", "media_type": "image/png", "data": ENCODED}
    expected = [{"type": "text", "text": "drawn"}, {"type": "image", "source": source}]
    assert written["content"] == expected


def test_chat_completions_get_the_picture_behind_the_results() -> None:
    messages = to_body(ASKED, "m", ServerLimits(), "m", "max_tokens")["messages"]

    assert messages[-2]["content"] == "drawn"
    assert messages[-1]["role"] == "user"
    text, image = messages[-1]["content"]
    assert text["text"] == PICTURES_OF_TOOLS
    assert image["image_url"]["url"].endswith(ENCODED)
    without = ServerLimits(without=frozenset({"pictures"}))
    left_out = to_body(ASKED, "m", without, "m", "max_tokens")["messages"][-1]["content"]
    assert PICTURE_LEFT_OUT in str(left_out)
    assert ENCODED not in str(left_out)


def test_responses_get_the_picture_behind_the_results() -> None:
    output, pictures = _items(ModelMessage("user", (OUTCOME,)), "m")

    assert output == {"type": "function_call_output", "call_id": "c1", "output": "drawn"}
    assert pictures["content"][1]["image_url"].endswith(ENCODED)


def test_a_service_that_refuses_pictures_is_asked_without() -> None:
    refusal = refusal_of(400, {"error": {"message": "image input is not supported"}})

    plainer = plainer_request(ASKED, refusal)

    assert plainer is not None
    assert plainer.messages[-1].content == (ToolOutcome("c1", f"drawn\n\n{LEFT_OUT.text}"),)
    assert plainer_request(plainer, refusal) is None


def test_pictures_of_results_are_counted_and_left_out_if_they_do_not_fit() -> None:
    own = (ModelMessage("user", (TextBlock("a chart"),)), CALLED, ModelMessage("user", (OUTCOME,)))
    assert estimate_messages(own[2:]) > 1_600

    fitted = fit("Be brief.", (), (), own, 500, EXACT)

    assert fitted is not None
    (outcome,) = fitted.messages[-1].content
    assert isinstance(outcome, ToolOutcome)
    assert outcome.images == ()
    assert IMAGE_LEFT_OUT.text in outcome.content
