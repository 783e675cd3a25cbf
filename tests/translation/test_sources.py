"""No sentence for people stands outside the catalogues, in the packages whose sentences are there.

The types do most of it: where people read, a `str` is refused. These checks read the sources for
what types cannot see: words in `verbatim`, and English taken where a reader has a language.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

import pytest

from gateway.languages import scripts
from translation.extraction import ROOT, sentences

PACKAGES: Final = ("adapters", "gateway", "memory", "parley/console")
"""The packages whose sentences are in the catalogues."""
VALUES: Final = "gateway/text.py"
READ_FROM_PAGES: Final = frozenset(
    {
        "gateway/languages/html_pages.py",
        "gateway/languages/scripts.py",
        "parley/console/sentences.py",
    }
)
"""Modules that find sentences in HTML and scripts, which are searched for the catalogues too."""
MAKERS: Final = frozenset({"text", "counted", "label", "described"})
REFUSALS: Final = frozenset({"CallRefused", "RefusedWithResult", "BadInput", "NotFound", "NotNow"})
"""The errors whose text people read on a page or in a chat."""
SHOWN_FIELDS: Final = frozenset({"text", "message"})
WORD: Final = re.compile(r"[^\W\d_]{2,}")
CODE: Final = re.compile(
    r"`[^`]*`|^/[a-z]+$|^[a-z-]+\.[a-z]{3}$|^https?://\S+$|^[a-z_]+(?:\.[a-z_]+)+$"
    r"|^how-to/[a-z0-9-]+$"
)
"""What is the same in every language: code, a command, the name of a file, an address, a key of the
configuration, a page of the documentation."""
PRODUCTS: Final = frozenset({"Discord", "Slack", "Telegram", "WhatsApp"})

TO_PROGRAMS: Final = (
    "memory/mcp/",  # what MCP clients read
    "memory/backends/guard.py",  # why a backend does not start: for operators
    "gateway/errors.py",  # an extension's own English words
)
"""Their verbatim words are English on purpose."""
TAKE_ENGLISH: Final = (
    "parley/console/views/break_glass.py",  # an entry of the audit log
    VALUES,
    "adapters/",  # the borders: each shows a text in the language of its reader
    "gateway/",  # the borders: each shows a text in the language of its reader
    "memory/actions/",  # what programs get
    "memory/mcp/",
    "memory/stores/personal_data.py",  # the export of a person
    "memory/turns/document_tool.py",  # what the model reads
    "memory/turns/tools.py",
    "memory/turns/footer.py",  # words of a person, and sentences too long to be stored
    "memory/write/validate.py",  # for the command line
    "memory/write/prepare.py",
    "memory/commands/forget.py",  # the length of a label
    "memory/commands/privacy.py",  # a file for programs
)
"""The modules that may take the English of a text."""
USAGE: Final = (
    "adapters/",  # a file that is not read: the gateway says so in its own words
    "gateway/errors.py",
    "gateway/languages/",  # the configuration's sentences
    "gateway/stores/",
    "memory/agents/",  # what agents read
    "memory/actions/pools.py",  # likewise
    "memory/knowledge/",
    "memory/stores/",
    "memory/text/clean_json.py",
    "memory/transfer/",
    "memory/write/validate.py",
)
"""The modules that refuse input of programs, agents and the command line, in English."""


@cache
def modules() -> Mapping[str, ast.Module]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8"), str(path)) for path in paths
    }


def named(node: ast.expr) -> str:
    """Return the name of a called function, without its module."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def calls(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and named(node.func) in names:
            yield node


def assigned(tree: ast.AST) -> Mapping[str, list[ast.expr]]:
    """Return the values of each name of a module, wherever they are assigned."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                values.setdefault(name, []).append(value)
    return values


def literals(
    node: ast.expr, values: Mapping[str, list[ast.expr]], seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Return the literal texts of which an expression may consist."""

    def inner(*nodes: ast.expr) -> Iterator[str]:
        for one in nodes:
            yield from literals(one, values, seen)

    match node:
        case ast.Constant(value=str(words)):
            yield words
        case ast.JoinedStr(values=parts):
            yield from _of_pieces(parts, inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from inner(left, right)
        case ast.IfExp(body=body, orelse=other):
            yield from inner(body, other)
        case ast.BoolOp(values=parts):
            yield from inner(*parts)
        case ast.Call(func=ast.Attribute(value=ast.Constant() as words, attr="join" | "format")):
            yield from inner(words)
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="format")):
            yield from inner(name)
        case ast.Name(id=name) if name not in seen:
            for value in values.get(name, ()):
                yield from literals(value, values, seen | {name})


