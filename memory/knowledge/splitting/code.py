"""Splitting code at its definitions, which are recognised line by line.

A line defines a name where it begins, after its indentation, in the way in which its language
writes definitions. Indentation says what belongs to what. No line needs another one to be
understood, so time is linear in the text and nesting has no depth that could exhaust anything; what
stands in strings and in unusual layouts can be taken for a definition, or be missed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from memory.knowledge.model import Chunk
from memory.knowledge.splitting.pieces import MAX_LINE, FileSection, chunks_of, indentation

MAX_NAME: Final = 100
MAX_DEPTH: Final = 20
"""Definitions inside each other that make up a name."""
_SIGNS: Final = "_#@~(-$*"
_NO_CODE: Final = ("# ", "* ", "*/", "--")


class Definition(Struct, frozen=True):
    """A name that is defined in a line (from 0). `name` includes what it belongs to:
    "Router.use". `introduces` is false for a line that only continues a type, as Rust's `impl`."""

    line: int
    name: str
    introduces: bool = True


class _DefinedName(Struct, frozen=True):
    name: str
    owner: str = ""
    introduces: bool = True


_Reader = Callable[[str, int, str], _DefinedName | None]
"""Reads a line without indentation, its indentation, and the name of what it stands in."""

_NAME: Final = r"(?P<name>[^\W\d]\w*+)"


def _by_pattern(*patterns: str) -> _Reader:
    compiled = [re.compile(rf"\A(?:{pattern})") for pattern in patterns]

    def read(line: str, indent: int, within: str) -> _DefinedName | None:
        for pattern in compiled:
            found = pattern.match(line)
            if found:
                groups = found.groupdict()
                return _DefinedName(groups["name"], groups.get("owner") or "")
        return None

    return read


def _in_order(*readers: _Reader) -> _Reader:
    def read(line: str, indent: int, within: str) -> _DefinedName | None:
        for reader in readers:
            found = reader(line, indent, within)
            if found:
                return found
        return None

    return read


def _outermost(reader: _Reader) -> _Reader:
    def read(line: str, indent: int, within: str) -> _DefinedName | None:
        return reader(line, indent, within) if indent == 0 else None

    return read


_MODIFIERS: Final = (
    r"(?:(?:public|private|protected|internal|fileprivate|static|final|abstract|async|export|"
    r"default|declare|virtual|override|open|sealed|data|suspend|inline|constexpr|consteval|extern|"
    r"unsafe|partial|readonly|const|native|synchronized|strictfp|transient|volatile|implicit|lazy|"
    r"case|companion|inner|annotation|expect|actual|operator|infix|tailrec|external|mutating|"
    r"indirect|required|convenience|dynamic|local|typedef|template|friend|explicit|new|file|"
    r"global|value|non-sealed|pub|comptime|weak|lateinit)\s++)*+"
)
_CONTROL: Final = frozenset(
    """
    if else for foreach while do switch case return throw throws new catch try finally goto await
    yield assert delete sizeof typeof using import package include require echo print when with
    lock fixed unless until elif elseif and or not in is as super this self default go defer select
    raise match let
    """.split()  # noqa: SIM905 - reads better
)
_TYPES: Final = (
    _MODIFIERS
    + r"(?:class|interface|@interface|enum\s++class|enum\s++struct|enum|record|struct|union|"
    + r"namespace|trait|object|protocol|extension|actor|mixin|module|annotation|typealias)\s++"
    + _NAME
)
_SIGNATURE: Final = re.compile(r"[\w\s<>\[\],.&*:~?@$\"]++\Z")
_WORD: Final = re.compile(r"[^\W\d]\w*+\Z")


