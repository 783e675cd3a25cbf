"""`/clear` deletes the history of a conversation and, on request, the memories learned in it;
`/task` shows, sets or ends its task, in a room for members only."""

from datetime import datetime
from typing import Final

from gateway.message import Reply
from gateway.people import Audience
from gateway.policy.response_filter import filter_response
from gateway.ports.conversations import MAX_TASK, ConversationTask
from gateway.text import Text, counted, joined, label, text, verbatim
from gateway.turn import confirmations
from gateway.turn.confirmations import Answer, PendingConfirmation
from gateway.turn.context.task import NO_TASK, may_set_task, prepared_task, reads_like_instructions
from gateway.turn.memory import caller_of
from gateway.turn.prompt import clean_name
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

HISTORY: Final = label("Delete history")
LEARNED: Final = label("Also what I learned")
KEEP: Final = label("Keep")
QUESTION: Final = text(
    "Delete the history of this conversation? I will no longer see its earlier messages. My "
    "memories of you stay (`/memories` shows them)."
)
FOR_ALL: Final = text("This deletes the history for everybody here.")
OFFER: Final = text(
    "**{label}** deletes, besides the history, what I learned about you in this conversation and "
    "the messages of it that I keep ({count} in total)."
)
LEARNED_NOT_YOURS: Final = text(
    "Only the person who asked can delete what I learned about them. You can still delete the "
    "history alone."
)
NOTHING: Final = text("There was nothing to delete.")
STAYS: Final = text("My memories of you stay: `/memories` shows them, `/forget …` deletes them.")
STAY_OF_ALL: Final = text("My memories of people stay.")
CLEARED: Final = counted(
    "Done: deleted {count} message of this conversation's history.",
    "Done: deleted {count} messages of this conversation's history.",
)
FORGOTTEN: Final = counted(
    "I also deleted {count} memory from this conversation.",
    "I also deleted {count} memories from this conversation.",
)

NONE: Final = text(
    "No task is set here. To set one, write the topic of this conversation after the command: "
    "`/task plan the trip`."
)
ENDED: Final = text("Done: this conversation has no task.")
TASK_NOT_YOURS: Final = text(
    "Only members may set or end the task of a channel or group, and your role is guest. Ask a "
    "member, or set a task of your own in a direct message with me."
)
INSTRUCTIONS: Final = text(
    "That reads like instructions to me, and they would affect my answers to everybody here. "
    "Describe the topic of this conversation in other words."
)
READ_BY_ALL: Final = text(
    "That may contain a password or a key, and everybody here would read it. The task is not set. "
    "Describe it without the secret, or set it in a direct message with me."
)
TOO_LONG: Final = text(
    "A task has at most {most} characters. The task is not set; write a shorter one."
)
TASK: Final = text("The task here:")
TASK_BY: Final = text("The task here (set by {name}):")
ENDS: Final = text("`/task end` ends it.")


async def ask_to_clear(turn: TurnContext, services: Services, aside: Text | None) -> Reply:
    """Return the question with its buttons."""
    now, conversation = services.clock.now(), str(turn.key)
    kept = PendingConfirmation("clear", str(turn.asker.who.person), turn.key, at=now.isoformat())
    await confirmations.remember(services, turn.id, kept)
    yes, no = confirmations.buttons(turn.id, HISTORY, KEEP)
    count = await services.memory.learned(caller_of(turn, services), conversation)
    most = turn.connected.manifest.capabilities.max_buttons
    offers = count > 0 and (most == 0 or most > len((yes, no)))  # typed where there are none
    for_all = FOR_ALL if turn.place.audience is not Audience.DIRECT else None
    said = joined((one for one in (QUESTION, for_all, aside) if one is not None), " ")
    if offers:
        said = joined((said, OFFER.of(label=LEARNED, count=count)), "\n\n")
    more = (confirmations.also_learned(turn.id, LEARNED),) if offers else ()
    until = now + confirmations.VALID_FOR
    return Reply(said, (yes, *more, no), buttons_until=until)


async def clear(
    confirmation: PendingConfirmation, answer: Answer, turn: TurnContext, services: Services
) -> Reply:
    """Delete the history; returns the answer."""
    gone = await services.stores.conversations.clear(confirmation.key)
    services.recent_secrets.forget(str(confirmation.key))
    if answer != "learned":
        in_room = turn.place.audience is not Audience.DIRECT
        done = CLEARED.of(count=gone) if gone else NOTHING
        return Reply(joined((done, STAY_OF_ALL if in_room else STAYS), " "))
    until = datetime.fromisoformat(confirmation.at)
    caller, conversation = caller_of(turn, services), str(confirmation.key)
    learned = await services.memory.forget_learned(caller, conversation, until)
    return Reply(joined((CLEARED.of(count=gone), FORGOTTEN.of(count=learned)), " "))


async def run_task(turn: TurnContext, arguments: str, services: Services) -> Text:
    """Run `/task`; returns the answer."""
    notes, now = services.stores.notes, services.clock.now()
    typed = arguments.strip()
    if not typed:
        _, kept = await services.stores.conversations.opened(turn.key, 1)
        return shown(kept.task) if kept.task else NONE
    in_room = turn.place.audience is not Audience.DIRECT
    if not may_set_task(turn.asker.who, turn.place.audience):
        return TASK_NOT_YOURS
    if typed.lower() in NO_TASK:
        await notes.set_task(turn.key, None, now)
        return ENDED
    if len(typed) > MAX_TASK:
        return TOO_LONG.of(most=MAX_TASK)
    author = turn.asked.last.author
    task = ConversationTask(prepared_task(typed), str(turn.asker.who.person), author.name)
    if not task.text:
        return NONE
    if in_room and (reads_like_instructions(typed) or reads_like_instructions(task.text)):
        return INSTRUCTIONS
    if filter_response(task.text, turn.place.audience).blocked:
        return READ_BY_ALL
    await notes.set_task(turn.key, task, now)
    return shown(task)


async def set_confirmed_task(confirmation: PendingConfirmation, services: Services) -> Text:
    """Set the task that the model proposed and the person confirmed; returns the answer in
    Markdown."""
    task = ConversationTask(
        confirmation.text, confirmation.person, confirmation.name, confirmation.message_id
    )
    await services.stores.notes.set_task(confirmation.key, task, services.clock.now())
    return shown(task)


def shown(task: ConversationTask) -> Text:
    """Return the task and the person who set it, if the platform gives a name."""
    quoted = verbatim("\n".join(f"> {line}" for line in task.text.splitlines()))
    name = clean_name(task.name)
    head = TASK_BY.of(name=verbatim(name)) if name else TASK
    return joined((head, quoted, ENDS), "\n\n")
