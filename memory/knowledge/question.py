"""Understanding a question about repositories: its words, and what they may name."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from memory.knowledge.splitting.kinds import language_of
from memory.knowledge.words import COMMON, MAX_TERMS, last_name, parts_of, telling_words, whole_word

MAX_TEXT: Final = 1_000
"""Characters of a question that are read."""
MAX_NAMES: Final = 16
MAX_JOINED: Final = 3
"""Words of a question that may be one name together."""
LANGUAGES: Final = {
    **dict.fromkeys(("python", "py"), "python"),
    **dict.fromkeys(("javascript", "js"), "javascript"),
    **dict.fromkeys(("typescript", "ts"), "typescript"),
    **dict.fromkeys(("golang",), "go"),
    **dict.fromkeys(("csharp", "c#"), "csharp"),
    **dict.fromkeys(("c++", "cpp"), "cpp"),
    **{name: name for name in ("java", "kotlin", "scala", "ruby", "php", "perl", "haskell")},
    **{name: name for name in ("elixir", "erlang", "clojure", "lua", "bash", "powershell")},
}
"""Words that name a programming language and hardly anything else."""
_EXPLAINING: Final = frozenset(
    """
    why decide decided decision decisions adr adrs rationale reason reasons policy policies
    guideline guidelines guide document documentation docs readme changelog tutorial incident
    incidents outage postmortem convention conventions agreed chose chosen choose
    """.split()  # noqa: SIM905 - reads better
)
_ASIDE: Final = frozenset(
    """
    test tests testing tested spec specs fixture fixtures mock mocks example examples sample samples
    demo demos benchmark benchmarks vendored vendor generated
    """.split()  # noqa: SIM905 - reads better
)
_PLAIN: Final = re.compile(r"[\w#+]++")
_SYMBOL: Final = re.compile(r"[^\W\d][\w$]*+(?:(?:\.|::|#|->)[^\W\d][\w$!?]*+)*+(?:\(\))?+")
_JOINTS: Final = re.compile(r"::|#|->")


class KnowledgeQuestion(Struct, frozen=True):
    """A question as a search sees it.

    `words` are looked up in texts. `names` are identifiers that it may mean, as whole words;
    `written` are those that stand in it, letter for letter; `symbol` is the qualified name that is
    all of it, "" if it is something else. `paths` are the file names and paths in it. `languages`
    are named ones. `explains`: it asks for a reason or a
    document; `aside`: it asks for tests, examples or the like.
    """

    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    symbol: str = ""
    paths: tuple[str, ...] = ()
    languages: frozenset[str] = frozenset()
    explains: bool = False
    aside: bool = False


def understood(text: str) -> KnowledgeQuestion:
    """Read a question."""
    text = unicodedata.normalize("NFC", text[:MAX_TEXT]).strip()
    plain = [word.lower() for word in _PLAIN.findall(text)]
    named = frozenset(LANGUAGES[word] for word in plain if word in LANGUAGES)
    rest = " ".join(word for word in text.split() if word.lower().strip("?.,!") not in LANGUAGES)
    words = telling_words(rest)
    if not words:
        words, named = telling_words(text), frozenset()
    symbols = _SYMBOL.findall(text)
    symbol = symbols[0] if symbols and symbols[0] == text else ""
    return KnowledgeQuestion(
        words[:MAX_TERMS],
        tuple(dict.fromkeys(_names(rest, symbol)))[:MAX_NAMES],
        tuple(dict.fromkeys(_written(rest, symbol)))[:MAX_NAMES],
        ".".join(_JOINTS.sub(".", symbol.removesuffix("()")).split(".")),
        tuple(dict.fromkeys(_paths(text)))[:MAX_NAMES],
        named,
        not _EXPLAINING.isdisjoint(plain),
        not _ASIDE.isdisjoint(plain),
    )


def _names(text: str, symbol: str) -> Iterator[str]:
    """The identifiers that are written as such, then neighbouring words that may be one."""
    yield from map(whole_word, _written(text, symbol))
    parts = [part for run in parts_of(text) for part in run]
    for size in range(2, MAX_JOINED + 1):
        for begin in range(len(parts) - size + 1):
            some = parts[begin : begin + size]
            if some[0] not in COMMON and some[-1] not in COMMON:
                yield "".join(some)


def _written(text: str, symbol: str) -> Iterator[str]:
    """The last names of the identifiers that are written as such."""
    if symbol:
        yield last_name(_JOINTS.sub(".", symbol.removesuffix("()")))
    for place, written in enumerate(_SYMBOL.findall(text)):
        bare = _JOINTS.sub(".", written.removesuffix("()"))
        name = last_name(bare)
        begins = place == 0 and text.startswith(written)
        if bare != written or "." in bare or _is_name(name) or (name[0].isupper() and not begins):
            yield name


def _is_name(word: str) -> bool:
    return len(parts_of(word)[0]) > 1 if parts_of(word) else False


def _paths(text: str) -> Iterator[str]:
    """Words with a slash, or with the ending of a known language after a dot."""
    for word in text.split():
        path = word.strip("`'\"()<>,;:?!").rstrip(".").removeprefix("./").strip("/")
        name = path.rpartition("/")[2]
        if ("." in name[1:] and language_of(name)) or ("/" in path and _slashes(path.split("/"))):
            yield path
            if not path.isascii():
                yield unicodedata.normalize("NFD", path)  # as git has names that macOS wrote


def _slashes(parts: Sequence[str]) -> bool:
    """True for a path, false for words with a slash between them: "and/or", "TCP/IP"."""
    return len(parts) > 2 and all(parts)
