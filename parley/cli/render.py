"""`parley render`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import UsageError
from gateway.message import Part
from gateway.platforms import discover
from gateway.render import render
from parley.config.problems import suggestion

MAX_BYTES: Final = 1024 * 1024


def render_file(
    file: Annotated[str, typer.Argument(help="A Markdown file; - reads standard input.")],
    platform: Annotated[str, typer.Option("--platform", "-p", help="The platform.")],
) -> int:
    """Print the messages; where there are several, a line on standard error before each."""
    manifests = discover().manifests
    if platform not in manifests and platform != "plain":
        advice = suggestion(platform, list(manifests)).english
        raise UsageError(f"{platform} is not a known platform. {advice}")
    parts = render(_read(file), platform)
    for number, part in enumerate(parts, 1):
        if len(parts) > 1:
            sys.stderr.write(f"--- message {number} of {len(parts)}\n")
            sys.stderr.flush()
        sys.stdout.write(_as_text(part) + "\n")
        sys.stdout.flush()
    return 0


def _as_text(part: Part) -> str:
    """The payload: a text as it is, blocks as JSON."""
    if isinstance(part.payload, str):
        return part.payload
    return json.dumps(part.payload, indent=2, ensure_ascii=False)


def _read(file: str) -> str:
    try:
        if file == "-":
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as source:
                raw = source.read(MAX_BYTES + 1)
        text = raw.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text.") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{file} is larger than 1 MiB.")
    return text