def _signature(line: str, indent: int, within: str) -> _DefinedName | None:
    """Read "type name(" as C, C++, Java, C# and Dart write a function."""
    head, paren, rest = line.partition("(")
    words = head.split()
    if not paren or not words or words[0] in _CONTROL or not _SIGNATURE.match(head):
        return None
    owner, _, name = words[-1].lstrip("*&").rpartition("::")
    constructs = bool(owner) or name == within.rpartition(".")[2]
    if not _WORD.match(name.lstrip("~")) or name in _CONTROL or (len(words) < 2 and not constructs):
        return None
    if indent == 0 and rest.rstrip().endswith(";"):
        return None
    return _DefinedName(name, owner.rpartition("::")[2].partition("<")[0])


_C_LIKE: Final = _in_order(_by_pattern(_TYPES, r"#\s*+define\s++" + _NAME), _signature)
_SCRIPT_METHOD: Final = re.compile(
    r"(?:(?:public|private|protected|static|async|get|set|override|abstract)\s++|\*\s*+)*+"
    r"(?P<name>[#$\w]++)\s*+(?:<[^>()]*+>)?+\("
)


def _script_method(line: str, indent: int, within: str) -> _DefinedName | None:
    found = _SCRIPT_METHOD.match(line)
    if found is None or not within or found["name"] in _CONTROL:
        return None
    return _DefinedName(found["name"]) if line.rstrip().endswith("{") and "=>" not in line else None


_SCRIPT: Final = _in_order(
    _by_pattern(
        _MODIFIERS
        + r"(?:function\b\s*+\*?+|class\s|interface\s|enum\s|namespace\s|module\s|type\s)"
        r"\s*+(?P<name>[$\w]++)",
        r"(?:module\.)?+exports\.(?P<name>[$\w]++)\s*+=",
        r"(?P<owner>[$\w]++)\.(?:prototype\.)?+(?P<name>[$\w]++)\s*+=\s*+(?:async\s++)?+function\b",
        r"(?:export\s++)?+(?:const|let|var)\s++(?P<name>[$\w]++)[^=]*+=\s*+"
        r"(?:async\s*+)?+(?:function\b|class\b|\(|[$\w]++\s*+=>)",
        r"(?P<name>[$\w]++)\s*+[:=]\s*+(?:async\s++)?+function\b",
    ),
    _outermost(_by_pattern(r"(?:export\s++)?+(?:const|let|var)\s++(?P<name>[$\w]++)\s*+[:=]")),
    _script_method,
)
_RUST_ITEM: Final = _by_pattern(
    r"(?:pub(?:\([^)]*+\))?+\s++)?+(?:(?:default|async|const|unsafe|extern\s++\"[^\"]*+\"|extern)"
    r"\s++)*+(?:fn|struct|enum|trait|union|mod|type|macro_rules!|static|macro)\s++(?:mut\s++)?+"
    + _NAME,
    r"(?:pub(?:\([^)]*+\))?+\s++)?+const\s++" + _NAME,
)
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*+")


def _rust(line: str, indent: int, within: str) -> _DefinedName | None:
    if not line.startswith(("impl ", "impl<", "unsafe impl")):
        return _RUST_ITEM(line, indent, within)
    head = line.partition("{")[0].partition(" where")[0]
    whole = head.rpartition(" for ")[2] if " for " in head else _after_generics(head)
    names = _IDENTIFIER.findall(whole.partition("<")[0])
    return _DefinedName(names[-1], introduces=False) if names else None


def _after_generics(head: str) -> str:
    """The text after "impl<...>"."""
    depth = 0
    for place, sign in enumerate(head):
        depth += (sign == "<") - (sign == ">")
        if depth == 0 and (sign == ">" or (sign == " " and place)):
            return head[place + 1 :]
    return head


