"""The later questions of `parley init`: who may write, the budget, memory, and the assistant."""

import math
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput, ConfigurationError, UsageError
from gateway.llm.prices import DEFAULT_PRICES, Price, cost, price_of
from gateway.ports import Usage
from parley import python_environment
from parley.cli.init.model import model_name
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import MenuOption, one_of
from parley.config.sections import MAX_PERSONA
from parley.config.yaml_file import Value
from parley.python_environment import install_command

SUGGESTED: Final = 10.0
"""Dollars per month."""
MOST: Final = 1_000_000.0
PROMPT_TOKENS: Final = 2_500
ANSWER_TOKENS: Final = 350
"""Tokens of an ordinary message: its prompt with earlier messages and memories, its answer."""
MICRO: Final = 1_000_000


def messages_for(dollars: float, price: Price) -> int:
    """About how many messages the budget pays for, rounded down to two figures; 0 for less than
    one."""
    each = cost(Usage(PROMPT_TOKENS, ANSWER_TOKENS), price)
    count = math.floor(dollars * MICRO / each) if each else 0
    scale: int = 10 ** max(0, len(str(count)) - 2)
    return count // scale * scale


def dollars_of(text: str) -> float:
    """`10`, `$10`, `10 dollars` or `7,50` as a number; `none` or `0` as 0. Raises `BadInput`."""
    word = text.strip().lower().removeprefix("$").removesuffix("dollars").removesuffix("usd")
    word = word.removesuffix("$").strip().replace(",", ".")
    if word in {"none", "no", "n"}:
        return 0.0
    try:
        amount = float(word)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MOST:
        raise UsageError("Write dollars per month, such as 10, or none.")
    return round(amount, 2)


class PricedBudget(Struct, frozen=True):
    """A monthly budget, and the prices of a model that the price list does not have; all in
    dollars, the prices per million tokens of input and of output."""

    amount: float
    input: float
    output: float


def priced_budget(text: str) -> PricedBudget | None:
    """`10 2.5 10` as a budget and the prices of input and output; None for empty input and for
    `none`. Raises `BadInput`."""
    words = text.lower().replace("/", " ").replace("$", " ").split()
    if words in ([], ["none"], ["no"], ["0"]):
        return None
    try:
        figures = [float(word.replace(",", ".")) for word in words]
    except ValueError:
        figures = []
    if len(figures) != 3 or not all(0 <= figure <= MOST for figure in figures):
        raise UsageError("Write three numbers, such as 10 2.5 10, or nothing.")
    return PricedBudget(round(figures[0], 2), figures[1], figures[2])


WHO: Final = "who may write"
BUDGET: Final = "budget"
MEMORY: Final = "memory"
ASSISTANT: Final = "assistant"
MAX_NAME: Final = 80
ADMISSIONS: Final = {"me": "owners", "approved": "approved", "everybody": "everybody"}
WHO_OPTIONS: Final = (
    MenuOption("me", "only me"),
    MenuOption("approved", "people I approve", "a stranger gets a code, which you approve"),
    MenuOption("everybody", "everybody", "all who can reach the bot, at your cost"),
)


def ask_who(session: InitSession) -> None:
    """Set `access.admission`. Raises `Stopped`, `ConfigurationError`."""
    section, given = session.answers.section("access"), session.given
    present = next((w for w, value in ADMISSIONS.items() if section.get("admission") == value), "")
    if given.who and given.who not in ADMISSIONS:
        raise ConfigurationError(f"--who {given.who}: write one of {', '.join(ADMISSIONS)}.")
    who = given.who or present or "approved"
    if not given.who and not given.yes:
        session.say()
        session.say("3. Who may write to the assistant?")
        session.say("You become its owner at the end, with a code that you send to it.", 2)
        who = session.terminal.choose("Who", WHO_OPTIONS, who)
    section["admission"] = ADMISSIONS[one_of(who, WHO_OPTIONS)]
    session.save(WHO)


def ask_for_budget(session: InitSession) -> None:
    """Set a monthly budget, where the model costs money. Raises `Stopped`, `ConfigurationError`."""
    section, name = session.answers.section("budgets"), model_name(session)
    present = section.get("workspace_per_month")
    provider = session.answers.section("model").get("provider", "offline")
    price = price_of(name, {**DEFAULT_PRICES, **_own_price(session, name)})
    free = provider == "offline" or (price is not None and not (price.input or price.output))
    if free and not session.given.budget:
        section.pop("workspace_per_month", None)
        _say_free(session, provider)
    elif session.given.budget or not session.given.yes:
        _set_budget(session, section, price, present)
    elif present is None and price is not None:
        section["workspace_per_month"] = SUGGESTED
    session.save(BUDGET)


def _say_free(session: InitSession, provider: Value) -> None:
    if session.given.yes:
        return
    session.say()
    offline = provider == "offline"
    reason = "this program writes the answers" if offline else "the model runs on your own server"
    session.say(f"4. Budget: not needed, because {reason}.")


def _own_price(session: InitSession, name: str) -> dict[str, Price]:
    """The price that the server or the existing configuration names."""
    if session.prices is not None:
        return {name: Price(*session.prices)}
    entry = session.answers.section("budgets", "prices").get(name)
    if not isinstance(entry, dict):
        return {}
    sides = [entry.get("input"), entry.get("output")]
    figures = [float(side) for side in sides if isinstance(side, int | float)]
    return {name: Price(figures[0], figures[1])} if len(figures) == 2 else {}


