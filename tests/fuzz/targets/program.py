"""Fuzz targets for tools, the API and the configuration."""

import base64
import contextlib
from datetime import UTC, datetime
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from gateway.llm.json_text import parse_object
from gateway.message import Attachment, image_mime
from gateway.turn.attachments import FetchedFile, to_content
from gateway.turn.mcp_bounds import UnusableAnswer, read_message
from gateway.turn.mcp_format import MAX_RESULT, result_of, tool_spec
from gateway.turn.tool_files import MAX_FILE
from memory.actions.documents import Restore
from memory.actions.memories import MemoryBody, MemorySearch
from memory.actions.reviews import Reject
from parley.config import SettingsError, from_mapping
from parley.config.yaml_file import parse_yaml
from parley.http.access import RequestFacts, authorize
from parley.http.api.addresses import DocumentBody
from parley.security.tokens import BadToken, read
from tests.fuzz.target import Target, on_json, on_text, text_of

BODIES: Final[tuple[type[BaseModel], ...]] = (MemoryBody, DocumentBody, Restore, Reject)
KEY: Final = b"k" * 32
NOW: Final = datetime(2026, 11, 22, tzinfo=UTC)
TOOL: Final = {"name": "add", "title": None, "description": "Adds", "annotations": None,
               "input_schema": {"type": "object", "properties": {"a": {}}}}  # fmt: skip


def _result(value: Any) -> None:
    """Fuzz a server's result from its bytes to the text for the model."""
    result = {"content": value, "structuredContent": value, "tools": value}
    try:
        message = read_message(to_json({"jsonrpc": "2.0", "id": 1, "result": result}))
    except (UnusableAnswer, ValueError):  # half a surrogate pair is in no message
        return
    assert message is not None
    content = message.value["result"]["content"]
    blocks = [_block(one) for one in content] if isinstance(content, list) else []
    answer = result_of("draw", blocks)
    assert len(answer.text) <= MAX_RESULT
    for file in answer.files:
        assert 0 < len(file.data) <= MAX_FILE
        assert file.name == PurePosixPath(file.name).name
        assert image_mime(file.data) == (file.mime if file.mime.startswith("image/") else "")


def _block(piece: dict[str, Any]) -> SimpleNamespace:
    """Return a piece of content as the library parses it."""
    one = {**piece, "mime_type": piece.get("mimeType", "")}
    if isinstance(resource := piece.get("resource"), dict):
        one["resource"] = SimpleNamespace(**resource, mime_type=resource["mimeType"])
    return SimpleNamespace(**one)


def _tool(value: Any) -> None:
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        texts = {key: value.get(key) for key in ("title", "description")}
        if not all(text is None or isinstance(text, str) for text in texts.values()):
            return
        spec = tool_spec("s", SimpleNamespace(**{**TOOL, **value, "annotations": None}))
        assert spec is None or len(spec.name) <= 64


def _body(data: bytes) -> None:
    for model in BODIES:
        try:
            model.model_validate_json(data)
        except ValidationError as error:
            error.errors(include_url=False, include_input=False)


def _query(value: Any) -> None:
    try:
        MemorySearch.model_validate(value)
    except ValidationError:
        return


def _settings(text: str) -> None:
    try:
        from_mapping(parse_yaml(text, "f.yaml").values)
    except SettingsError as error:
        str(error)


def _arguments(text: str) -> None:
    with contextlib.suppress(ValueError):
        parse_object(text)


def _token(text: str) -> None:
    for token in (
        text,
        "parley_" + text,
        "parley_" + base64.urlsafe_b64encode(text.encode()).decode(),
    ):
        try:
            read(KEY, token, NOW)
        except BadToken:
            continue
        raise AssertionError("a token without its signature is good")


def _file(data: bytes) -> None:
    kinds = ("image", "document", "audio", "video", "other")
    head, rest = (data[0], data[1:]) if data else (0, b"")
    name = text_of(data[:40])[:60]
    attachment = Attachment(kinds[head % 5], "ref", name, "text/plain", len(rest))  # type: ignore[arg-type]
    to_content([FetchedFile(attachment, rest), FetchedFile(attachment, None, "gone")])


def _entry(value: Any) -> None:
    """No request without a loopback name and without a token enters."""
    if not isinstance(value, dict):
        return
    headers = {str(k).lower(): v for k, v in value.items() if isinstance(v, str)}
    entry = authorize(RequestFacts("POST", headers), "")
    if entry.allowed and "host" in headers:
        host = headers["host"]
        assert "evil" not in host, host


TARGETS: Final[tuple[Target, ...]] = (
    on_json("mcp-result", _result, [{"type": "text", "text": "x"}, {"type": "image"}]),
    on_json("mcp-tool", _tool, TOOL),
    on_text("tool-arguments", _arguments, '{"a": 1}', '{"a": [1, {"b": null}]'),
    Target("api-bodies", _body, (b'{"content": "x", "type": "fact", "tags": ["a"]}',
                                 b'{"version": 1}'), as_json=True),
    on_json("api-query", _query, {"query": "x", "limit": "10", "tags": ["a"]}),
    on_text("configuration", _settings, "model:\n  provider: offline\n",
            "limits: {user_per_minute: 3}", "a: &x [1]\nb: *x\n<<: {c: ${D}}\n"),
    on_text("token", _token, "e30.e30", '{"person":"telegram:main:1","until":1}.x'),
    Target("files", _file, (b"\x01\x89PNG\r\n\x1a\n", b"\x00a,b\n1,2\n", b"\x01\xff\xfea\x00")),
    on_json("listener-entry", _entry, {"Host": "evil@127.0.0.1"}, {"Host": "localhost:8081",
            "Origin": "http://evil.example", "Upgrade": "websocket"}),
)  # fmt: skip