_GO: Final = _in_order(
    _by_pattern(
        r"func\s*+\(\s*+(?:\w++\s++)?+\*?+(?P<owner>\w++)[^)]*+\)\s*+" + _NAME,
        r"(?:func|type)\s++" + _NAME,
    ),
    _outermost(_by_pattern(r"(?:var|const)\s++" + _NAME)),
)
_KEYWORD_TYPES: Final = (
    _MODIFIERS
    + (
        r"(?:class|interface|enum|record|struct|trait|object|protocol|extension|actor|module|"
        r"typealias|type|given)\s++"
    )
    + _NAME
)
_READERS: Final[dict[str, _Reader]] = {
    "python": _in_order(
        _by_pattern(r"(?:async\s++)?+(?:def|cdef|cpdef|class)\s++" + _NAME),
        _outermost(_by_pattern(r"(?P<name>[A-Z_][A-Z0-9_]++)\s*+[:=]")),
    ),
    "ruby": _by_pattern(
        r"(?:(?:private|protected|public|module_function)\s++)?+def\s++(?:self\.)?+"
        r"(?P<name>[^\W\d]\w*+[?!=]?+)",
        r"(?:class|module)\s++(?:(?P<owner>\w++)::)?+" + _NAME,
    ),
    "elixir": _by_pattern(
        r"(?:defmodule|defprotocol|defimpl)\s++(?P<name>[\w.]++)",
        r"def(?:p|macro|macrop|guard|guardp|delegate|callback)?+\s++(?P<name>\w++[?!]?+)",
    ),
    "go": _GO,
    "rust": _rust,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "html": _SCRIPT,
    "java": _C_LIKE,
    "csharp": _C_LIKE,
    "c": _C_LIKE,
    "cpp": _C_LIKE,
    "dart": _C_LIKE,
    "groovy": _in_order(_C_LIKE, _by_pattern(_MODIFIERS + r"def\s++" + _NAME)),
    "kotlin": _by_pattern(
        _MODIFIERS
        + r"(?:fun\s++(?:<[^>]*+>\s*+)?+(?:(?P<owner>\w++)[^.(\s]*+\.)?+|val\s++|var\s++)"
        + _NAME,
        _KEYWORD_TYPES,
    ),
    "scala": _by_pattern(_MODIFIERS + r"(?:def|val|var)\s++" + _NAME, _KEYWORD_TYPES),
    "swift": _by_pattern(_MODIFIERS + r"(?:func|init|subscript)\s++" + _NAME, _KEYWORD_TYPES),
    "php": _by_pattern(_MODIFIERS + r"function\s++&?+" + _NAME, _TYPES),
    "zig": _by_pattern(
        r"(?:(?:pub|export|inline|extern)\s++)*+fn\s++" + _NAME,
        r"(?:pub\s++)?+const\s++(?P<name>\w++)\s*+=\s*+(?:extern\s++|packed\s++)?+"
        r"(?:struct|enum|union|error|opaque)\b",
    ),
    "haskell": _outermost(
        _by_pattern(
            r"(?:data|newtype|type\s++family|type|class)\s++(?:[^=]*+=>\s*+)?+" + _NAME,
            r"(?P<name>[a-z_][\w']*+)\s*+::",
        )
    ),
    "lua": _by_pattern(
        r"(?:local\s++)?+function\s++(?:(?P<owner>\w++)[.:])?+" + _NAME,
        r"(?:local\s++)?+(?:(?P<owner>\w++)\.)?+(?P<name>\w++)\s*+=\s*+function\b",
    ),
    "bash": _by_pattern(r"function\s++(?P<name>[\w:.-]++)", r"(?P<name>[\w:.-]++)\s*+\(\)"),
    "perl": _by_pattern(r"sub\s++" + _NAME, r"package\s++(?P<name>[\w:]++)"),
    "r": _by_pattern(r"(?P<name>[\w.]++)\s*+(?:<-|=)\s*+function\b"),
    "julia": _by_pattern(
        r"(?:function|struct|mutable\s++struct|macro|module|abstract\s++type)\s++" + _NAME
    ),
    "clojure": _by_pattern(r"\(def\w*+-?+\s++(?:\^\S++\s++)*+(?P<name>[\w.*+!?<>=-]++)"),
    "erlang": _outermost(
        _by_pattern(r"(?P<name>[a-z]\w*+)\(", r"-(?:module|record|define)\((?P<name>\w++)")
    ),
    "ocaml": _by_pattern(r"(?:let\s++rec|let|and|module\s++type|module|type|val)\s++" + _NAME),
    "fsharp": _by_pattern(
        r"(?:let\s++rec|let\s++inline|let|module|type|member\s++\w++\.)\s*+" + _NAME
    ),
    "nim": _by_pattern(r"(?:proc|func|method|template|macro|iterator|type)\s++" + _NAME),
    "powershell": _by_pattern(r"(?i:function|class|filter)\s++(?P<name>[\w-]++)"),
    "sql": _by_pattern(
        r"(?i:create)\s++(?:(?i:or\s++replace|unique|materialized|temporary|temp)\s++)*+"
        r"(?i:table|view|function|procedure|index|trigger|type|schema)\s++"
        r"(?:(?i:if\s++not\s++exists)\s++)?+[\"`\[]?+(?:\w++\.)?+(?P<name>\w++)"
    ),
    "proto": _by_pattern(r"(?:message|service|enum|rpc)\s++" + _NAME),
    "graphql": _by_pattern(
        r"(?:extend\s++)?+(?:type|interface|enum|input|union|scalar|query|mutation|fragment)\s++"
        + _NAME
    ),
    "hcl": _by_pattern(
        r"(?:resource|data)\s++\"(?P<owner>[\w-]++)\"\s++\"(?P<name>[\w-]++)\"",
        r"(?:module|variable|output|provider)\s++\"(?P<name>[\w-]++)\"",
    ),
    "make": _outermost(_by_pattern(r"(?P<name>[\w.-]++)\s*+:(?!=)")),
}


