"""The playground: write to the assistant as oneself or as an invented person, and see how the
message is handled. Nothing of it is stored or sent; the cost is that of the viewer."""

import asyncio
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.markdown.unfinished import close_unfinished
from gateway.message import ChatMessage, MessageAuthor, Place
from gateway.people import Audience, Role, identity_of
from gateway.platforms import installed
from gateway.ports import ModelMessage, ModelRequest, TextBlock, ToolCall, ToolOutcome
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person
from gateway.text import (
    Text,
    text,
    verbatim,
)
from memory.actions.call import Digits
from parley.console.playgrounds import (
    MOST_MESSAGES,
    Playground,
    Try,
    owner_of,
)
from parley.console.reading import Excerpt, PlaceOut, excerpts
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.said import Said, SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.timeline import TimelineOut, timeline_of
from parley.console.viewer import Viewer
from parley.console.views.renderings import MAX_PLATFORMS, MAX_RENDERED, RenderingOut, rendered

PATH: Final = "/playground"
MAX_TEXT: Final = 4_000
MOST_OF_TALK: Final = 40_000
MOST_OF_PROMPT: Final = 30_000
"""Bytes of the texts of all messages, and of the prompt, in a page."""
MAX_PIECES: Final = 60
"""Parts of the prompt that a page shows."""
CHANNEL: Final = "playground"
THREAD: Final = "thread"
NO_PLATFORM: Final = text("There is no platform “{name}”. Choose one of: {known}.")
NO_COMMANDS: Final = text(
    "The playground sends messages to the assistant and runs no commands, such as {command}. Write "
    "the command in a chat."
)
NOTHING: Final = text("The message is empty. Write a text first.")
NOT_WRITING: Final = text("No answer is written at the moment.")
NONE_OPEN: Final = text("This playground has ended already.")

Id = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z_.:@+=-]{0,100}$")]
Who = Literal["self", "guest", "member", "operator"]
Where = Literal["direct", "public", "private", "thread"]
WHERE: Final[dict[Where, Audience]] = {
    "direct": Audience.DIRECT,
    "public": Audience.PUBLIC_ROOM,
    "private": Audience.PRIVATE_ROOM,
    "thread": Audience.PUBLIC_ROOM,
}


class PlaygroundQuery(Input):
    """`number` is the message whose handling is shown; 0 is the latest one."""

    number: Annotated[int, Field(ge=0, le=MOST_MESSAGES), Digits] = 0


class AskForm(Input):
    """A message. `who` writes it: the viewer, or an invented person with a role, whose display name
    is `name`. `place` is where; `channel` and `workspace` are ids whose rules apply, empty for none
    of a rule. `mention`: it mentions the assistant."""

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT)]
    who: Who = "self"
    name: Annotated[str, Field(max_length=60)] = ""
    platform: Annotated[str, Field(max_length=30)] = ""
    place: Where = "direct"
    channel: Id = ""
    workspace: Id = ""
    mention: Literal["", "yes"] = ""


class StopForm(Input):
    """The action has no parameters."""


class EndForm(Input):
    """The action has no parameters."""


class PlatformOut(Output):
    """A platform that can be chosen."""

    name: str
    title: str


class TryOut(Output):
    """A message with its answer. `role` is that of its author; `own`: the viewer wrote as
    themselves. `answer` is absent while the model has written nothing, `said` is the sentence of a
    refusal. Money in millionths of a dollar."""

    number: int
    at: datetime
    own: bool
    role: str
    name: str
    place: PlaceOut
    state: Literal["writing", "done", "failed"]
    outcome: str
    problem: Said
    question: Excerpt
    answer: Excerpt | None = None
    said: Excerpt | None = None
    micros: int = 0


class PromptPieceOut(Output):
    """A part of what the model received."""

    title: SaidOrStr
    text: Excerpt


class ChosenOut(Output):
    """The handling of the chosen message. `cut`: the answer is longer than what is rendered."""

    number: int
    timeline: TimelineOut | None
    prompt: tuple[PromptPieceOut, ...] = Field(max_length=MAX_PIECES)
    renderings: tuple[RenderingOut, ...] = Field(max_length=MAX_PLATFORMS)
    cut: bool


class PlaygroundOut(Output):
    """A playground. `open`: there is one; `writing`: an answer is being written; `left` is the
    number of further messages; `last` are the choices of the latest message."""

    open: bool
    writing: bool
    left: int
    platforms: tuple[PlatformOut, ...] = Field(max_length=MAX_PLATFORMS)
    last: AskForm
    tries: tuple[TryOut, ...] = Field(max_length=MOST_MESSAGES)
    chosen: ChosenOut | None = None


