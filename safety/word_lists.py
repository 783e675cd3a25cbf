"""Reads the lists of words that stand in a text file beside the module that uses them.

A line `[name]` begins a list, and `#` a comment.
"""

from pathlib import Path


def read_word_lists(module: str) -> dict[str, str]:
    """The text of each list by its name; those of `x.txt` for the `__file__` of `x.py`."""
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    for line in Path(module).with_suffix(".txt").read_text("utf-8").split("\n"):
        if line.startswith("["):
            words = lists[line[1:-1]] = []
        elif not line.startswith("#"):
            words.append(line)
    return {name: "\n".join(lines).strip() for name, lines in lists.items()}


def phrases_of(words: str) -> list[str]:
    """The phrases of a list, which commas or ends of lines separate."""
    return [phrase.strip() for phrase in words.replace("\n", ",").split(",") if phrase.strip()]
