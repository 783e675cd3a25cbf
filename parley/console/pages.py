"""Renders pages with Jinja2, which is loaded with the first page."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from msgspec import Struct

from gateway.languages import scripts
from gateway.text import ENGLISH, Language, Text
from parley.console.route import AnyRoute, may_use
from parley.console.security import path_to
from parley.console.sentences import PageSentences
from parley.console.text import (
    age,
    browser,
    clock,
    day,
    hue,
    initials,
    markdown,
    meaning,
    money,
    number,
    outside,
    sentence,
    short,
    when,
)
from parley.console.timeline import stage
from parley.console.viewer import Viewer
from parley.console.words import named, word

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

HERE: Final = Path(__file__).parent
TEMPLATES: Final = HERE / "templates"
STATIC: Final = HERE / "static"
TYPES: Final[Mapping[str, str]] = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

FILTERS: Final[Mapping[str, Callable[..., object]]] = {
    "markdown": markdown,
    "initials": initials,
    "hue": hue,
}
OF_LANGUAGE: Final[Mapping[str, Callable[..., object]]] = {
    "outside": outside,
    "short": short,
    "sentence": sentence,
    "meaning": meaning,
    "browser": browser,
    "when": when,
    "day": day,
    "word": word,
    "part": named,
    "clock": clock,
    "money": money,
    "number": number,
    "stage": stage,
    "age": age,
}
"""Filters that take the language of the page."""


class StaticFile(Struct, frozen=True):
    """A file that pages load. Its address changes with its content, so browsers keep it."""

    name: str
    """The name of the file."""
    content: bytes
    content_type: str
    """The value of the header `Content-Type`."""

    @property
    def path(self) -> str:
        """The path of this version."""
        return f"/static/{sha256(self.content).hexdigest()[:16]}/{self.name}"


class MenuEntry(Struct, frozen=True):
    """A page in the navigation and in the command palette."""

    label: Text
    """The text of the link."""
    path: str
    """The path as the browser asks for it."""
    summary: Text | str
    """One sentence about the page."""
    current: bool
    """True for the page that is shown, and for a page above it."""


class Frame(Struct, frozen=True):
    """The frame of one page. `viewer` is None before the sign-in; `fragment`: htmx asked for a
    part, so the page comes without its head."""

    path: str
    """The path of the page."""
    nonce: str
    """The nonce of the scripts of this page."""
    assistant: str = "Parley"
    """The name of the assistant."""
    viewer: Viewer | None = None
    csrf: str = ""
    """The token that forms carry; empty before the sign-in."""
    menu: tuple[MenuEntry, ...] = ()
    """The pages of the navigation."""
    palette: tuple[MenuEntry, ...] = ()
    """The pages of the command palette."""
    notice: Text | None = None
    """The sentence of the action before."""
    fragment: bool = False
    language: Language = ENGLISH
    """The language of the page."""

    @property
    def hx(self) -> Markup:
        """The attribute without which htmx ignores the attributes of an element."""
        return Markup('hx-nonce="%s"') % self.nonce

    @property
    def csrf_field(self) -> Markup:
        """The field that every form with the method POST needs."""
        return Markup('<input type="hidden" name="csrf" value="%s">') % self.csrf


class PageTemplates:
    """The templates and static files. The environment of each language shares its compiled
    templates with the others."""

    def __init__(self, may_have_portrait: Callable[[str], bool] = lambda _person: False) -> None:
        """`may_have_portrait` tells if there may be a picture of a person (`str(PersonId)`)."""
        self._may_have_portrait = may_have_portrait
        files = (*map(_static, sorted(STATIC.iterdir())), _file("say.js", scripts.script()))
        self.static = {one.path: one for one in files}
        self._languages: dict[str, tuple[Language, Environment]] = {}

    @cached_property
    def _base(self) -> "Environment":
        from jinja2 import (  # noqa: PLC0415 - loaded with the first page
            Environment,
            FileSystemLoader,
            StrictUndefined,
        )

        environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            bytecode_cache=_compiled_once(),
        )
        by_name = {one.name: path_to(path) for path, one in self.static.items()}
        environment.filters.update(FILTERS)
        environment.globals.update(
            static=by_name.__getitem__, path_to=path_to, may_have_portrait=self._may_have_portrait
        )
        return environment

    def _in(self, language: Language) -> "Environment":
        """Return the environment of a language. An operator who words a sentence anew makes another
        `Language` of the same name."""
        kept, environment = self._languages.get(language.code, (None, self._base))
        if kept is language:
            return environment
        sentences = PageSentences(language)
        # It gets the language when the page is shown, so constants are compiled as they are.
        environment = self._base.overlay(finalize=sentences.shown)
        bound = {name: partial(call, language=language) for name, call in OF_LANGUAGE.items()}
        environment.filters = {**self._base.filters, **bound}
        environment.globals = {
            **self._base.globals,
            "language": language,
            "say": sentences.say,
            "say_count": sentences.say_count,
            "say_in": sentences.say_in,
            "sentences_of": partial(self._sentences_of, language),
        }
        self._languages[language.code] = (language, environment)
        return environment

    def _sentences_of(self, language: Language, *names: str) -> str:
        """Return the translated sentences of these scripts as JSON."""
        sources = (one.content for one in self.static.values() if one.name in names)
        found = (one for source in sources for one in scripts.sentences_of(source.decode()))
        return scripts.block(language, found)

    def render(self, template: str, frame: Frame, **values: object) -> str:
        """Return a page or a fragment."""
        layout = "fragment.html" if frame.fragment else "base.html"
        found = self._in(frame.language).get_template(template)
        return found.render(frame=frame, layout=layout, **values)


def _compiled_once() -> "BytecodeCache":
    """Return a cache of compiled templates in memory."""
    from jinja2 import BytecodeCache  # noqa: PLC0415 - loaded with the first page
    from jinja2.bccache import Bucket  # noqa: PLC0415 - loaded with the first page

    class InMemory(BytecodeCache):
        def __init__(self) -> None:
            self._code: dict[str, bytes] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            if bucket.key in self._code:
                bucket.bytecode_from_string(self._code[bucket.key])

        def dump_bytecode(self, bucket: Bucket) -> None:
            self._code[bucket.key] = bucket.bytecode_to_string()

    return InMemory()


def menu_of(routes: tuple[AnyRoute, ...], viewer: Viewer, path: str) -> tuple[MenuEntry, ...]:
    """Return the pages of the navigation that this viewer may use."""
    return tuple(
        MenuEntry(one.menu, path_to(one.path), one.summary, f"{path}/".startswith(f"{one.path}/"))
        for one in routes
        if one.menu and may_use(viewer, one).allowed
    )


def palette_of(routes: tuple[AnyRoute, ...], viewer: Viewer) -> tuple[MenuEntry, ...]:
    """Return the pages of the command palette that this viewer may use."""
    return tuple(
        MenuEntry(shown, path_to(one.path), one.summary, False)
        for one in routes
        if (shown := one.menu or one.palette) and may_use(viewer, one).allowed
    )


def _static(path: Path) -> StaticFile:
    return _file(path.name, path.read_bytes())


def _file(name: str, content: bytes) -> StaticFile:
    return StaticFile(name, content, TYPES[Path(name).suffix])
