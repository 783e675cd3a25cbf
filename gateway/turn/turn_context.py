"""One question and its answer: the state that the stages of a turn share, made of one event or of
several messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from uuid import uuid4

from gateway.authorship import Material, text_of, within_bounds
from gateway.conversation import ConversationKey
from gateway.documents.model import ReadDocument
from gateway.immutable import replace
from gateway.message import (
    NOTHING_SHOWN,
    Attachment,
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageEdited,
    MessageReceived,
    Outbound,
    OutboundFile,
    Place,
    ShownReply,
)
from gateway.outbound.live.answer import LiveAnswer
from gateway.people import Audience, Principal
from gateway.platforms import ConnectedAccount
from gateway.policy.cut_text import seam, texts_of
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import RedactedMessages, redact_name
from gateway.policy.question_age import Late
from gateway.policy.refusals import Sharing
from gateway.ports import ContentBlock, ToolProvider
from gateway.ports.long_documents import LongDocument
from gateway.ports.memory import NOTHING_BENEATH, ShownFooter, TurnMemory
from gateway.ports.observer import Timing
from gateway.ports.prompt_blocks import (
    NO_PROMPT_PARTS,
    KnowledgeItem,
    MissingPart,
    PromptParts,
    ThreadText,
)
from gateway.ports.traces import NO_CONVERSATION, Duration, Trace, ring_slot
from gateway.ports.unit_of_work import CompletedTurn
from gateway.text import ENGLISH, NO_TEXT, Language, Text
from gateway.turn.catchup_tool import CatchUpTool
from gateway.turn.context.history import NO_HISTORY, LoadedHistory
from gateway.turn.context.task import TaskTool
from gateway.turn.metering import Meter
from gateway.turn.model_turn import TurnRequest, TurnResult
from gateway.turn.readers import place_language
from gateway.turn.recording import Recording
from gateway.turn.reminder_tool import RemindTool
from gateway.turn.services import Policies

MAX_DECISIONS = 50
MICRO = 1_000_000
MAX_LOOKED_UP = 2_000
"""Characters of material that recall searches for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question; set when the turn is opened, and when turns are merged.

    `messages` are of one author, oldest first, and `contents` their own words; several when they
    were collected. `joints` are what stands before each message that continues the one before it,
    None before a message of its own. `inbox_ids` name the events, `kind` is that of the last one,
    which `reply_handle` answers; `command` is the name of a command. `received_at` is the time at
    which the last event was stored, None without one; `asked_at` is when its message was written.
    """

    inbox_ids: tuple[str, ...]
    messages: tuple[ChatMessage, ...]
    contents: tuple[str, ...]
    joints: tuple[str | None, ...] = ()
    kind: str = "message"
    reply_handle: str = ""
    command: str = ""
    received_at: datetime | None = None
    asked_at: datetime | None = None
    scheduled_for: datetime | None = None
    """The time for which its author scheduled it; None for a question of this moment."""

    @property
    def last(self) -> ChatMessage:
        """The message that is answered."""
        return self.messages[-1]

    @property
    def reply_to_id(self) -> str:
        """The id of the message under which the answer stands, empty for other events."""
        return self.last.id if self.kind == "message" else ""

    @property
    def content(self) -> str:
        """The author's own text of all messages."""
        if len(self.contents) == 1:
            return self.contents[0]
        return "\n".join(content for _, content in self.texts if content)

    @property
    def texts(self) -> tuple[tuple[ChatMessage, str], ...]:
        """Each message with the author's own text of it and of the messages that continue it."""
        texts: list[tuple[ChatMessage, str]] = []
        joints = self.joints or (None,) * len(self.messages)
        for message, content, joint in zip(self.messages, self.contents, joints, strict=True):
            if joint is None:
                texts.append((message, content))
            else:
                first, before = texts[-1]
                texts[-1] = (first, f"{before}{joint}{content}")
        return tuple(texts)

    @property
    def material(self) -> tuple[Material, ...]:
        """The text of others that the author shows, without quoted messages."""
        if len(self.messages) == 1:
            return self.messages[0].material
        return tuple(piece for message in self.messages for piece in message.material)

    @property
    def question(self) -> str:
        """The text that recall searches for: own text, or the material, or what is replied to."""
        replied = "\n".join(one.quote.text for one in self.messages if one.quote)
        return self.content or (text_of(self.material) or replied)[:MAX_LOOKED_UP]


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """A file of a message with its text; of the thread without secrets.

    `shown` are the characters of its pages that the prompt has. `message_id` is the platform's id
    of its message, empty for a file of the thread.
    """

    attachment: Attachment
    document: ReadDocument
    shown: int = 0
    message_id: str = ""

    @property
    def whole(self) -> bool:
        """True if the prompt has all of its text."""
        return self.shown >= self.document.characters


