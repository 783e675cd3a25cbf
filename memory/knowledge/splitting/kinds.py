"""The language and the kind of a file, and the services and topics that it is about."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from memory.knowledge.model import FileKind
from memory.knowledge.splitting.documents import DocumentHeading, plain

_SUFFIXES: Final = {
    "bash": "bash sh zsh bats ksh",
    "c": "c h",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp inl cu cuh mm m",
    "clojure": "clj cljs cljc edn",
    "csharp": "cs csx",
    "css": "css scss sass less",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "fsharp": "fs fsx fsi",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs lhs",
    "hcl": "tf hcl tfvars",
    "html": "html htm xhtml vue svelte",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonc json5",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "nim": "nim",
    "ocaml": "ml mli",
    "perl": "pl pm t",
    "php": "php phtml",
    "powershell": "ps1 psm1",
    "proto": "proto",
    "python": "py pyi pyx pyw",
    "r": "r",
    "ruby": "rb rake gemspec ru",
    "rust": "rs",
    "scala": "scala sc sbt",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "ts tsx mts cts",
    "xml": "xml xsd xsl",
    "yaml": "yaml yml",
    "zig": "zig zon",
    "markdown": "md markdown mdx mkd mdown erb.md md.erb qmd rmd",
    "restructuredtext": "rst rest",
    "asciidoc": "adoc asciidoc asc",
    "org": "org",
    "text": "txt text",
}
_BY_SUFFIX: Final = {
    suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
_BY_NAME: Final = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "guardfile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "build": "python",
    "readme": "text",
    "changelog": "text",
    "changes": "text",
    "history": "text",
    "contributing": "text",
    "authors": "text",
    "license": "text",
    "news": "text",
    "copying": "text",
}
DOCUMENTS: Final = frozenset({"markdown", "restructuredtext", "asciidoc", "org", "text"})
"""Languages of prose."""
_INSTRUCTIONS: Final = frozenset({"agents.md", "claude.md", "gemini.md", "copilot-instructions.md"})


def language_of(path: str) -> str:
    """The language of a file by its name, in lower case; "" where it is not known."""
    name = path.rpartition("/")[2].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    _, *suffixes = name.split(".")
    for some in (suffixes[-2:], suffixes[-1:]):
        language = _BY_SUFFIX.get(".".join(some))
        if language:
            return language
    return ""


def holds_instructions(path: str) -> bool:
    """True for a file that tells agents how to work in a repository."""
    return path.rpartition("/")[2].lower() in _INSTRUCTIONS


MAX_LABELS: Final = 20
MAX_LABEL: Final = 64
LABELLED_LINES: Final = 60
"""Lines from the beginning that are searched for "Services: ..."."""
_DECISION_FOLDERS: Final = frozenset(
    """
    adr adrs decisions decision-records decision_records decision-record decision-log
    architecture-decision-records architecture-decision-record architecture-decisions
    architecture_decisions architectural-decisions architecture-decision-log
    """.split()  # noqa: SIM905 - reads better
)
_INCIDENT_FOLDERS: Final = frozenset(
    """
    incidents incident incident-reports incident-report postmortems postmortem post-mortems
    post-mortem post_mortems outages outage rca rcas retrospectives/incidents
    """.split()  # noqa: SIM905 - reads better
)
_DECISION_NAME: Final = re.compile(r"adr[-_ ]?+\d++", re.IGNORECASE)
_INCIDENT_NAME: Final = re.compile(r"post-?_?mortem|incident[-_]report|outage", re.IGNORECASE)
_NO_RECORDS: Final = frozenset({"readme", "index", "_index"})
_TEMPLATE_NAMES: Final = frozenset(
    """
    template templates adr adrs madr dr rfc record decision decisions architecture architectural
    nnnn xxxx nnn xxx yyyymmdd bare minimal short long full simple title name example incident
    report postmortem post mortem rca
    """.split()  # noqa: SIM905 - reads better
)
_PLACEHOLDER: Final = re.compile(
    r"[{<\[](?!\w+\]\()|\b(?:nnnn?|xxxx?|title|template)\b", re.IGNORECASE
)
_INCIDENT_HEADINGS: Final = (
    "root cause", "timeline", "impact", "resolution", "lessons learned", "what went well",
    "what went wrong", "action items", "contributing factors", "detection", "remediation",
)  # fmt: skip
ENOUGH: Final = 3
"""Headings of incident reports that make a document one."""
_SERVICE_FIELDS: Final = (
    "service", "services", "affected_services", "services_affected", "component", "components",
    "system", "systems", "application", "applications",
)  # fmt: skip
_TOPIC_FIELDS: Final = (
    "topic", "topics", "tag", "tags", "label", "labels", "category", "categories", "keywords",
    "area", "areas",
)  # fmt: skip
_SERVICE_FOLDERS: Final = frozenset(
    """
    services service apps app applications packages components modules crates charts cmd projects
    plugins microservices functions lambdas libs
    """.split()  # noqa: SIM905 - reads better
)
_TOPIC_FOLDERS: Final = frozenset(
    "docs doc documentation handbook guides runbooks wiki architecture".split()  # noqa: SIM905
)
_NO_TOPICS: Final = (
    _DECISION_FOLDERS
    | _INCIDENT_FOLDERS
    | _SERVICE_FOLDERS
    | _TOPIC_FOLDERS
    | frozenset(
        "src source content pages references reference images assets img static en".split()  # noqa: SIM905
    )
)


def kind_of(path: str, language: str, headings: Sequence[DocumentHeading]) -> FileKind:
    """The kind of a file by its path, and where the path does not tell, by its headings."""
    if holds_instructions(path):
        return FileKind.INSTRUCTIONS
    if language not in DOCUMENTS:
        return FileKind.CODE
    *folders, name = path.lower().split("/")
    if name.partition(".")[0] in _NO_RECORDS or _is_template(folders, name, headings):
        return FileKind.DOCUMENT
    if _DECISION_NAME.match(name) or not _DECISION_FOLDERS.isdisjoint(folders):
        return FileKind.DECISION
    if _INCIDENT_NAME.search(name) or not _INCIDENT_FOLDERS.isdisjoint(folders):
        return FileKind.INCIDENT
    called = {heading.text.lower().strip(" :") for heading in headings}
    if called >= {"status", "decision"} or called >= {"context", "decision", "consequences"}:
        return FileKind.DECISION
    if "decision outcome" in called and "context and problem statement" in called:
        return FileKind.DECISION
    told = sum(any(name in text for text in called) for name in _INCIDENT_HEADINGS)
    return FileKind.INCIDENT if told >= ENOUGH else FileKind.DOCUMENT


def _is_template(folders: Sequence[str], name: str, headings: Sequence[DocumentHeading]) -> bool:
    """True for the form of a record, such as `adr-template-minimal.md`; not for a record about
    templates, such as `0053-template-strategy.md`."""
    if not {"template", "templates"}.isdisjoint(folders):
        return True
    stem = name.partition(".")[0]
    words = set(re.split(r"[-_ \d]+", stem)) - {""}
    if words.isdisjoint({"template", "templates"}):
        return False
    return words <= _TEMPLATE_NAMES or any(map(_PLACEHOLDER.search, (h.text for h in headings[:1])))


def services_of(
    path: str, fields: Mapping[str, tuple[str, ...]], lines: Sequence[str]
) -> tuple[str, ...]:
    """The services that a file is about: by its front matter, by a line "Services: a, b" and by
    the folder under `services`, `apps`, `packages` and the like."""
    named = [text for field in _SERVICE_FIELDS for text in fields.get(field, ())]
    named += _in_lines(lines, _SERVICE_FIELDS)
    return _labels([*_split(named), *_below(path, _SERVICE_FOLDERS, ())])


def topics_of(path: str, fields: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The topics of a file: by its front matter, and by the folders under `docs` and the like."""
    named = [text for field in _TOPIC_FIELDS for text in fields.get(field, ())]
    return _labels([*_split(named), *_below(path, _TOPIC_FOLDERS, _NO_TOPICS, deep=True)])


def _in_lines(lines: Sequence[str], fields: Collection[str]) -> Iterator[str]:
    for line in lines[:LABELLED_LINES]:
        name, colon, rest = line[: 4 * MAX_LABEL].partition(":")
        if colon and name.strip(" \t*_->|#").lower().replace(" ", "_") in fields:
            yield plain(rest.strip(" \t\r\n*_|"))


def _split(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.split(r"[,;]", text)


def _below(
    path: str, folders: Collection[str], no_labels: Collection[str], *, deep: bool = False
) -> Iterator[str]:
    """The folder below one of `folders`, `deep`: all folders below."""
    parts = path.lower().split("/")[:-1]
    for place, part in enumerate(parts):
        if part in folders:
            below = parts[place + 1 :]
            yield from (one for one in (below if deep else below[:1]) if one not in no_labels)
            return


def _labels(texts: Iterable[str]) -> tuple[str, ...]:
    labels = (" ".join(text.lower().split())[:MAX_LABEL] for text in texts)
    return tuple(dict.fromkeys(label for label in labels if label))[:MAX_LABELS]
