"""Sets the task that the model noted, or asks the person whether to, below the answer."""

from typing import Final

from gateway.commands import confirmations
from gateway.commands.confirmations import Confirmation
from gateway.exchange import Exchange
from gateway.message import Button, Reply
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.services import Services
from gateway.turn.context.task import ProposedTask

MARKUP: Final = frozenset("\\`*_[]()<>~|#@!")
SET: Final = "Task set: “{task}” · `/task end` ends it"
ENDED: Final = "The task was ended · `/task` and a text sets one"
ASKED: Final = (
    "Set this task? “{task}” I would see it with every question in this conversation, until "
    "`/task end`."
)
TYPED: Final = "No task is set yet. To set this task, write `/task` and the text: “{task}”"


async def settle_task(exchange: Exchange, services: Services) -> None:
    """Set the task that the model noted in the person's own words, or ask about it."""
    noted = exchange.tasks.noted if exchange.tasks is not None else None
    if noted is None or exchange.result is None or exchange.result.failed:
        return
    settled = _set if noted.stated else _asked
    exchange.note(await settled(noted, exchange, services))


async def _set(noted: ProposedTask, exchange: Exchange, services: Services) -> Decision:
    task = noted.task if noted.task.text else None
    await services.stores.notes.set_task(exchange.key, task, services.clock.now())
    told = SET.format(task=in_one_line(noted.task.text)) if task else ENDED
    _say(exchange, told)
    return Decision("task", True, "set" if task else "ended")


async def _asked(noted: ProposedTask, exchange: Exchange, services: Services) -> Decision:
    line = in_one_line(noted.task.text)
    yes_and_no = confirmations.buttons(exchange.id, "Set task", "No task")
    direct = exchange.place.audience is Audience.DIRECT
    taken = len(yes_and_no) + (len(exchange.aftermath.buttons) if direct else 0)
    if taken > exchange.connected.manifest.capabilities.max_buttons:
        _say(exchange, TYPED.format(task=line))
        return Decision("task", True, "left_to_type")
    task = noted.task
    asked = Confirmation(
        "task", str(exchange.who.person), exchange.key, task.text, task.name, task.message_id
    )
    await confirmations.remember(services, exchange.id, asked)
    _say(exchange, ASKED.format(task=line), yes_and_no)
    return Decision("task", True, "asked")


def _say(exchange: Exchange, line: str, buttons: tuple[Button, ...] = ()) -> None:
    exchange.beneath = Reply(f"_{line}_", buttons)


def in_one_line(text: str) -> str:
    """A text in one line, in which nothing is read as markup."""
    return "".join(f"\\{char}" if char in MARKUP else char for char in " ".join(text.split()))