@dataclass(slots=True)
class Attempt:
    """This attempt to answer, which `id` names.

    The times of its start and of the storing of its last event: `started` by the clock, the others
    in monotonic seconds. `again`: an earlier attempt may have begun the work and died. `counted`:
    an earlier attempt, which a store interrupted, passed the rate limits. `late` is set if the
    message was written long ago, `may_repeat` if its answer may have been sent before, `outdated`
    if its author changed a message after the answer was seen. `begins_again`: the turn is ended for
    a change of its messages.
    """

    started: datetime
    started_monotonic: float
    stored_monotonic: float = 0.0
    again: bool = False
    counted: bool = False
    late: Late | None = None
    may_repeat: bool = False
    outdated: bool = False
    begins_again: bool = False
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(slots=True)
class Asker:
    """The author of the messages; filled by the stages of admission.

    `person` is a `str(PersonId)`, empty before the first stage has run. `sender` is the key under
    which limits and budgets count them; `sharing` says with whom a limit is shared that refused
    them. `language` is the one in which they read, `zone` the one
    in which they count days.
    """

    principal: Principal | None = None
    person: str = ""
    sender: str = ""
    sharing: Sharing | None = None
    language: Language = ENGLISH
    zone: tzinfo = UTC

    @property
    def who(self) -> Principal:
        """The principal, after the first stage."""
        if self.principal is None:
            raise AssertionError("the principal is read before the stage that sets it")
        return self.principal


@dataclass(slots=True)
class Inputs:
    """The inputs of the prompt; filled by the stages from `open_memory` to `recall`.

    `opened` is the history. `thread` are earlier messages of the thread, for this question alone,
    `thread_files` the files in them that the model gets; `thread_note` tells the model about those
    that it does not see. `missing` are the parts of memory that could not be read, `files` the
    attachments as the model reads them. `documents` are those with text, whole, in the order in
    which the model gets them; `searchable` are those of the whole conversation. `recordings` are
    the files with speech, by their reference.
    """

    memory: TurnMemory | None = None
    opened: LoadedHistory = NO_HISTORY
    thread: ThreadText | None = None
    thread_files: tuple[Attachment, ...] = ()
    thread_note: str = ""
    files: tuple[ContentBlock, ...] = ()
    documents: tuple[AttachedDocument, ...] = ()
    recordings: Mapping[str, Recording] = field(default_factory=dict)
    searchable: tuple[LongDocument, ...] = ()
    prompt_parts: PromptParts = NO_PROMPT_PARTS
    knowledge: Sequence[KnowledgeItem] = ()
    missing: tuple[MissingPart, ...] = ()

    @property
    def unkept(self) -> bool:
        """True if the author wants this turn neither stored nor recalled for."""
        return self.memory is not None and not self.memory.keeps


@dataclass(slots=True)
class Generation:
    """The calls of the model; filled by `reserve_budget`, `assemble` and `generate`.

    `meter` counts what the turn costs, once it may cost anything. `tasks` holds the task that the
    model noted, `reminders` the appointments. `live` shows the answer while it is written.
    """

    meter: Meter | None = None
    tools: ToolProvider | None = None
    tasks: TaskTool | None = None
    reminders: RemindTool | None = None
    catchup: CatchUpTool | None = None
    """The tool for messages of the place, where they are kept."""
    request: TurnRequest | None = None
    live: LiveAnswer | None = None
    result: TurnResult | None = None

    @property
    def answered(self) -> bool:
        """True if a model answered."""
        return self.result is not None and not self.result.failed


