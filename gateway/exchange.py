"""One question and its answer, as it makes its way through the stages."""

from dataclasses import dataclass, field
from datetime import datetime

from gateway.context.steps import Opened
from gateway.conversation import ConversationKey
from gateway.delivery.live.answer import LiveAnswer
from gateway.message import ChatMessage, Outbound, Place
from gateway.metering import Meter
from gateway.observe.observer import Timing
from gateway.people import Principal
from gateway.policy.decision import Decision
from gateway.ports import ContentBlock
from gateway.remembering import Aftermath, TurnMemory
from gateway.services import Connected
from gateway.stores import Trace
from gateway.turn.types import TurnResult

MAX_DECISIONS = 50


@dataclass(slots=True)
class Exchange:
    """What is known so far. Each stage reads what earlier ones wrote and adds its own.

    `messages` are of one author, oldest first; several when they were collected. `contents` are
    their words as the model gets them. `place` is where the answer goes. `meter` counts what the
    turn costs, once it may cost anything. `again`: an earlier run may have begun the work and died.
    `live` shows the answer while it is written. `aftermath` stands under the answer and is not
    part of it.
    """

    id: str
    inbox_ids: tuple[str, ...]
    messages: tuple[ChatMessage, ...]
    contents: tuple[str, ...]
    place: Place
    key: ConversationKey
    connected: Connected
    started: datetime
    started_monotonic: float
    stored_monotonic: float = 0.0
    kind: str = "message"
    reply_handle: str = ""
    again: bool = False
    principal: Principal | None = None
    meter: Meter | None = None
    opened: Opened = field(default_factory=Opened)
    files: tuple[ContentBlock, ...] = ()
    result: TurnResult | None = None
    live: LiveAnswer | None = None
    refused: bool = False
    memory: TurnMemory | None = None
    answer: str = ""
    aftermath: Aftermath = field(default_factory=Aftermath)
    outbound: tuple[Outbound, ...] = ()
    decisions: list[Decision] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)

    @property
    def last(self) -> ChatMessage:
        """The message that is answered."""
        return self.messages[-1]

    @property
    def content(self) -> str:
        """All that was written, as the model gets it."""
        return "\n".join(content for content in self.contents if content)

    @property
    def who(self) -> Principal:
        """The principal, once the first stage has run."""
        if self.principal is None:
            raise AssertionError("the principal is asked for before the stage that finds it")
        return self.principal

    def note(self, decision: Decision) -> None:
        """Keep a decision for the trace."""
        if len(self.decisions) < MAX_DECISIONS:
            self.decisions.append(decision)

    def trace(self, outcome: str, now_monotonic: float) -> Trace:
        """What was decided, for `parley why`."""
        return Trace(
            id=self.id,
            message_id=self.last.id,
            platform=self.place.platform,
            account=self.place.account,
            conversation=str(self.key),
            kind=self.kind,
            at=self.started,
            decisions=tuple(self.decisions),
            outcome=outcome,
            milliseconds=(now_monotonic - self.started_monotonic) * 1000,
        )
