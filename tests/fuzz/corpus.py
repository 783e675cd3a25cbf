"""The kept inputs of each target: `corpus/<target>.jsonl`, one input a line.

A line is a JSON string. Inputs that are no UTF-8 stand as `{"base64": "…"}`. A file holds what
covers more of the code than the seeds alone, minimised; `regressions.jsonl` holds what was once a
finding, as `{"target": …, "input": …, "why": …}`.
"""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.fuzz.target import Target

FOLDER: Final = Path(__file__).with_name("corpus")
REGRESSIONS: Final = FOLDER / "regressions.jsonl"
MAX_FILE: Final = 40_000
"""Bytes of one target's file: the whole corpus stays small enough for the repository."""
MAX_INPUT: Final = 2_000


def kept(target: Target) -> list[bytes]:
    """The seeds of a target and the inputs that are kept of it."""
    file = FOLDER / f"{target.name}.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [*target.seeds, *(decoded(json.loads(line)) for line in lines)]


def keep(target: Target, inputs: Iterable[bytes]) -> int:
    """Write the inputs of a target, the shortest first, as far as they fit; how many did."""
    lines: list[str] = []
    left = MAX_FILE
    for data in sorted(set(inputs) - set(target.seeds), key=lambda one: (len(one), one)):
        line = json.dumps(encoded(data), ensure_ascii=True)
        if len(data) > MAX_INPUT or len(line) + 1 > left:
            continue
        left -= len(line) + 1
        lines.append(line)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{target.name}.jsonl").write_text("".join(f"{one}\n" for one in lines), "utf-8")
    return len(lines)


def regressions(target: Target) -> list[bytes]:
    """The inputs of a target that were once findings."""
    rows = [json.loads(line) for line in REGRESSIONS.read_text("utf-8").splitlines()]
    return [decoded(row["input"]) for row in rows if row["target"] == target.name]


def encoded(data: bytes) -> object:
    """An input as it stands in a file."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def decoded(value: object) -> bytes:
    """An input that stands in a file."""
    if isinstance(value, dict):
        return base64.b64decode(str(value["base64"]))
    return str(value).encode("utf-8")