@dataclass(slots=True)
class WrittenAnswer:
    """The answer of the model; filled by `generate` and the stages after it.

    `footer` stands under it for its author alone, `beneath` for everybody who reads it; neither is
    part of it.
    """

    text: str = ""
    closing: Text = NO_TEXT
    """The sentence of the program with which `text` ends, or which it is; empty for none."""
    files: tuple[OutboundFile, ...] = ()
    """The files of tools, which are sent behind the text."""
    footer: ShownFooter = NOTHING_BENEATH
    beneath: ShownReply = NOTHING_SHOWN
    spoken: OutboundFile | None = None
    """The answer as a voice message; None if it is not spoken."""
    unspoken: Text | None = None
    """A sentence that it could not be spoken; None for none."""


@dataclass(slots=True)
class StoredTexts:
    """The texts of a turn as they are stored, without secrets.

    `kept` are the messages; `mended` is the id of an earlier message of the same author and its
    text without a half of a secret; `texts` are all others by what they were.
    """

    kept: RedactedMessages | None = None
    mended: tuple[str, str] | None = None
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class TurnContext:
    """The state of a turn, in one value for each part of it. Each stage reads what earlier stages
    wrote and adds its own.

    `place` is where the answer goes. `policies` hold for the whole turn. `collected` are the
    contexts of all its messages but the last. `outbound` are its sends, `outcome` is how it ended,
    in its trace; `completed` is set once it is saved. `forgets`: its person was erased, and nothing
    about them is kept of it.
    """

    id: str
    place: Place
    key: ConversationKey
    connected: ConnectedAccount
    policies: Policies
    asked: Asked
    attempt: Attempt
    asker: Asker = field(default_factory=Asker)
    inputs: Inputs = field(default_factory=Inputs)
    generation: Generation = field(default_factory=Generation)
    answer: WrittenAnswer = field(default_factory=WrittenAnswer)
    stored: StoredTexts = field(default_factory=StoredTexts)
    collected: "Sequence[TurnContext]" = ()
    outbound: tuple[Outbound, ...] = ()
    refusal: Decision | None = None
    forgets: bool = False
    outcome: str = ""
    completed: CompletedTurn | None = None
    decisions: list[Decision] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """True after a stage refused the turn."""
        return self.refusal is not None

    def language_of(self, *, alone: bool = False) -> Language:
        """Return the language in which people read an answer: the asker where they read it
        `alone`, otherwise that of the room, if it has one."""
        in_private = alone or self.place.audience is Audience.DIRECT
        name = "" if in_private else place_language(self.policies.languages, self.place)
        if not name:
            return self.asker.language
        return self.policies.languages.named(name).in_zone(self.asker.zone)

    def age_line(self) -> str:
        """Return the line above the answer that says how late it comes; empty if that needs no
        words."""
        late, language = self.attempt.late, self.language_of()
        return language.shown(late.line(language.zone)) if late is not None else ""

    def note(self, decision: Decision) -> None:
        """Add a decision beside those of the stages to the trace."""
        if len(self.decisions) < MAX_DECISIONS:
            self.decisions.append(decision)

    def trace(self, now_monotonic: float) -> Trace:
        """The decisions, for `parley why`."""
        return Trace(
            id=self.id,
            message_id="" if self.forgets else self.asked.last.id,
            platform=self.place.platform,
            account=self.place.account,
            conversation=NO_CONVERSATION if self.forgets else str(self.key),
            kind=self.asked.kind,
            at=self.attempt.started,
            decisions=tuple(self.decisions),
            outcome=self.outcome,
            milliseconds=(now_monotonic - self.attempt.started_monotonic) * 1000,
            durations=self._durations(),
            audience=self.place.audience,
            slot=ring_slot(f"{self.key.tenant}:{self.asker.sender or self.asker.person}", self.id)
            if self.refused
            else None,
        )

    def _durations(self) -> tuple[Duration, ...]:
        started = self.attempt.started_monotonic
        waited = int(max(0.0, started - self.attempt.stored_monotonic) * MICRO)
        return (
            ("queue", "waited", -waited, waited, "ok"),
            *[
                (kind, name, int((began - started) * MICRO), int(seconds * MICRO), ended, figures)
                if figures
                else (
                    *(kind, name, int((began - started) * MICRO), int(seconds * MICRO)),
                    f"{ended} {failure}" if failure else ended,
                )
                for kind, name, began, seconds, ended, figures, failure in self.timings[
                    :MAX_DECISIONS
                ]
            ],
        )


