"""The parameters of one Bot API request, whichever way they were encoded."""

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, web

from simulators.base import SimFile

MAX_BODY: Final = 52 * 1024 * 1024
"""Bytes: the Bot API takes files up to 50 MB."""


class ApiError(Exception):
    """The Bot API refuses; becomes `{"ok": false, "error_code": ..., "description": ...}`."""

    def __init__(
        self, code: int, description: str, parameters: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad_request(description: str) -> ApiError:
    """The commonest refusal."""
    return ApiError(400, f"Bad Request: {description}")


class Params:
    """Typed access; what a client sends as text (forms) or as JSON reads the same."""

    def __init__(self, values: dict[str, object], files: dict[str, SimFile] | None = None) -> None:
        self.values = values
        self.files = files or {}

    def text(self, name: str, default: str = "") -> str:
        """A string."""
        value = self.values.get(name, default)
        return value if isinstance(value, str) else str(value)

    def integer(self, name: str, default: int = 0) -> int:
        """A whole number; raises `ApiError` for anything else."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            try:
                return int(value)
            except ValueError:
                raise bad_request(f"parameter {name} must be an integer") from None
        if isinstance(value, bool | float) or not isinstance(value, int):
            raise bad_request(f"parameter {name} must be an integer")
        return value

    def flag(self, name: str) -> bool:
        """A boolean."""
        return self.values.get(name) in (True, "true", "True", "1", 1)

    def data(self, name: str) -> object:
        """A nested value: an object or a list, or None."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            return value or None
        try:
            decoded: object = json.loads(value)
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None
        return decoded

    def mapping(self, name: str) -> dict[str, object]:
        """A nested object, empty when absent."""
        value = self.data(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise bad_request(f"object expected as {name}")
        return value

    def listing(self, name: str) -> list[object]:
        """A nested list, empty when absent."""
        value = self.data(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise bad_request(f"array expected as {name}")
        return value


async def read_params(request: web.BaseRequest) -> Params:
    """Decode a request's query and its form, multipart or JSON body."""
    values: dict[str, object] = {}
    if request.query_string:
        values.update(parse_qsl(request.query_string, keep_blank_values=True))
    if not request.can_read_body:
        return Params(values)
    kind = request.content_type
    if kind == "multipart/form-data":
        return await _read_multipart(request, values)
    body = await request.read()
    if kind == "application/json":
        try:
            decoded = json.loads(body) if body else {}
        except ValueError:
            raise bad_request("can't parse JSON object") from None
        if not isinstance(decoded, dict):
            raise bad_request("object expected")
        values.update(decoded)
    elif kind == "application/x-www-form-urlencoded":
        values.update(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return Params(values)


async def _read_multipart(request: web.BaseRequest, values: dict[str, object]) -> Params:
    files: dict[str, SimFile] = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise bad_request("unsupported multipart body")
        content = bytes(await part.read())
        if part.filename is None:
            values[part.name] = content.decode("utf-8", "replace")
        else:
            mime = part.headers.get("Content-Type", "application/octet-stream")
            files[part.name] = SimFile(part.filename, mime, content)
    return Params(values, files)
