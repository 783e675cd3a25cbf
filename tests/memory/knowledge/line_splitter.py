"""A splitter for tests, in a module that other processes import quickly."""

import os
import time
from pathlib import Path

from memory.knowledge.model import Chunk, FileKind, SplitFile


def split_lines(path: str, text: str) -> SplitFile:
    """One chunk for each line with text."""
    kind = FileKind.DOCUMENT if path.endswith(".md") else FileKind.CODE
    chunks = tuple(
        Chunk(number, number, "", "", line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    )
    return SplitFile(kind, path.rpartition(".")[2], chunks=chunks)


def split_or_end(path: str, text: str) -> SplitFile:
    """The same, but some paths end the process or raise an error."""
    if "fatal" in path:
        os._exit(3)
    if "deep" in path:
        raise RecursionError
    if "defect" in path:
        raise IndexError
    return split_lines(path, text)


def split_slowly(path: str, text: str) -> SplitFile:
    """The same, but a file that is named in the text is created, and then a minute passes."""
    if "slow" in path:
        Path(text).touch()
        time.sleep(60)
    return split_lines(path, text)
