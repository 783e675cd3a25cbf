"""The languages of an installation: those of Parley, those that its operator adds, and the
sentences that the operator words anew."""

import asyncio
import gettext
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from msgspec import Struct
from pydantic import Field, StringConstraints

from gateway.languages.catalogue import (
    MAX_BYTES,
    CatalogueError,
    catalogue_of,
    key_of,
    parts_of,
    translations_of,
)
from gateway.languages.checks import problems_of
from gateway.languages.formats import formats_of
from gateway.languages.negotiation import fitting, liked_by
from gateway.settings import Id, Section
from gateway.text import COMMAND, ENGLISH, Language, Unconverted, text, verbatim

TEMPLATE: Final = "parley.pot"
"""The file with every sentence of Parley and no translation."""
MAX_LANGUAGES: Final = 40
MAX_OVERRIDES: Final = 500
"""Sentences of all languages that an operator words anew."""
_SHOWN: Final = 5
"""Problems of a file that its error names."""

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(_[A-Z][A-Za-z]{1,3})?$")]
"""A language as its file is called: "de", "pt_BR", "zh_Hant"."""
Worded: TypeAlias = Annotated[str, StringConstraints(max_length=4_000)] | tuple[str, ...]
"""One sentence, or one for each plural form of the language."""


class LanguagePolicy(Section):
    """The section `languages` of the configuration."""

    default: Name = "en"
    """The language of people and places for which nothing else is known."""
    offered: Annotated[tuple[Name, ...], Field(max_length=MAX_LANGUAGES)] | None = None
    """The languages in which Parley speaks; all that it has, if this is not set. English is always
    among them."""
    places: Annotated[dict[Id, Name], Field(max_length=10_000)] = Field(default={})
    """The language of a workspace or channel, by its id (`slack:T0123: de`)."""
    folder: Annotated[str, StringConstraints(max_length=1_000)] = "languages"
    """A folder with catalogues of further languages, or with others in place of Parley's, relative
    to the configuration file: `da.po`. It need not exist."""
    sentences: dict[Name, dict[str, Worded]] = Field(default={})
    """Other words for sentences, by language and English sentence."""


NO_LANGUAGE: Final = text('There is no language "{name}". Known: {known}.')
NOT_OFFERED: Final = text("It is not among `languages.offered`.")


class LanguageError(ValueError):
    """A catalogue or a sentence of the operator cannot be used; the text says which and why. `key`
    is the place in the configuration, below `languages`."""

    def __init__(self, said: Unconverted, key: str = "folder") -> None:
        super().__init__(str(said))
        self.said = said
        self.key = key


class _Entry(Struct, frozen=True):
    msgid: str
    plural: str
    context: str


class Languages:
    """The languages of an installation; a catalogue is read when its language is first shown."""

    def __init__(self, policy: LanguagePolicy, folder: Path | None = None) -> None:
        """`folder` has the operator's catalogues; it need not exist."""
        self._policy = policy
        self._added = _files_in(folder)
        self._shown: dict[str, Language] = {}

    def check(self) -> None:
        """Raise LanguageError for the first file or sentence of the operator that cannot be used.
        Reads every file of the operator, and none of Parley's unless a sentence needs it."""
        for key, names in self._named.items():
            if unknown := set(names) - set(self._installed):
                known = ", ".join(self._installed)
                wrong = verbatim(min(unknown))
                raise LanguageError(NO_LANGUAGE.of(name=wrong, known=verbatim(known)), key)
        if self._policy.default not in self.offered:
            raise LanguageError(NOT_OFFERED, "default")
        if len(self._installed) > MAX_LANGUAGES:
            raise LanguageError(f"There are more than {MAX_LANGUAGES} languages.")
        if sum(map(len, self._policy.sentences.values())) > MAX_OVERRIDES:
            raise LanguageError(f"There are more than {MAX_OVERRIDES} sentences.", "sentences")
        for name in {*self._added, *self._policy.sentences}:
            self._loaded(name)

    @property
    def offered(self) -> Sequence[str]:
        """The names of the languages that people can choose, English first."""
        return ("en", *sorted(set(self._policy.offered or self._installed) - {"en"}))

    @property
    def default(self) -> str:
        """The name of the installation's own language."""
        return self._policy.default

    @property
    def places(self) -> Mapping[str, str]:
        """The languages of workspaces and channels, by id."""
        return self._policy.places

    def fitting(self, tag: str) -> str:
        """Return the offered language for what a platform or a person tells, or ""."""
        return fitting(tag, self.offered)

    def liked_by(self, header: str) -> str:
        """Return the offered language that a header `Accept-Language` likes best, or ""."""
        return next(filter(None, map(self.fitting, liked_by(header))), "")

    def named(self, name: str) -> Language:
        """Return an offered language; the installation's own for every other name. Reads its
        catalogue the first time, which takes some tens of milliseconds."""
        wanted = name if name in self.offered else self._policy.default
        if wanted not in self._shown:
            self._shown[wanted] = self._usable(wanted)
        return self._shown[wanted]

    async def loaded(self, name: str) -> Language:
        """Return what `named` returns; a catalogue that is not loaded yet is read in a thread."""
        if (name if name in self.offered else self._policy.default) in self._shown:
            return self.named(name)
        return await asyncio.to_thread(self.named, name)

    def of_commands(self, name: str) -> Language:
        """Return an offered language with the descriptions of commands alone, which are read in
        two milliseconds, and are not kept."""
        return self._usable(name, COMMAND)

    def digest(self) -> str:
        """Return a short text that changes with any sentence of an offered language. Reads every
        catalogue."""
        digest = hashlib.sha256(repr(self._policy).encode())
        for name in self.offered:
            if name in self._added:
                digest.update(self._added[name].read_bytes())
            elif name != "en":
                digest.update(_source(f"{name}.po").encode())
        return digest.hexdigest()[:32]

    @property
    def _named(self) -> Mapping[str, Iterable[str]]:
        """The names of languages in the configuration, by key."""
        policy = self._policy
        return {
            "default": (policy.default,),
            "offered": policy.offered or (),
            "places": policy.places.values(),
            "sentences": policy.sentences,
        }

    def _usable(self, name: str, context: str = "") -> Language:
        """Return a language; one whose file was damaged after the check is shown in English."""
        try:
            return self._loaded(name, context)
        except LanguageError as error:
            import structlog  # noqa: PLC0415 - the configuration loads this module, without logs

            log = structlog.get_logger(__name__)
            log.error("language_not_loaded", language=name, error=str(error))
            return ENGLISH

    @cached_property
    def _installed(self) -> Sequence[str]:
        return ("en", *sorted({*_of_parley(), *self._added}))

    def _loaded(self, name: str, context: str = "") -> Language:
        if name == "en" and name not in {*self._policy.sentences, *self._added}:
            return ENGLISH
        found: gettext.NullTranslations = gettext.NullTranslations()
        catalogue: Mapping[str, str] = {}
        if name in self._added:
            catalogue = _checked(self._added[name])
        elif name != "en":
            catalogue = catalogue_of(_only(_source(f"{name}.po"), context))
        if catalogue:
            found = translations_of(catalogue)
        worded = self._policy.sentences.get(name)
        if worded:
            own = translations_of(dict(_worded(name, worded, catalogue.get("", ""))))
            own.add_fallback(found)
            found = own
        return Language(name, found, formats_of(name))