def _set_budget(
    session: InitSession, section: dict[str, Value], price: Price | None, present: Value
) -> None:
    asks = not session.given.budget
    if asks:
        session.say()
        session.say("4. How much may the answers cost in a month, in dollars?")
    if price is None:
        _set_priced_budget(session, section, asks=asks)
        return
    if asks:
        example = messages_for(SUGGESTED, price)
        session.say(f"{SUGGESTED:g} dollars pay for about {example:,} messages with"
                    f" {model_name(session)}. When the budget is used up, people get a notice"
                    " instead of an answer. Write `none` for no budget.", 2)  # fmt: skip
    default = f"{present:g}" if isinstance(present, int | float) else f"{SUGGESTED:g}"
    amount = (
        session.terminal.read("Dollars a month", dollars_of, default)
        if asks
        else _given_amount(session.given.budget)
    )
    _apply(session, section, amount, price)


def _set_priced_budget(session: InitSession, section: dict[str, Value], *, asks: bool) -> None:
    """Set a budget for a model whose price is not known: the answer names both."""
    name = model_name(session)
    budget = None
    if asks:
        session.say(f"The price of {name} is not known. The provider's price list has it, in"
                    " dollars per million tokens of input and of output.", 2)  # fmt: skip
        question = "  Dollars a month and both prices, such as 10 2.5 10 (empty for no budget)"
        budget = session.terminal.read(question, priced_budget)
    if budget is None:
        session.say(f"The price of {name} is not known, so there is no budget. Set one later with"
                    " budgets.prices and budgets.workspace_per_month.", 2)  # fmt: skip
        section.pop("workspace_per_month", None)
        return
    session.prices = (budget.input, budget.output)
    _apply(session, section, budget.amount, Price(*session.prices))


def _given_amount(text: str) -> float:
    try:
        return dollars_of(text)
    except BadInput as error:
        raise ConfigurationError(f"--budget {text}: {error}") from error


def _apply(session: InitSession, section: dict[str, Value], amount: float, price: Price) -> None:
    """Set the budget of a workspace; where only the owner writes, they may use all of it."""
    section.pop("workspace_per_month", None)
    section.pop("user_per_month", None)
    if not amount:
        return
    section["workspace_per_month"] = amount
    if session.answers.section("access").get("admission") == "owners":
        section["user_per_month"] = amount
    if session.prices is not None:
        prices = session.answers.section("budgets", "prices")
        prices[model_name(session)] = {"input": session.prices[0], "output": session.prices[1]}
    if not session.given.yes:
        text = f"About {messages_for(amount, price):,} messages a month for each Discord server or"
        session.say(f"{text} Slack team. The other chats of an account share one budget"
                    " (budgets.workspace_per_month).", 2)  # fmt: skip


def ask_for_memory(session: InitSession) -> None:
    """Switch memory on or off. Raises `Stopped`."""
    section = session.answers.section("memory")
    present = section.get("enabled", True) is not False
    enabled = present if session.given.memory is None else session.given.memory
    if session.given.memory is None and not session.given.yes:
        session.say()
        session.say("5. May the assistant remember what people tell it? Each person has their own"
                    " memories: /memories shows them, /forget deletes them.")  # fmt: skip
        enabled = session.terminal.yes("Memory", default=present)
    if enabled != present or "enabled" in section:
        section["enabled"] = enabled
    if (
        enabled
        and section.get("embedding_provider", "local") == "local"
        and python_environment.missing("models")
    ):
        session.left_to_do.append(
            "Optional: memories are found by their words. To find them by their meaning as well,"
            f" run: {install_command('models')}, then parley models pull{session.option}"
        )
    session.save(MEMORY)


def ask_for_assistant(session: InitSession) -> None:
    """Set the assistant's name and purpose. Raises `Stopped`, `ConfigurationError`."""
    section, given = session.answers.section("assistant"), session.given
    name, persona = session.assistant_name, given.persona
    if not given.name and not given.yes:
        session.say()
        session.say("6. What is the assistant's name? You can add its purpose after a comma: Ada,"
                    " helps the people of our workshop")  # fmt: skip
        name, typed = session.terminal.read("Name", named, name)
        persona = typed or persona
    elif given.name:
        name = _checked_name(given.name)
    section["name"] = name
    if persona is not None:
        section["persona"] = persona
    session.save(ASSISTANT)


def named(text: str) -> tuple[str, str]:
    """`Ada, helps our workshop` as name and purpose. Raises `BadInput`."""
    name, _, persona = text.partition(",")
    name, persona = name.strip(), persona.strip()
    if not name or not name.isprintable() or len(name) > MAX_NAME:
        raise UsageError(f"A name has 1 to {MAX_NAME} characters.")
    if len(persona) > MAX_PERSONA:
        raise UsageError(f"The purpose has at most {MAX_PERSONA} characters.")
    return name, persona


def _checked_name(text: str) -> str:
    try:
        return named(text.replace(",", " "))[0]
    except BadInput as error:
        raise ConfigurationError(f"--name: {error}") from error
