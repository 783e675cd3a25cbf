"""Answers to questions: numbers, names, several of them, and what cannot be used."""

import io
import os

import pytest

from gateway.errors import BadInput
from parley.cli.init.terminal import MAX_ANSWER, MenuOption, Stopped, Terminal, one_of, some_of

OPTIONS = (
    MenuOption("web", "Web page"),
    MenuOption("telegram", "Telegram"),
    MenuOption("discord", "Discord"),
    MenuOption("slack", "Slack"),
)


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> Terminal:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return Terminal()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("1", ["web"]),
        ("2 1", ["web", "telegram"]),
        ("1,3", ["web", "discord"]),
        ("web page", ["web"]),
        ("tele, SLACK", ["telegram", "slack"]),
        ("1 and 2", ["web", "telegram"]),
        ("2 2 2", ["telegram"]),
    ],
)
def test_several_options_are_chosen_by_number_or_name(text: str, keys: list[str]) -> None:
    assert some_of(text, OPTIONS) == keys


@pytest.mark.parametrize("text", ["0", "5", "", "1 9", "matrix", "-1", "1.5", "٣", "9" * 5_000])
def test_an_answer_that_is_no_option_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="number from 1 to 4"):
        some_of(text, OPTIONS)


def test_a_mistyped_name_is_recognised() -> None:
    with pytest.raises(BadInput, match=r"Did you mean telegram\?"):
        one_of("tlegram", OPTIONS)


def test_an_ambiguous_beginning_names_its_meanings() -> None:
    options = (MenuOption("openai", "OpenAI"), MenuOption("openrouter", "OpenRouter"))
    with pytest.raises(BadInput, match="open can mean openai or openrouter"):
        one_of("open", options)


def test_empty_input_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = typed(monkeypatch, "\n\n\n")
    assert terminal.choose_many("Platforms", OPTIONS, ["web", "slack"]) == ["web", "slack"]
    assert terminal.choose("Platform", OPTIONS, "discord") == "discord"
    assert terminal.yes("Memory", default=False) is False


def test_a_wrong_answer_is_asked_again_a_limited_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert typed(monkeypatch, "maybe\ny\n").yes("Memory", default=False) is True
    with pytest.raises(Stopped, match="5 answers could not be used"):
        typed(monkeypatch, "maybe\n" * 9).yes("Memory", default=False)


def test_the_end_of_the_input_ends_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Stopped, match="input ended"):
        typed(monkeypatch, "").ask("Name", "Parley")


def test_an_endless_answer_stops_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Stopped, match="more than 10000 characters"):
        typed(monkeypatch, "x" * (MAX_ANSWER * 3)).ask("Name")


@pytest.mark.parametrize("columns", [20, 40, 80, 300])
def test_paragraphs_fit_the_terminal_and_addresses_stay_whole(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((columns, 24)))
    address = "https://discord.com/developers/applications/1198622483471925248/bot"
    Terminal().say(f"Open {address} and make a new application with a bot in it, please.", 4)
    output = capsys.readouterr().out
    assert address in output
    assert all(len(line) <= max(columns, 40) for line in output.split("\n") if address not in line)
