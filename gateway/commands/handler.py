"""Commands, button presses, edits, deletions and inline queries: events that are not questions to
the model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.commands import (
    approve_command,
    help_command,
    language_command,
    reminders_command,
    takeover_button,
    timezone_command,
)
from gateway.commands.approve_command import press_approval, run_approve
from gateway.commands.catalogue import (
    APPROVE,
    ASKS,
    CATCHUP,
    HELP,
    REMINDERS,
    START,
    VOICE,
    offers,
    threads_aside,
)
from gateway.commands.catchup_command import run_catchup
from gateway.commands.conversation_commands import (
    LEARNED_NOT_YOURS,
    TASK_NOT_YOURS,
    ask_to_clear,
    clear,
    run_task,
    set_confirmed_task,
)
from gateway.commands.language_command import press_language, run_language
from gateway.commands.quiet_command import run_quiet
from gateway.commands.reminders_command import press_appointment, run_reminders
from gateway.commands.timezone_command import press_timezone, run_timezone
from gateway.commands.voice_command import run_voice
from gateway.errors import BadInput, DeliveryError
from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    Outbound,
    Reply,
    send_key,
)
from gateway.people import Audience, Role
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import inline_rules
from gateway.ports.memory import Caller, GivenFile
from gateway.ports.queues import InboxEntry
from gateway.ports.rights import Credential, Proof, missing
from gateway.text import Sentence, Span, Text, counted, joined, text
from gateway.turn import confirmations
from gateway.turn.admission import principal_of, served
from gateway.turn.audit import audit
from gateway.turn.confirmations import Answer, PendingConfirmation
from gateway.turn.context.history import since
from gateway.turn.context.summary import summary_in_time
from gateway.turn.context.task import may_set_task
from gateway.turn.history_and_summary import complete_quotes, limits_of
from gateway.turn.lateness import note_lateness
from gateway.turn.memory import caller_of, redact_aside
from gateway.turn.pipeline import (
    COMMAND_ADMISSION,
    COMMAND_LIMITS,
    ENTRY,
    Pipeline,
    private_reader,
)
from gateway.turn.prompt import MAX_QUOTE, clip, quotation
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

NOT_YOURS: Final = text(
    "Only members may delete the history of a channel or group, and your role is guest. Ask a "
    "member. In a direct message with me `/clear` deletes our own history."
)
SEES_NOTHING: Final = text("Memory is off for you here: I see only the message that I answer.")
TASK_UNSEEN: Final = text("Memory is off for you here, so I ignore the task when I answer you.")
ASK_WHAT: Final = text("What would you like to ask? Write it after the command: `/ask …`")
UNKNOWN: Final = text("I do not have this command. `/help` shows what I can do.")
NOT_ALLOWED: Final[Mapping[Role, Sentence]] = {
    Role.OWNER: text("Only owners may use this command."),
    Role.OPERATOR: text("Only owners and operators may use this command."),
    Role.MEMBER: text(
        "Guests may not use this command, and your role is guest. An owner or operator can make "
        "you a member."
    ),
    Role.GUEST: UNKNOWN,  # everybody in a chat is at least a guest
}
CLOSED: Final = text("This question is no longer open. Ask me again, or send the command again.")
STOPPED: Final = text("Stopped.")
NOTHING_RUNS: Final = text("There is nothing to stop.")
NOT_THE_ASKER: Final = text("Only the person who asked can answer this.")
ANSWERED: Final = text("This question was answered already.")
TASK_KEPT: Final = text("The task was not changed.")
NOTHING_DELETED: Final = text("Nothing was deleted.")
NOTHING_SEEN: Final = text("I see no earlier messages of this conversation.")
SEES: Final = counted(
    "I see the last **{count}** message of this conversation (at most {most}, none older than "
    "{age}). It takes about **{tokens}** of {most_tokens} tokens.",
    "I see the last **{count}** messages of this conversation (at most {most}, none older than "
    "{age}). They take about **{tokens}** of {most_tokens} tokens.",
)
SUMMARISED: Final = text("A summary replaces earlier messages.")
CLEARS: Final = text("`/clear` deletes them.")
Command = Callable[[TurnContext, str, Services], Awaitable[Reply]]
SIMPLE: Final[Mapping[str, Command]] = {
    "language": run_language,
    "timezone": run_timezone,
    "quiet": run_quiet,
    VOICE.name: run_voice,
    REMINDERS.name: run_reminders,
    APPROVE.name: run_approve,
}
"""The commands that are their reply and nothing more."""
log = structlog.get_logger(__name__)
MAX_FILES: Final = 1
MAX_BYTES: Final = 1024 * 1024
"""Size limit of a file; a larger one is not fetched."""
TOO_LARGE: Final = f"it has more than {MAX_BYTES:,} bytes"
STOPPED_NOTHING: Final = text("Your `/stop` reached me too late, so I stopped nothing.")
NOT_FETCHED: Final = "it could not be fetched from the platform; send it again"


class CommandHandler:
    """Handles commands and other events that are not questions to the model."""

    def __init__(self, services: Services, pipeline: Pipeline) -> None:
        self._services = services
        self._pipeline = pipeline

    async def command(self, entry: InboxEntry, event: CommandInvoked) -> None:
        """Run a command, if the person is allowed to."""
        turn = self._pipeline.open(entry)
        admitted = await self._pipeline.admit(turn, COMMAND_ADMISSION)
        if not admitted or not await self._may(turn, event.name):
            return
        match event.name:
            case "context":
                seen = await self._context(turn) if await self._keeps(turn) else SEES_NOTHING
                await self._answer(turn, Reply(self._with_aside(turn, "context", seen)))
            case "clear":
                await self._ask_to_clear(turn)
            case "task":
                task = await run_task(turn, event.arguments, self._services)
                said = task if await self._keeps(turn) else joined((task, TASK_UNSEEN), " ")
                await self._answer(turn, Reply(self._with_aside(turn, "task", said)))
            case name if name in SIMPLE:
                await self._answer(turn, await self._run(SIMPLE[name], turn, event.arguments))
            case CATCHUP.name:
                await self._catch_up(turn, event.arguments)
            case _ if event.name == ASKS:
                await self._answer(turn, Reply(ASK_WHAT))
            case _ if event.name in (HELP, START):
                page = help_command.help_reply(turn, event.arguments, self._services)
                await self._answer(turn, page)
            case _:
                await self._more(turn, event.name, event.arguments)

    async def stop(
        self, entry: InboxEntry, event: CommandInvoked, stop_running: Callable[[str], bool]
    ) -> None:
        """End the running turn of this conversation. A person without remaining quota may do that
        too; only the command without a running turn is rate-limited."""
        turn = self._pipeline.open(entry)
        if not await self._pipeline.admit(turn, ENTRY) or not await self._may(turn, event.name):
            return
        note_lateness(turn, self._services)
        if turn.attempt.late is not None:  # what runs now is not what it was meant for
            await self._answer(turn, Reply(STOPPED_NOTHING))
            return
        stopped = stop_running(entry.conversation)
        if not stopped and not await self._pipeline.admit(turn, COMMAND_LIMITS):
            return
        nothing = self._with_aside(turn, "stop", NOTHING_RUNS)
        await self._answer(turn, Reply(STOPPED if stopped else nothing))

    async def press(self, entry: InboxEntry, event: ButtonPressed) -> None:
        """Handle the press of a button."""
        turn = self._pipeline.open(entry)
        if not await self._pipeline.admit(turn, COMMAND_ADMISSION):
            return
        if not confirmations.is_confirmation(event.value):
            await self._answer(turn, await self._pressed(turn, event.value), event)
            return
        pending = await confirmations.recall(self._services, event.value)
        if pending is None:
            await self._answer(turn, Reply(CLOSED), event)
            return
        confirmation_id, question, answer = pending
        if not confirmations.may_answer(question, str(turn.asker.who.person), turn.asker.who.role):
            decision = Decision("confirmation", False, "not_the_asker")
            turn.note(decision)
            await audit("confirmation_denied", turn, self._services, decision)
            refused = Reply(NOT_THE_ASKER, leaves_buttons=True)
            await self._answer(turn, refused, event)
            return
        if answer == "learned":
            if question.person != str(turn.asker.who.person):
                await self._answer(turn, Reply(LEARNED_NOT_YOURS, leaves_buttons=True), event)
                return
            await redact_aside(turn, self._services)
        first = await confirmations.claim(self._services, confirmation_id, turn.id)
        turn.note(Decision("confirmation", True, answer if first else "answered_already"))
        if answer != "no" and not may_set_task(turn.asker.who, turn.place.audience):
            words = TASK_NOT_YOURS if question.action == "task" else NOT_YOURS
            await self._answer(turn, Reply(words), event)
            return
        await self._answer(turn, await self._settle(question, answer, first, turn), event)

    def owns(self, value: str) -> bool:
        """Return True for the value of a button that is not a question to the model."""
        return (
            confirmations.is_confirmation(value)
            or approve_command.owns(value)
            or help_command.owns(value)
            or language_command.owns(value)
            or timezone_command.owns(value)
            or takeover_button.owns(value)
            or reminders_command.owns(value)
            or self._services.more_commands.owns(value)
        )

    async def inline(self, event: InlineQueried) -> None:
        """Answer an inline query with suggestions."""
        services, place = self._services, event.place
        connected = services.connected[place.platform, place.account]
        tenant = services.extensions.tenant_of(place, place.identity(event.author))
        who = principal_of(event.author, place, tenant, services)
        decision = await served(who, place, event.author.known, services)
        if not (decision.allowed and connected.inline):
            return
        sender = await services.identities.human(tenant, who.person)
        now = services.clock.now().timestamp()
        taken = await services.stores.buckets.take(inline_rules(tenant, sender, place), now)
        if not taken.allowed:
            services.count("inline_limited", place.platform)
            return
        offered = await offers(event, who, services)
        if not offered:
            return
        try:
            await connected.inline.answer_inline(event.event_id, offered)
        except DeliveryError as error:
            log.warning("inline_not_answered", platform=place.platform, error=str(error))

    async def _may(self, turn: TurnContext, name: str) -> bool:
        """The one check of rights of the commands: True if this person may write it; otherwise
        answer why not."""
        spec = next((one for one in self._services.commands if one.name == name), None)
        if spec is None:
            await self._answer(turn, Reply(UNKNOWN))
            return False
        needed = missing(spec.allowed, Proof(Credential.CHAT, turn.asker.who.role))
        if needed:
            decision = Decision("command", False, f"needs_{needed}")
            turn.note(decision)
            await audit("command_denied", turn, self._services, decision)
            await self._answer(turn, Reply(NOT_ALLOWED[spec.allowed.role]))
        return not needed

    async def _run(self, command: Command, turn: TurnContext, arguments: str) -> Reply:
        try:
            return await command(turn, arguments, self._services)
        except BadInput as error:
            return Reply(error.text)

    async def _catch_up(self, turn: TurnContext, arguments: str) -> None:
        try:
            reply, announced = await run_catchup(turn, arguments, self._services)
        except BadInput as error:
            reply, announced = Reply(error.text), ()
        await self._answer(turn, reply, after=announced)

    async def _context(self, turn: TurnContext) -> Text:
        now = self._services.clock.now()
        limits = limits_of(self._services)
        stored, notes = await self._services.stores.conversations.opened(
            turn.key, limits.max_messages
        )
        summary = summary_in_time(notes.summary, limits, now)
        turns = since(stored, summary, limits, now)
        if not turns and summary is None:
            return NOTHING_SEEN
        tokens = sum(estimate(each.whole) for each in turns)
        sees = SEES.of(
            count=len(turns),
            most=limits.max_messages,
            tokens=tokens,
            most_tokens=limits.max_tokens,
            age=Span(limits.ttl.total_seconds()),
        )
        return joined((sees, SUMMARISED, CLEARS) if summary is not None else (sees, CLEARS), " ")

    async def _keeps(self, turn: TurnContext) -> bool:
        """Return False if the person switched memory off."""
        await redact_aside(turn, self._services)
        memory = await self._services.memory.turn(caller_of(turn, self._services))
        return memory.keeps

    async def _more(self, turn: TurnContext, name: str, arguments: str) -> None:
        """Run a command beside the gateway's own."""
        await redact_aside(turn, self._services)
        caller = caller_of(turn, self._services)
        if any(spec.takes_files and spec.name == name for spec in self._services.commands):
            caller = replace(caller, files=await given_files(turn))
        if turn.asked.last.quote is not None:
            caller = await _with_reply(turn, caller, self._services)
        try:
            reply = await self._services.more_commands.run(name, arguments, caller)
        except BadInput as error:
            reply = Reply(error.text)
        await self._answer(turn, reply)

    async def _pressed(self, turn: TurnContext, value: str) -> Reply:
        await redact_aside(turn, self._services)
        try:
            if approve_command.owns(value):
                return await press_approval(turn, value, self._services)
            if help_command.owns(value):
                return help_command.help_reply(turn, help_command.MORE, self._services)
            if language_command.owns(value):
                return await press_language(turn, value, self._services)
            if timezone_command.owns(value):
                return await press_timezone(turn, value, self._services)
            if takeover_button.owns(value):
                return await takeover_button.press_share(turn, value, self._services)
            if reminders_command.owns(value):
                return await press_appointment(turn, value, self._services)
            return await self._services.more_commands.press(value, caller_of(turn, self._services))
        except BadInput as error:
            in_room = turn.place.audience is not Audience.DIRECT
            return Reply(error.text, leaves_buttons=in_room)  # they may belong to another person

    async def _ask_to_clear(self, turn: TurnContext) -> None:
        if not may_set_task(turn.asker.who, turn.place.audience):
            await self._answer(turn, Reply(NOT_YOURS))
            return
        await redact_aside(turn, self._services)
        reply = await ask_to_clear(turn, self._services, self._aside(turn, "clear"))
        await self._answer(turn, reply)

    async def _settle(
        self, question: PendingConfirmation, answer: Answer, first: bool, turn: TurnContext
    ) -> Reply:
        if not first:
            return Reply(ANSWERED)
        confirmed = answer != "no"
        if question.action == "task":
            return Reply(
                await set_confirmed_task(question, self._services) if confirmed else TASK_KEPT
            )
        if not confirmed:
            return Reply(NOTHING_DELETED)
        return await clear(question, answer, turn, self._services)

    def _aside(self, turn: TurnContext, name: str) -> Text | None:
        can, assistant = turn.connected.manifest.capabilities, self._services.assistant.name
        return threads_aside(name, turn.place, can, assistant)

    def _with_aside(self, turn: TurnContext, name: str, said: Text) -> Text:
        aside = self._aside(turn, name)
        return said if aside is None else joined((said, aside), " ")

    async def _answer(
        self,
        turn: TurnContext,
        reply: Reply,
        press: ButtonPressed | None = None,
        after: Sequence[Outbound] = (),
    ) -> None:
        """Answer a command or a press; in a room, where the platform can, only to its author.
        Removes the pressed buttons."""
        if turn.place.audience is not Audience.DIRECT:
            reply = replace(reply, private_to=private_reader(turn))
        if reply.forgets:
            self._services.deliverer.expiring.forget_person(str(turn.asker.who.person))
            self._services.admissions.changed()
            with suppress(StoreUnavailable):  # read again within seconds
                await self._services.admissions.refresh()
            self._services.readers.forget(turn.asker.who.tenant, turn.asker.person)
            self._services.disclosure.forget(turn.asker.who.tenant, turn.asker.person)
        gone = press is not None and not reply.leaves_buttons
        after = buttons_gone(turn, press) if gone and press is not None else after
        await self._pipeline.reply(turn, reply, "answered", after)