async def playground(
    viewer: Viewer, services: ConsoleServices, params: PlaygroundQuery
) -> PlaygroundOut:
    """Return the viewer's playground."""
    await asyncio.to_thread(installed)
    found = services.playgrounds.of(owner_of(viewer))
    tries = () if found is None else tuple(found.tries)
    chosen = next(
        (one for one in tries if one.number == params.number), tries[-1] if tries else None
    )
    return PlaygroundOut(
        open=found is not None,
        writing=any(one.state == "writing" for one in tries),
        left=MOST_MESSAGES - len(tries),
        platforms=platforms(),
        last=_last(services, found),
        tries=_tries(tries),
        chosen=None if chosen is None else await _chosen(chosen),
    )


async def ask(viewer: Viewer, services: ConsoleServices, params: AskForm) -> Done:
    """Begin to answer a message. Raises `BadInput`."""
    text = params.text.strip()
    if not text:
        raise BadInput(NOTHING)
    word = text.split(maxsplit=1)[0]
    if word.startswith("/") and any(
        word[1:].lower() == one.name for one in services.gateway.commands
    ):
        raise BadInput(NO_COMMANDS.of(command=verbatim(f"`{word}`")))
    await asyncio.to_thread(installed)
    known = {one.name: one.title for one in platforms()}
    name = params.platform or next(iter(known))
    if name not in known:
        raise BadInput(NO_PLATFORM.of(name=verbatim(name), known=verbatim(", ".join(known))))
    chosen = params.model_copy(update={"platform": name})
    role = viewer.role if params.who == "self" else Role(params.who)

    def make(number: int) -> Try:
        message = message_of(viewer, chosen, text, services.gateway.clock.now())
        return Try(number, message, role, params.who == "self", known[name])

    found = await services.playgrounds.ask(owner_of(viewer), make, services.gateway)
    if len(found.tries) == 1:
        await services.audit.console("playground", viewer.tenant, viewer.person)
    return Done()


async def stop_answer(viewer: Viewer, services: ConsoleServices, _params: StopForm) -> Done:
    """Stop the answer that is written. Raises `BadInput` if none is."""
    if not await services.playgrounds.stop_answer(owner_of(viewer)):
        raise BadInput(NOT_WRITING)
    return Done()


async def end(viewer: Viewer, services: ConsoleServices, _params: EndForm) -> Done:
    """End the playground. Raises `BadInput` if there is none."""
    if not await services.playgrounds.end(owner_of(viewer)):
        raise BadInput(NONE_OPEN)
    return Done()


def platforms() -> tuple[PlatformOut, ...]:
    """Return the installed platforms."""
    found = sorted(installed().values(), key=lambda one: one.title)[:MAX_PLATFORMS]
    return tuple(PlatformOut(name=one.platform, title=one.title) for one in found)


def message_of(viewer: Viewer, params: AskForm, text: str, at: datetime) -> ChatMessage:
    """Return a message as an adapter would parse it."""
    author = author_of(viewer, params)
    direct = params.place == "direct"
    place = Place(
        params.platform,
        "main",
        author.id if direct else params.channel or CHANNEL,
        WHERE[params.place],
        params.workspace,
        THREAD if params.place == "thread" else "",
    )
    mention = params.mention == "yes" and not direct
    return ChatMessage(uuid.uuid4().hex, text, author, place, at, mentions_bot=mention)


def author_of(viewer: Viewer, params: AskForm) -> MessageAuthor:
    """Return the author: the viewer with their id on this platform, if they have one there, or an
    invented person."""
    if params.who != "self":
        invented = params.name.strip() or f"Invented {params.who}"
        return MessageAuthor(f"invented-{params.who}", invented)
    own = sorted((identity_of(one) for one in viewer.persons), key=str)
    here = next((one.id for one in own if one.platform == params.platform), "")
    return MessageAuthor(here or f"playground-{viewer.principal.person.id}", params.name.strip())


def _last(services: ConsoleServices, found: Playground | None) -> AskForm:
    """Return the choices of the form: those of the latest message, or an invented member on a
    platform that is connected."""
    if found is None or not found.tries:
        connected = sorted({one.platform for one in services.settings.accounts()})
        names = [one.name for one in platforms()]
        first = next((one for one in connected if one in names), names[0])
        return AskForm(text="", who="member", platform=first, mention="yes")
    one = found.tries[-1]
    place = one.message.place
    where: Where = "direct"
    if place.audience is Audience.PRIVATE_ROOM:
        where = "private"
    elif place.audience is Audience.PUBLIC_ROOM:
        where = "thread" if place.thread_id else "public"
    return AskForm(
        text="",
        who="self" if one.own else _WHO[one.role],
        name="" if one.message.author.name.startswith("Invented ") else one.message.author.name,
        platform=place.platform,
        place=where,
        channel="" if where == "direct" or place.channel_id == CHANNEL else place.channel_id,
        workspace=place.workspace_id,
        mention="yes" if where == "direct" or one.message.mentions_bot else "",
    )