def _of_pieces(parts: list[ast.expr], inner: Callable[..., Iterator[str]]) -> Iterator[str]:
    """Return the literals of an f-string. Code may be interrupted by what is filled in:
    `/undo {name}`."""
    pieces = [str(p.value) if isinstance(p, ast.Constant) else "0" for p in parts]
    yield "".join(pieces)
    for number, part in enumerate(parts):
        in_code = "".join(pieces[:number]).count("`") % 2
        if isinstance(part, ast.FormattedValue) and not in_code:
            yield from inner(part.value)


def words_in(text: str) -> bool:
    return text not in PRODUCTS and bool(WORD.search(CODE.sub("", text)))


def excused(name: str, by: tuple[str, ...]) -> bool:
    return name.startswith(by)


def test_a_sentence_is_a_constant_and_every_one_is_found() -> None:
    found = {one.msgid for one in sentences()}
    made = set()
    for name, tree in modules().items():
        if name == VALUES:
            continue
        for call in calls(tree, MAKERS):
            if isinstance(call.func, ast.Name) and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    made.add(first.value)
    assert made <= found


def unfound_words() -> Iterator[str]:
    for name, tree in modules().items():
        if excused(name, TO_PROGRAMS):
            continue
        values = assigned(tree)
        for call in calls(tree, frozenset({"verbatim", "Verbatim"})):
            for words in (text for one in call.args for text in literals(one, values)):
                if words_in(words):
                    yield f"{name}:{call.lineno}: {words!r}"
        for call in calls(tree, frozenset({"joined", "Joined"})):
            for words in (text for one in call.args[1:2] for text in literals(one, values)):
                if words_in(words):
                    yield f"{name}:{call.lineno}: {words!r}"


def test_no_words_of_the_program_are_given_as_words_of_people() -> None:
    assert list(unfound_words()) == []


def test_sentences_are_made_by_the_functions_that_are_searched_for() -> None:
    made = [
        f"{name}:{call.lineno}"
        for name, tree in modules().items()
        if name != VALUES and name not in READ_FROM_PAGES
        for call in calls(tree, frozenset({"Sentence"}))
    ]
    assert made == []


def test_english_is_taken_only_for_programs_models_and_logs() -> None:
    taken = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        if not excused(name, TAKE_ENGLISH)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "english"
    ]
    assert taken == []


def test_english_refusals_are_for_programs_and_the_command_line() -> None:
    refusals = [
        f"{name}:{call.lineno}"
        for name, tree in modules().items()
        if not excused(name, USAGE)
        for call in calls(tree, frozenset({"UsageError"}))
    ]
    assert refusals == []


