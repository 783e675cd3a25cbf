"""Every sentence of the chat, in every language, is what each platform accepts and shows.

The sentences, commands and labels are those of the code. What is not translated yet is shown in
English, so that the tests hold for every state of a catalogue.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import pytest

from adapters.discord import commands as discord_commands
from adapters.discord import send as discord
from adapters.slack import send as slack
from adapters.telegram import command_languages
from adapters.telegram import send as telegram
from adapters.web.manifest import MAX_BUTTONS as MAX_WEB_BUTTONS
from adapters.whatsapp import send as whatsapp
from gateway.commands.catalogue import APPROVE, CATCHUP, COMMANDS
from gateway.commands.help_command import BUTTON as MORE
from gateway.commands.help_command import VALUE, first_page, second_page
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.markdown.parse import parse
from gateway.markdown.split import units
from gateway.markdown.tree import Block, Document, Heading, ItemList, Paragraph, QuoteBlock, Run
from gateway.message import Button, Outbound, Part
from gateway.people import Role
from gateway.platforms import discover
from gateway.ports import CommandSpec
from gateway.ports.rights import Credential, Proof, missing
from gateway.render import render, with_commands
from gateway.text import BUTTON, COUNT, HOLE, Sentence, Value, verbatim
from memory.commands.command_set import MemoryCommands
from tests.gateway.render.readers import holds, read, visible
from tests.support.messages import direct
from translation.extraction import Found, sentences

LANGUAGES: Final = Languages(LanguagePolicy())
PLATFORMS: Final = ("discord", "slack", "telegram", "whatsapp", "web")
MESSAGE: Final[Mapping[str, int]] = {
    "discord": 2_000,
    "slack": 12_000,
    "telegram": 4_096,
    "whatsapp": 4_096,
    "web": 200_000,
}
"""The longest text of a message, as each platform counts it (of Slack, that of its blocks)."""
CHAT: Final = ("gateway/", "memory/", "adapters/")
DAILY: Final = 12
"""Of this many sentences, one is rendered by day in each language, another one in each."""
AWKWARD: Final = "a_b*c~d<e>&[f](g)|h @everyone"
"""A name of a person that is full of marks."""
MARKS: Final = "*_~`|[]\\"
STYLES: Final = ("bold", "italic", "strike", "spoiler", "code", "link", "underline")
VALUE_OF_64_BYTES: Final = "v" * 60
ALL_COMMANDS: Final = (*COMMANDS, CATCHUP, APPROVE, *MemoryCommands.specs)
PLACE: Final = direct("ada")


@cache
def said() -> tuple[Found, ...]:
    """The sentences that the assistant writes in chats."""
    return tuple(
        one for one in sentences() if one.file.startswith(CHAT) and one.file.endswith(".py")
    )


def texts(language: str, every: int) -> Iterator[tuple[Found, str]]:
    """Each sentence without a context in a language, its holes filled with what breaks marks."""
    plain = [one for one in said() if not one.context]
    for found in plain[LANGUAGES.offered.index(language) % every :: every]:
        holes = HOLE.findall(found.plural or found.msgid)
        words: Value = verbatim(f"`{AWKWARD}`")
        for count in (1, 2, 5, 1_000) if found.plural else (1,):
            filled = tuple((one, count if one == COUNT else words) for one in {*holes, COUNT})
            sentence = Sentence(found.msgid, filled, found.plural)
            yield found, LANGUAGES.named(language).shown(sentence)


def length(part: Part, platform: str) -> int:
    return units(part.payload if isinstance(part.payload, str) else part.text)


def runs(blocks: Document) -> Iterator[Run]:
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                yield from block.runs
            case QuoteBlock():
                yield from runs(block.blocks)
            case ItemList():
                for item in block.items:
                    yield from runs(item.blocks)


def form_of(markdown: str) -> tuple[frozenset[str], tuple[type[Block], ...], Counter[str]]:
    """The styles and blocks of a text, and the marks in it that are shown as such."""
    blocks = parse(markdown)
    pieces = list(runs(blocks))
    styles = {style for run in pieces for style in STYLES if getattr(run, style)}
    shown = "".join(run.text for run in pieces if not run.code)
    kinds = tuple(type(block) for block in blocks)
    return frozenset(styles), kinds, Counter(sign for sign in shown if sign in MARKS)


def buttons(language: str, sentences_: tuple[Sentence, ...]) -> tuple[Button, ...]:
    show = LANGUAGES.named(language).shown
    return tuple(
        Button(show(one), f"{number:04}{VALUE_OF_64_BYTES}")
        for number, one in enumerate(sentences_)
    )


def send(platform: str, part: Part, under: tuple[Button, ...]) -> None:
    """Make the body of a message as the adapter sends it, and check what it has of a choice.

    Raises `Permanent` where the adapter refuses.
    """
    assert length(part, platform) <= MESSAGE[platform]
    outbound = Outbound("k:0", PLACE, part, buttons=under)
    if platform == "discord":
        body = discord.body_of(outbound)
        assert len(str(body["content"])) <= 2_000
        rows = body.get("components", [])
        assert isinstance(rows, list)
        assert len(rows) <= 5
        for cell in (one for row in rows for one in row["components"]):
            assert 1 <= units(cell["label"]) <= 80
            assert not cell["label"].endswith("…")
            assert len(cell["custom_id"]) <= 100
    elif platform == "slack":
        blocks = slack.compose(part, under)["blocks"]
        assert isinstance(blocks, list)
        assert len(blocks) <= 50
        for cell in blocks[-1]["elements"] if under else ():
            assert 1 <= units(cell["text"]["text"]) <= 75
            assert not cell["text"]["text"].endswith("…")
    elif platform == "telegram":
        for cell in (one for row in telegram.keyboard(under) for one in row):
            assert len(str(cell["callback_data"]).encode()) <= 64
            assert str(cell["text"]).strip()
    elif platform == "whatsapp":
        check_whatsapp(whatsapp.free_form(outbound))
    else:
        assert len(under) <= MAX_WEB_BUTTONS


def check_whatsapp(body: whatsapp.Body) -> None:
    interactive = body.get("interactive")
    if not isinstance(interactive, dict):
        return
    action, shown = interactive["action"], interactive["body"]["text"]
    if interactive["type"] == "button":
        titles = [one["reply"]["title"] for one in action["buttons"]]
        assert len(shown) <= 1_024
        assert len(titles) <= 3
        assert max(map(units, titles)) <= 20
    else:
        rows = action["sections"][0]["rows"]
        titles = [row["title"] for row in rows]
        assert len(shown) <= 4_096
        assert units(action["button"]) <= 20
        assert len(rows) <= 10
        assert max(map(units, titles)) <= 24
        assert max(units(row.get("description", "")) for row in rows) <= 72
    assert len(set(titles)) == len(titles)
    assert not any(title.endswith("…") for title in titles)


@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_a_translation_has_the_markdown_of_its_sentence(language: str) -> None:
    """Marks beside letters or punctuation of another script may be none."""
    show = LANGUAGES.named(language)
    wrong = []
    for found in said():
        english = Sentence(found.msgid, (), "", found.context)
        counts = (1, 2, 5, 1_000) if found.plural else ()
        forms = [show.pattern(Sentence(found.msgid, ((COUNT, n),), found.plural)) for n in counts]
        for form in forms or [show.pattern(english)]:
            if form_of(form) != form_of(found.plural or found.msgid):
                wrong.append((found.file, found.line, form))
    assert wrong == []


def check_sentences(language: str, platform: str, every: int) -> None:
    wrong = []
    for found, markdown in texts(language, every):
        parts = render(markdown, platform)
        try:
            assert len(parts) == 1, "a sentence is one message"
            shown = read(parts, platform)
            assert holds(shown, visible(parse(markdown))), shown
            send(platform, parts[0], ())
        except AssertionError as error:
            wrong.append((found.file, found.line, markdown, str(error)[:200]))
    assert wrong == []


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_sentences_are_shown_whole_within_the_limits(language: str, platform: str) -> None:
    check_sentences(language, platform, DAILY)


@pytest.mark.nightly
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_all_sentences_are_shown_whole_within_the_limits(language: str, platform: str) -> None:
    check_sentences(language, platform, 1)


def commands_of(role: Role) -> list[CommandSpec]:
    return [one for one in ALL_COMMANDS if not missing(one.allowed, Proof(Credential.CHAT, role))]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_the_help_of_each_role_is_shown_whole_within_the_limits(
    language: str, platform: str
) -> None:
    can, show = discover().manifests[platform].capabilities, LANGUAGES.named(language).shown
    (more,) = buttons(language, (MORE,))
    pages = {
        with_commands(show(page), can)
        for role in Role
        for page in (
            first_page("A_b*c", commands_of(role), has_button=False),
            second_page(commands_of(role)),
        )
    }
    assert len(pages) >= 4, "the roles differ"
    for markdown in pages:
        parts = render(markdown, platform)
        assert holds(read(parts, platform), visible(parse(markdown)))
        assert len(parts) <= (2 if platform == "discord" else 1), len(markdown)
        for part in parts:
            send(platform, part, (Button(more.label, VALUE),))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_labels_fit_on_buttons_and_rows(language: str, platform: str) -> None:
    labels = tuple(Sentence(one.msgid, (), "", BUTTON) for one in said() if one.context == BUTTON)
    (part,) = render("Choose", platform)
    shown = buttons(language, labels)
    for size in (1, 3, 10):
        for at in range(0, len(shown), size):
            distinct = {one.label: one for one in shown[at : at + size]}
            send(platform, part, tuple(distinct.values()))


@pytest.mark.parametrize("language", LANGUAGES.offered)
def test_descriptions_of_commands_fit_into_menus(language: str) -> None:
    show = LANGUAGES.of_commands(language).shown
    texts_ = [(show(c.description), c.argument_help and show(c.argument_help)) for c in shown()]
    for description, argument in texts_:
        assert 1 <= units(description) <= discord_commands.MAX_DESCRIPTION == 100
        assert units(argument or "") <= 100
        assert form_of(description)[0] == frozenset()
        assert "\n" not in description
    assert len(texts_) <= 100
    menu = sum(len(c.name) + len(text) for c, (text, _) in zip(shown(), texts_, strict=True))
    assert menu <= 5_700, "Telegram refuses a menu with too much text"
    assert command_languages.by_code({language: ()}).keys() <= {language[:2]}


def shown() -> list[CommandSpec]:
    return [one for one in ALL_COMMANDS if not isinstance(one.description, str)]


RIGHT_TO_LEFT: Final = [one for one in LANGUAGES.offered if LANGUAGES.named(one).direction == "rtl"]


@pytest.mark.parametrize("language", RIGHT_TO_LEFT)
def test_words_of_people_are_isolated_in_scripts_from_right_to_left(language: str) -> None:
    show, name = LANGUAGES.named(language), "Ben (2)"
    checked = 0
    for found in said():
        holes = set(HOLE.findall(found.plural or found.msgid)) - {COUNT}
        if not holes or found.context:
            continue
        values: tuple[tuple[str, Value], ...] = tuple((one, verbatim(name)) for one in holes)
        sentence = Sentence(found.msgid, (*values, (COUNT, 2)), found.plural)
        code = "".join(show.shown(sentence).split("`")[1::2])
        outside = "".join(show.shown(sentence).split("`")[0::2])
        assert "\u2068" not in code, "a copied command has an invisible character"
        assert outside.count(name) == outside.count(f"\u2068{name}\u2069")
        checked += outside.count(name)
    assert checked > 50


def test_a_broken_mark_is_found() -> None:
    assert form_of("**a** b") == form_of("**x y**")
    assert form_of("** a** b") != form_of("**a** b")
    assert form_of("a_b_ c") != form_of("_b_ c")
    assert form_of("- a") != form_of("a")
