"""A mistyped or mixed-up credential is recognised before a platform is asked."""

from parley.cli.init.credential_format import (
    ANTHROPIC,
    DISCORD,
    FORMATS,
    META_NUMBER,
    META_SECRET,
    META_TOKEN,
    OPENAI,
    OPENROUTER,
    SLACK_APP,
    SLACK_BOT,
    TELEGRAM,
    CredentialFormat,
    cleaned,
    problem_of,
)
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.support.for_each import for_each

RIGHT = {
    TELEGRAM: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
    DISCORD: "MTE5ODYyMjQ4MzQ3MTkyNTI0.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWsAbCdEf",
    SLACK_BOT: "xoxb-2123456789-2123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    SLACK_APP: "xapp-1-A0123ABCDEF-2123456789012-0123456789abcdef",
    META_TOKEN: "EAAGm0PX4ZCpsBAKZCp0123456789abcdef",
    META_NUMBER: "106540352242922",
    META_SECRET: "0123456789abcdef0123456789abcdef",
    ANTHROPIC: "sk-ant-api03-0123456789abcdef",
    OPENAI: "sk-proj-0123456789abcdef",
    OPENROUTER: "sk-or-v1-0123456789abcdef",
}


@for_each("wanted", list(RIGHT))
def test_a_credential_of_the_right_form_is_accepted(wanted: CredentialFormat) -> None:
    assert problem_of(RIGHT[wanted], wanted) == ""


@for_each("wanted", list(RIGHT))
def test_a_credential_of_another_kind_is_named_and_not_repeated(wanted: CredentialFormat) -> None:
    for kind, value in RIGHT.items():
        if kind is wanted or wanted.pattern.fullmatch(value):
            continue
        reply = problem_of(value, wanted)
        assert reply.startswith(f"This is not {wanted.title}: expected {wanted.example}. It looks")
        assert wanted.where in reply
        assert value not in reply


@for_each(
    ("value", "wanted", "said"),
    [
        (RIGHT[SLACK_BOT], TELEGRAM, "It looks like a Slack bot token (xoxb-…)."),
        (RIGHT[SLACK_APP], SLACK_BOT, "It looks like a Slack app token (xapp-1-…)."),
        ("xoxp-123-456-789-abc", SLACK_BOT, "It looks like a user token of Slack (xoxp-…)."),
        ("1198622483471925248", DISCORD, "It looks like an id of Discord (17 to 20 digits)."),
        ("+1 555 010 99", META_NUMBER, "It looks like a phone number (+1 555 …)."),
        ("sk-ant-admin01-abcdef", ANTHROPIC, "It looks like an admin key of Anthropic"),
        ("@my_bot", TELEGRAM, "It looks like a name of a bot (@name)."),
        ("https://t.me/my_bot", TELEGRAM, "It looks like an address (https://…)."),
        ("ada@example.org", ANTHROPIC, "It looks like an e-mail address (name@…)."),
        ("110201543:AAHdqTc", TELEGRAM, "It has 17 characters in another format"),
        ("110201543:AAHdqTcvCH…", TELEGRAM, "It contains the character '\\u2026'"),
        ("two words", TELEGRAM, "It contains a space, so it was not copied as a whole."),
        ("x" * 5_000, TELEGRAM, "It has 5000 characters."),
    ],
)
def test_the_message_names_the_kind_of_credential_that_was_entered(
    value: str, wanted: CredentialFormat, said: str
) -> None:
    assert said in problem_of(value, wanted)


@for_each(
    "typed",
    [
        '"110201543:AA"',
        " 110201543:AA\r\n",
        "TELEGRAM_BOT_TOKEN=110201543:AA",
        "export TELEGRAM_BOT_TOKEN='110201543:AA'",
        "\u200b110201543:AA\ufeff",
        "`110201543:AA`",
        "Bot 110201543:AA",
        "Bearer 110201543:AA",
        'Bot "110201543:AA"',
        '"TELEGRAM_BOT_TOKEN=110201543:AA"',
        "TELEGRAM_BOT_TOKEN='Bot 110201543:AA'",
    ],
)
def test_marks_around_a_copied_value_do_not_matter(typed: str) -> None:
    assert cleaned(typed) == "110201543:AA"


async def test_the_credentials_of_the_simulators_have_the_platforms_form() -> None:
    simulators = (DiscordSimulator(), SlackSimulator(), TelegramSimulator(), WhatsAppSimulator())
    checked = 0
    for simulator in simulators:
        await simulator.start()
        settings = simulator.settings()
        await simulator.stop()
        for key, value in settings.items():
            expected = FORMATS.get((simulator.platform, key))
            if expected is not None:
                assert problem_of(str(value), expected) == "", (simulator.platform, key)
                checked += 1
    assert checked == len(FORMATS)
