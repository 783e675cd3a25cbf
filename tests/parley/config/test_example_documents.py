"""The example file and the reference name every key there is, with its default: no drift."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.policy.rate_limits import RateLimits
from gateway.text import ENGLISH, Sentence
from parley.config import load
from parley.config.listing import listed
from parley.config.problems import Path as KeyPath
from parley.config.reference_page import (
    documented,
    explained,
    groups,
    own_platforms,
    texts_in,
    with_reference,
)
from parley.config.yaml_file import Value, parse_yaml
from parley.console.sentences import html_of
from tests.parley.config.kit import PLATFORMS
from translation.extraction import sentences

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "config" / "parley.example.yaml"
PAGE = ROOT / "docs" / "reference" / "configuration.md"
GUIDE = ROOT / "docs" / "how-to" / "configure.md"
SWITCHED_OFF = re.compile(r"^( *)#(?=[\"\w-])", re.MULTILINE)
BLOCKS = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def switched_on(text: str) -> str:
    """The example with every switched off key in use (`key: {}` and `key: []` make room)."""
    lines = SWITCHED_OFF.sub(r"\1", text).splitlines()
    for number, line in enumerate(lines):
        if not line.endswith((": {}", ": []")):
            continue
        indent = len(line) - len(line.lstrip())
        below = (x for x in lines[number + 1 :] if x.strip() and not re.match(r"^ *#( |$)", x))
        following = next(below, "")
        if len(following) - len(following.lstrip()) > indent:
            lines[number] = line[:-3]
    return "\n".join(lines)


def named(value: Value, known: set[str], path: KeyPath = ()) -> Iterator[str]:
    """The paths of all keys in a file, names of one's own as `<name>`."""
    if isinstance(value, list):
        for item in value:
            yield from named(item, known, path) if isinstance(item, dict) else ()
    if not isinstance(value, dict):
        return
    for key, below in value.items():
        here = (*path, key)
        if ".".join(map(str, here)) not in known and not any(
            k.startswith(".".join(map(str, here)) + ".") for k in known
        ):
            here = (*path, "<name>")
        yield ".".join(map(str, here))
        yield from named(below, known, here)


def test_the_example_loads_and_contains_only_defaults() -> None:
    platforms = own_platforms()
    example = load(EXAMPLE, {}, platforms)
    assert example.model_dump() == load(None, {}, platforms).model_dump()


def test_the_example_loads_with_every_key_enabled(tmp_path: Path) -> None:
    text = switched_on(EXAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "parley.yaml"
    path.write_text(text, encoding="utf-8")
    expected = set(re.findall(r"\$\{([A-Z_]+)\}", text)) - {"NAME"}
    env = {name: f"xoxb-{name.lower()}-0123456789" for name in expected}
    env["TELEGRAM_WEBHOOK_SECRET"] = "a_secret_of_ones_own"
    env["SLACK_APP_TOKEN"] = "xapp-0123456789"
    settings = load(path, env, own_platforms())
    accounts = {a.path for a in settings.accounts()}
    assert {f"platforms.{p}" for p in ("discord", "slack", "telegram", "whatsapp")} <= accounts


def test_the_example_names_every_key() -> None:
    text = switched_on(EXAMPLE.read_text(encoding="utf-8"))
    known = {key.path for group in groups(own_platforms()) for key in group.keys}
    present = set(named(parse_yaml(text, "example").values, known))
    assert known - present == set()


def test_the_reference_in_the_documentation_matches_the_settings() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_reference(page) == page, "run: python -m parley.config.reference_page"


def test_every_key_of_parley_has_a_description() -> None:
    silent = [
        key.path
        for group in groups(PLATFORMS)
        if not group.path.startswith("platforms.")
        for key in group.keys
        if not key.meaning
    ]
    assert silent == []


def test_the_text_below_a_field_is_its_documentation() -> None:
    assert documented(RateLimits)["user_per_minute"] == "Questions of one person."


def test_no_source_is_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = ast.parse

    def noted(source: str) -> ast.Module:
        parsed.append(source)
        return parse(source)

    monkeypatch.setattr(ast, "parse", noted)
    documented.cache_clear()
    texts_in.cache_clear()
    assert list(groups(PLATFORMS))
    assert 1 < len(parsed) == len(set(parsed))


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_of_the_documentation_loads(tmp_path: Path, block: str) -> None:
    path = tmp_path / "parley.yaml"
    path.write_text(block, encoding="utf-8")
    env = dict.fromkeys(re.findall(r"\$\{([A-Z_]+)\}", block), "x" * 20)
    assert load(path, env, own_platforms()) != load(None, {}, own_platforms())


def test_every_meaning_that_people_see_is_a_sentence_of_the_catalogues() -> None:
    found = {one.msgid for one in sentences()}
    settings = load(None, {}, PLATFORMS)
    shown = [one.meaning for one in listed(settings, {}, ()) if one.meaning]
    assert len(shown) > 100
    assert [one.english for one in shown if not isinstance(one, Sentence)] == []
    assert [
        one.msgid for one in shown if isinstance(one, Sentence) and one.msgid not in found
    ] == []


def test_braces_in_a_meaning_stay() -> None:
    said = explained("Write `issues/{number}`.")
    assert said.english == "Write `issues/{number}`."
    assert html_of(ENGLISH, said) == "Write <code>issues/{number}</code>."