def question_of(event: InboundEvent, received_at: datetime) -> tuple[ChatMessage, str]:
    """Return the message to answer, and the reply handle, for any event of a person. The label of a
    button is not the person's own text."""
    material: tuple[Material, ...] = ()
    match event:
        case MessageReceived():
            return event.message, ""
        case CommandInvoked(message=ChatMessage() as message):
            return replace(message, content=event.arguments), event.reply_handle
        case MessageEdited():
            return event.message, ""
        case CommandInvoked():
            text, handle = event.arguments, event.reply_handle
        case ButtonPressed():
            text, handle = "", event.reply_handle
            material = within_bounds([Material("button", event.label)])
        case _:
            text, handle = "", ""
    author = event.author or MessageAuthor("")
    place = event.place
    message = ChatMessage(event.event_id, text, author, place, received_at, material=material)
    return message, handle


def with_kept_names(message: ChatMessage) -> ChatMessage:
    """Return the message with redacted names: of its author, of the quoted person, of its files."""

    def kept(files: Sequence[Attachment]) -> tuple[Attachment, ...]:
        return tuple(replace(file, name=redact_name(file.name)) for file in files)

    author, quote = message.author, message.quote
    if (name := redact_name(author.name)) != author.name:
        message = replace(message, author=replace(author, name=name))
    if quote is not None:
        name = redact_name(quote.author_name)
        quote = replace(quote, author_name=name, attachments=kept(quote.attachments))
    if not (quote or message.attachments):
        return message
    return replace(message, quote=quote, attachments=kept(message.attachments))


def joined(turns: Sequence[TurnContext]) -> list[TurnContext]:
    """Return one turn for each text: the pieces of a text are one question, which counts once."""
    if len(turns) == 1:
        return list(turns)
    cut, rest, asked = turns[0].connected.manifest.text_cut, iter(turns), []
    for messages in texts_of((turn.asked.last for turn in turns), cut):
        pieces = [next(rest) for _ in messages]
        turn = merge(pieces)
        joints = (None, *(seam(*pair, cut) for pair in pairwise(messages)))
        turn.asked = replace(turn.asked, joints=joints)
        turn.attempt.counted = any(piece.attempt.counted for piece in pieces)
        if len(pieces) > 1:
            turn.note(Decision("queue", True, "joined", f"{len(pieces)} pieces of one text"))
        asked.append(turn)
    return asked


def merge(turns: Sequence[TurnContext]) -> TurnContext:
    """Return one turn for several messages of one author: the last one, with the text of all."""
    last = turns[-1]
    if len(turns) == 1:
        return last
    asked = [each.asked for each in turns]
    last.asked = replace(
        last.asked,
        joints=tuple(
            joint for each in asked for joint in each.joints or (None,) * len(each.messages)
        ),
        messages=tuple(message for each in asked for message in each.messages),
        inbox_ids=tuple(inbox_id for each in asked for inbox_id in each.inbox_ids),
        contents=tuple(content for each in asked for content in each.contents),
    )
    last.collected = tuple(one for each in turns for one in (*each.collected, each))[:-1]
    last.attempt.again = any(each.attempt.again for each in turns)
    return last