def buttons_gone(turn: TurnContext, press: ButtonPressed) -> tuple[Outbound, ...]:
    """Return the send that removes the pressed buttons, where the platform can."""
    if not (press.message_id and turn.connected.clears_buttons):
        return ()
    return (
        Outbound(
            send_key(f"{turn.id}:pressed", 0),
            press.place,
            press.shown,
            reply_handle=press.reply_handle,
            clears=press.message_id,
        ),
    )


async def given_files(turn: TurnContext) -> tuple[GivenFile, ...]:
    """Return the files of the command's message, each with its bytes or an error."""
    attachments = [one for message in turn.asked.messages for one in message.attachments]
    files = []
    for one in attachments[:MAX_FILES]:
        data, problem = None, NOT_FETCHED
        if one.size is not None and one.size > MAX_BYTES:
            problem = TOO_LARGE
        elif turn.connected.files is not None:
            try:
                data, problem = await turn.connected.files.fetch(one, MAX_BYTES), ""
            except BadInput:
                problem = TOO_LARGE
            except DeliveryError:
                problem = NOT_FETCHED
        files.append(GivenFile(one.name, data, problem))
    return tuple(files)


async def _with_reply(turn: TurnContext, caller: Caller, services: Services) -> Caller:
    """Return the caller with the message to which a command replies. Raises `StoreUnavailable`."""
    await complete_quotes(turn, services)
    last = turn.asked.last
    if last.quote is None or last.quote.is_empty:
        return caller
    spoken = any(file.voice for file in last.quote.attachments)
    own = bool(last.quote.author_id) and last.quote.author_id == last.author.id
    if own and not spoken:  # words that a program heard are not what the person wrote
        return replace(caller, replied=clip(last.quote.text, MAX_QUOTE))
    return replace(caller, material=(*caller.material, quotation(last.quote)))
