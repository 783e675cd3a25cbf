"""The files that are candidates: what a repository's configuration includes and excludes.

There are two lists. `include` names documents; `code` names source code and configuration. Names
that tell of secrets keep documents and configuration out. Code is judged by its content instead,
because `tokenizer.py` holds no token.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from hashlib import sha256
from typing import Final

from memory.knowledge.reading.globs import Glob, PathMatcher

INCLUDE: Final = ("docs/**/*.md", "*.md", "docs/adrs/**")
EXCLUDE: Final = (
    "**/node_modules/**",
    "**/.venv/**",
    "**/secrets/**",
    "**/*secret*",
    "**/*password*",
)
_SOURCES: Final = """
    py pyi pyx js jsx mjs cjs ts tsx mts cts vue svelte java kt kts scala groovy gradle clj cljs
    cljc go rs c h cc cpp cxx c++ hh hpp hxx h++ inl m mm cu cuh cs fs fsi fsx swift dart zig nim
    d jl lua
    rb rake php pl pm r R ex exs erl hrl hs lhs elm ml mli v sv vhd f90 f95 pas ada adb ads cr
    sh bash zsh fish bats ps1 psm1 bat sql proto thrift graphql gql tf hcl nix cmake bzl bazel sol
    css scss sass less html htm el lisp scm rkt tcl awk sed asm s S wat
"""
_SETTINGS: Final = "yaml yml toml ini cfg conf properties env"
_DOCUMENTS: Final = "rst txt adoc asciidoc org mdx markdown"
_NAMES: Final = """
    Dockerfile Containerfile Makefile GNUmakefile Rakefile Gemfile Vagrantfile Jenkinsfile Justfile
    CMakeLists.txt BUILD WORKSPACE
"""
CODE: Final = (
    *(f"*.{suffix}" for suffix in f"{_SOURCES} {_SETTINGS} {_DOCUMENTS}".split()),
    *_NAMES.split(),
)
GENERATED: Final = (
    *("**/node_modules/**", "**/.venv/**", "**/venv/**", "**/__pycache__/**", "**/dist/**"),
    *("**/build/**", "**/vendor/**", "**/third_party/**", "**/.git/**", "**/*.min.js"),
    *("**/*.min.css", "**/*.map", "**/*.lock", "**/*-lock.yaml", "**/*_pb2.py", "**/*.pb.go"),
)
"""Code that people did not write here, and build results."""
CODE_EXCLUDE: Final = (*(pattern for pattern in EXCLUDE if pattern.endswith("/**")), *GENERATED)
"""The default for code: of `EXCLUDE` the folders."""
KB: Final = 1_024
FILE_KB: Final = 500
HARD_FILE_KB: Final = 10_240
MAX_FILES: Final = 200_000
"""Files of one branch that are indexed."""
MAX_PATHS: Final = 1_000_000
"""Paths of one commit that are looked at."""
MAX_MB: Final = 2_048
"""Megabytes of the files of one commit together."""
MAX_MINUTES: Final = 60
"""Minutes of one ingest."""

_SECRET_WORDS: Final = (
    *("secret", "secrets", "password", "passwords", "passwd"),
    *("token", "tokens", "credential", "credentials"),
)
"""Ends of words: `apitoken`, but not `tokenizer`."""
_SECRET_SUFFIXES: Final = frozenset({"key", "pem", "p12", "pfx", "jks", "keystore", "kdbx", "env"})
_CODE_SUFFIXES: Final = frozenset(_SOURCES.split())
_WORD: Final = re.compile(r"[A-Z]++[a-z]*+|[a-z]++")


class NamedBy(Enum):
    """The list that names a file."""

    NEITHER = auto()
    DOCUMENT = auto()
    CODE = auto()
    SECRET_NAME = auto()
    """A list names it, and its name tells of secrets."""


def _globs(patterns: tuple[str, ...]) -> tuple[Glob, ...]:
    return tuple(Glob(pattern) for pattern in patterns)


@dataclass(frozen=True)
class Rules:
    """The rules of one repository. `exclude` is for both lists if the repository gives it; the
    default one is for documents, and for code as far as it names folders."""

    include: tuple[Glob, ...] = field(default_factory=lambda: _globs(INCLUDE))
    code: tuple[Glob, ...] = field(default_factory=lambda: _globs(CODE))
    exclude: tuple[Glob, ...] = field(default_factory=lambda: _globs(EXCLUDE))
    code_exclude: tuple[Glob, ...] = field(default_factory=lambda: _globs(CODE_EXCLUDE))
    max_file_bytes: int = FILE_KB * KB
    skip_binary: bool = True

    def digest(self) -> str:
        """A text that differs for different rules."""
        parts = (
            *(self.include, self.code, self.exclude, self.code_exclude),
            *(self.max_file_bytes, self.skip_binary),
        )
        return sha256(repr(parts).encode()).hexdigest()[:16]

    @cached_property
    def _matcher(self) -> PathMatcher:
        return PathMatcher(self.include, self.exclude, self.code, self.code_exclude)

    def candidate(self, path: str) -> NamedBy:
        """Return the list that names a path."""
        included, excluded, code, code_excluded = self._matcher.lists_of(path)
        if included and not excluded:
            if _tells_of_secrets(path):
                return NamedBy.SECRET_NAME
            return NamedBy.DOCUMENT
        if not code or code_excluded:
            return NamedBy.NEITHER
        if not _is_source(path) and (_tells_of_secrets(path) or excluded):
            return NamedBy.SECRET_NAME
        return NamedBy.CODE


def _is_source(path: str) -> bool:
    """True for a programming language, whose files are judged by their content."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2] in _CODE_SUFFIXES or name in _NAMES.split()


def _tells_of_secrets(path: str) -> bool:
    """True if the file's name says that it holds secrets, as a word or by its suffix."""
    name = path.rpartition("/")[2]
    suffixes = name.lower().split(".")[1:]
    return not _SECRET_SUFFIXES.isdisjoint(suffixes) or any(
        word.lower().endswith(_SECRET_WORDS) for word in _WORD.findall(name)
    )