_WHO: Final[dict[Role, Who]] = {
    Role.GUEST: "guest",
    Role.MEMBER: "member",
    Role.OPERATOR: "operator",
}


def _tries(tries: Sequence[Try]) -> tuple[TryOut, ...]:
    texts = [text for one in tries for text in _texts(one)]
    shown = iter(excerpts(texts, MOST_OF_TALK))
    return tuple(_try(one, next(shown), next(shown), next(shown)) for one in tries)


def _texts(one: Try) -> tuple[str, str, str]:
    """Return the question, the answer, and the sentence of a refusal."""
    result = one.result
    if result is None:
        return one.message.content, one.written, ""
    said = "\n\n".join(send.part.text for send in result.outbound if send.part is not None)
    return one.message.content, result.answer, "" if result.answer else said


def _try(one: Try, question: Excerpt, answer: Excerpt, said: Excerpt) -> TryOut:
    place, author = one.message.place, one.message.author
    return TryOut(
        number=one.number,
        at=one.message.timestamp,
        own=one.own,
        role=one.role.value,
        name=author.name,
        place=PlaceOut(
            platform=one.title,
            account=place.account,
            workspace=place.workspace_id,
            channel=place.channel_id,
            thread=place.thread_id,
            audience=place.audience.value,
        ),
        state=one.state,
        outcome=one.result.trace.outcome if one.result else "",
        problem=one.problem,
        question=question,
        answer=answer if answer.characters else None,
        said=said if said.characters else None,
        micros=one.result.micros if one.result else 0,
    )


async def _chosen(one: Try) -> ChosenOut:
    _, answer, said = _texts(one)
    text = answer or said
    made: tuple[RenderingOut, ...] = ()
    if text:
        shown = text[:MAX_RENDERED]
        if one.result is None:
            shown = await asyncio.to_thread(close_unfinished, shown)
        made = await asyncio.to_thread(rendered, shown, one.message.place.platform)
    return ChosenOut(
        number=one.number,
        timeline=None if one.result is None else timeline_of(one.result.trace),
        prompt=() if one.request is None else _prompt(one.request),
        renderings=made,
        cut=len(text) > MAX_RENDERED,
    )


def _prompt(request: ModelRequest) -> tuple[PromptPieceOut, ...]:
    pieces: list[tuple[Text, str]] = [(text("Rules, persona and what is known"), request.system)]
    if request.system_volatile:
        pieces.append((text("Task and date"), request.system_volatile))
    pieces += [_message_piece(one) for one in request.messages]
    if request.tools:
        pieces.append((text("Tools"), "\n".join(one.name for one in request.tools)))
    pieces = pieces[:MAX_PIECES]
    shown = excerpts([words for _, words in pieces], MOST_OF_PROMPT)
    return tuple(
        PromptPieceOut(title=title, text=words)
        for (title, _), words in zip(pieces, shown, strict=True)
    )


def _message_piece(message: ModelMessage) -> tuple[Text, str]:
    texts = []
    for block in message.content:
        match block:
            case TextBlock():
                texts.append(block.text)
            case ToolCall():
                texts.append(f"{block.name} {block.arguments}")
            case ToolOutcome():
                texts.append(block.content)
    title = text("Person") if message.role == "user" else text("Assistant")
    return title, "\n\n".join(texts)


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="playground",
        method="GET",
        path=PATH,
        allowed=in_person(Role.OPERATOR),
        summary=text("Try a message as somebody else, without storing or sending anything"),
        run=playground,
        template="playground.html",
        menu=text("Playground"),
    ),
    ConsoleRoute(
        name="ask_playground",
        method="POST",
        path=f"{PATH}/ask",
        allowed=in_person(Role.OPERATOR),
        summary="Ask the assistant in a playground",
        run=ask,
        done=text("The assistant answers below, as if the message had come from the platform."),
        then=PATH,
        example={"text": "hello"},
    ),
    ConsoleRoute(
        name="stop_playground_answer",
        method="POST",
        path=f"{PATH}/stop",
        allowed=in_person(Role.OPERATOR),
        summary="Stop the answer in a playground",
        run=stop_answer,
        done=text("The answer was stopped."),
        then=PATH,
    ),
    ConsoleRoute(
        name="end_playground",
        method="POST",
        path=f"{PATH}/end",
        allowed=in_person(Role.OPERATOR),
        summary="End a playground and forget everything of it",
        run=end,
        done=text("The playground has ended. Nothing of it is stored."),
        then=PATH,
    ),
)