def definitions_in(language: str, lines: Sequence[str]) -> Iterator[Definition]:
    """The definitions of a text in lines, in order; none in a language that is not known."""
    reader = _READERS.get(language)
    if reader is None:
        return
    around: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        text = line[:MAX_LINE].lstrip()
        if not text or text.startswith(_NO_CODE) or not (text[0].isalnum() or text[0] in _SIGNS):
            continue
        indent = indentation(line)
        while around and around[-1][0] >= indent:
            around.pop()
        found = reader(text, indent, around[-1][1] if around else "")
        if found is None:
            continue
        before = found.owner or (around[-1][1] if around else "")
        name = f"{before}.{found.name}"[-MAX_NAME:] if before else found.name[:MAX_NAME]
        yield Definition(number, name, found.introduces)
        if len(around) < MAX_DEPTH:
            around.append((indent, name))


MAX_LEAD: Final = 60
"""Lines of comments and decorators that belong to the definition below."""
_LEADS: Final = ("#", "//", "/*", "*", "@", "--", ";;", "%", '"""', "'''", "[", "<!--", "{-")


def split_code(language: str, lines: Sequence[str]) -> tuple[Chunk, ...]:
    """Chunks of code, each with the names that it defines."""
    sections = [FileSection(0)]
    for definition in definitions_in(language, lines):
        symbol = definition.name if definition.introduces else ""
        first = _lead(lines, definition.line, sections[-1].first)
        if first == sections[-1].first and not sections[-1].symbol:
            sections[-1] = FileSection(first, symbol)
        else:
            sections.append(FileSection(first, symbol))
    return chunks_of(lines, list(_without_repeats(sections)))


def _lead(lines: Sequence[str], line: int, after: int) -> int:
    """The line with which a definition begins: its comments and decorators stand above it."""
    first = line
    while first - 1 > after and line - first < MAX_LEAD:
        if not lines[first - 1].lstrip()[:4].startswith(_LEADS):
            break
        first -= 1
    return first


def _without_repeats(sections: Sequence[FileSection]) -> Iterator[FileSection]:
    """Without sections that begin where the one before begins."""
    last = -1
    for section in sections:
        if section.first > last:
            yield section
            last = section.first
