"""Languages by file name."""

from typing import Final

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