def refusals_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return the English words of refusals, and of the labels of buttons, with their lines."""
    values = assigned(tree)
    for call in calls(tree, REFUSALS):
        given = [*call.args, *(one.value for one in call.keywords if one.arg in SHOWN_FIELDS)]
        for words in (text for one in given for text in literals(one, values)):
            if " " in words.strip() and words_in(words):
                yield call.lineno, words
    for call in calls(tree, frozenset({"Button"})):
        for words in (text for one in call.args[:1] for text in literals(one, values)):
            if words_in(words):
                yield call.lineno, words


def test_refusals_and_buttons_have_sentences_of_the_catalogues() -> None:
    found = [
        f"{name}:{line}: {words!r}"
        for name, tree in modules().items()
        for line, words in refusals_in(tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("raise BadInput('Too late for that')", True),
        ("raise CallRefused('gone', 'It is gone now', 'path.id')", True),
        ("raise CallRefused('gone', f'{name} is gone now')", True),
        ("LATE = 'Too late for that'\nraise NotFound(LATE)", True),
        ("raise NotFound(LATE.format(day='x') if a else 'It is gone')", True),
        ("raise RefusedWithResult(code, message='It is gone', result=page)", True),
        ("Button('Later', value)", True),
        ("LATE = text('Too late for that')\nraise NotFound(LATE)", False),
        ("raise CallRefused('gone', GONE, 'path.id')", False),
        ("raise TypeError('a view needs a template')", False),
    ],
)
def test_the_search_finds_refusals(source: str, found: bool) -> None:
    assert bool(list(refusals_in(ast.parse(source)))) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("verbatim('You have no project')", True),
        ("verbatim('See https://example.org for it')", True),
        ("verbatim('https://example.org/apps')", False),
        ("verbatim('platforms.slack.app_token')", False),
        ("verbatim(f'for {name}')", True),
        ("SAID = 'Not now'\nverbatim(SAID)", True),
        ("verbatim('a' if late else 'Too late')", True),
        ("verbatim(f'`/undo {name}`')", False),
        ("verbatim(f'“{title}” ({number})')", False),
        ("verbatim(', '.join(names))", False),
    ],
)
def test_the_search_finds_words(source: str, found: bool) -> None:
    tree = ast.parse(source)
    values = assigned(tree)
    given = [
        words
        for call in calls(tree, frozenset({"verbatim"}))
        for one in call.args
        for words in literals(one, values)
    ]
    assert any(map(words_in, given)) == found


def test_every_sentence_that_a_script_says_is_in_the_catalogues() -> None:
    """What the pages read from a script at run time is what was extracted from it."""
    known = {(found.msgid, found.plural or "") for found in sentences()}
    scripted = [*ROOT.glob("adapters/*/assets/*.js"), *ROOT.glob("parley/*/assets/*.js")]
    scripted += ROOT.glob("parley/console/static/[cu]*e.js")
    said = {one for path in scripted for one in scripts.sentences_of(path.read_text("utf-8"))}
    assert len(said) > 50
    assert {one.msgid for one in said if (one.msgid, one.plural or "") not in known} == set()


FINDINGS: Final = (
    "adapters/**/*.py",
    "parley/doctor/*.py",
    "parley/config/consistency.py",
    "parley/config/overrides.py",
    "parley/runtime/*.py",
)
"""Modules whose findings and problems people read on pages."""
SHOWN: Final = {
    "Finding": slice(2, 4),
    "Problem": slice(1, 3),
    "Check": slice(2, 4),
    "StartError": slice(0, 2),
    "Liveness": slice(1, 2),
    "InstallationPart": slice(4, 6),
}
"""The arguments of each that people read on pages."""
SHOWN_NAMES: Final = frozenset({"detail", "advice", "problem", "step", "said"})
"""The same arguments by name."""


def english_findings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return the English words of findings and problems, with their lines."""
    values = assigned(tree)
    for call in calls(tree, frozenset(SHOWN)):
        given = call.args[SHOWN[named(call.func)]]
        given += [one.value for one in call.keywords if one.arg in SHOWN_NAMES]
        for words in (words for one in given for words in literals(one, values)):
            if " " in words.strip() and words_in(words):
                yield call.lineno, words


def test_findings_and_problems_have_sentences_of_the_catalogues() -> None:
    paths = [path for part in FINDINGS for path in sorted(ROOT.glob(part))]
    assert len(paths) > 50
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}"
        for path in paths
        for line, words in english_findings(ast.parse(path.read_text("utf-8"), str(path)))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Finding('ok', 'database', 'It can be written')", True),
        ("Finding('ok', 'database', f'{path} can be written')", True),
        ("Problem('a.b', 'names no server')", True),
        ("Problem('a.b', SAID, 'Name a server')", True),
        ("SAID = text('names no server')\nProblem('a.b', SAID)", False),
        ("Finding('ok', 'Python', version, text('Install it'))", False),
        ("Check('token', False, 'not accepted')", True),
        ("Check('token', ok=False, detail='not accepted', advice=SAID)", True),
        ("SAID = 'Ask for one'\nCheck('token', False, text('missing'), SAID)", True),
        ("Check('bot token', False, text('not set'), SAID)", False),
        ("raise StartError(f'{name} cannot be reached')", True),
        ("raise StartError(text('It is lost.'), 'Parley connects again.')", True),
        ("raise StartError(text('It is lost.'), AGAIN, permanent=True)", False),
        ("Liveness(False, 'not connected')", True),
        ("Liveness(True, '', seconds)", False),
    ],
)
def test_the_search_finds_findings(source: str, found: bool) -> None:
    assert bool(list(english_findings(ast.parse(source)))) == found