def _only(catalogue: str, context: str) -> str:
    """Return the header and the entries of a context; the whole catalogue for an empty one."""
    if not context:
        return catalogue
    header, *entries = catalogue.split("\n\n")
    sign = f'msgctxt "{context}"'
    return "\n\n".join((header, *(one for one in entries if sign in one))) + "\n"


def _worded(name: str, worded: Mapping[str, Worded], headers: str) -> Iterator[tuple[str, str]]:
    """Return the operator's sentences as entries of a catalogue. Raises LanguageError."""
    yield "", headers
    forms_of_language = _form_count(headers)
    for msgid, one in worded.items():
        entries = _template().get(msgid)
        if not entries:
            raise LanguageError(f"Parley has no sentence {msgid!r}.", f"sentences.{name}")
        forms = (one,) if isinstance(one, str) else one
        for entry in entries:
            for problem in problems_of(
                msgid, entry.plural, entry.context, forms, forms_of_language
            ):
                raise LanguageError(f"{msgid!r}: {problem}.", f"sentences.{name}")
            yield key_of(msgid, entry.plural, entry.context), "\0".join(forms)


def _checked(path: Path) -> Mapping[str, str]:
    """Return an operator's catalogue. Raises LanguageError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LanguageError(f"{path}: The file has more than {MAX_BYTES:,} bytes.")
        catalogue = catalogue_of(path.read_text(encoding="utf-8"))
        translations_of(catalogue)
    except (OSError, UnicodeDecodeError, CatalogueError) as error:
        raise LanguageError(f"{path}: {error}.") from error
    problems = list(catalogue_problems(catalogue))
    if problems:
        more = f", and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise LanguageError(f"{path}: {'; '.join(problems[:_SHOWN])}{more}.")
    return catalogue


def catalogue_problems(catalogue: Mapping[str, str]) -> Iterator[str]:
    """Return what is wrong with the sentences of a catalogue, one text each.

    Sentences that Parley does not have any more are no problem.
    """
    expected = _form_count(catalogue.get("", ""))
    for key, translated in catalogue.items():
        context, msgid, plural = parts_of(key)
        if _Entry(msgid, plural, context) in _template().get(msgid, ()):
            for problem in problems_of(msgid, plural, context, translated.split("\0"), expected):
                yield f"{msgid!r}: {problem}"


def missing_of(catalogue: Mapping[str, str]) -> Iterator[str]:
    """Return the sentences that a catalogue lacks, in English."""
    for entries in _template().values():
        for entry in entries:
            if key_of(entry.msgid, entry.plural, entry.context) not in catalogue:
                yield entry.msgid


def _form_count(headers: str) -> int:
    rule = headers.partition("nplurals=")[2].partition(";")[0]
    return int(rule) if rule.isdecimal() else 2


@cache
def _template() -> Mapping[str, Sequence[_Entry]]:
    """Every sentence of Parley by its English words."""
    found: dict[str, list[_Entry]] = {}
    for key in catalogue_of(_source(TEMPLATE), translated=False):
        if key:
            context, msgid, plural = parts_of(key)
            found.setdefault(msgid, []).append(_Entry(msgid, plural, context))
    return found


@cache
def _of_parley() -> frozenset[str]:
    folder = files("gateway.languages").joinpath("catalogues")
    return frozenset(_names(entry.name for entry in folder.iterdir()))


def _files_in(folder: Path | None) -> Mapping[str, Path]:
    if folder is None or not folder.is_dir():
        return {}
    # A pipe or a device would be read without an end.
    found = _names(path.name for path in folder.iterdir() if path.is_file())
    return {name: folder / f"{name}.po" for name in found}


def _names(names: Iterable[str]) -> Iterator[str]:
    return (name.removesuffix(".po") for name in names if name.endswith(".po"))


def _source(name: str) -> str:
    folder = files("gateway.languages").joinpath("catalogues")
    return folder.joinpath(name).read_text(encoding="utf-8")
