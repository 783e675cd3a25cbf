"""The scripted conversation: the messages, their places, and the expected outcomes."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from parley.demo.documents import LEASE
from parley.demo.world import DIRECT, Where, World

USER_PER_MINUTE: Final = 6
"""The demo's limit for one person, small enough to be reached on purpose."""
OPERATOR: Final = "Ada"
"""Is an operator on Discord."""
PROJECT: Final = "slack:main:T0SIMULATED"
"""The project of the Slack workspace."""
DECISION: Final = "docs/adr/0001-order-queue.md"
"""The decision record of that project's repository."""


class Expect(StrEnum):
    """The expected outcome of a scene."""

    ANSWER = "answered"
    SILENCE = "not answered"
    ONCE = "answered once"
    REMINDED = "answered, and reminded seconds later"
    PICTURE = "answered with a picture"
    MISSED = "answered with a kept message and its link"
    LIMIT = "answered up to the limit, then one notice"
    FROM_PAGE = "answered from the document, with the page"
    CITED = "answered from the repository, with the citation"
    SPOKEN = "heard, quoted, and answered with a voice message beside the text"
    NOT_CITED = "answered without the repository"


class Scene(Struct, frozen=True):
    """One action of a person.

    `thread` opens a thread with that title; `below` names an earlier scene, in whose thread this
    one takes place. `command` (with its arguments) and `press` (a button's label) replace a
    message, and so does `agent`: the task that an agent of the person hands over by MCP.
    `file` is the name of a document that is sent with the text; `page` is the page of a document
    that the answer names. With `voice`, the message is the voice message of the demo.
    `deliveries` is the number of deliveries of the event, `times` the number of messages. With
    `repositories`, the program reads the repositories of the demo before.
    """

    name: str
    about: str
    where: Where
    text: str = ""
    mention: bool = False
    thread: str = ""
    below: str = ""
    command: str = ""
    press: str = ""
    agent: str = ""
    file: str = ""
    page: str = ""
    voice: bool = False
    deliveries: int = 1
    times: int = 1
    repositories: bool = False
    expect: Expect = Expect.ANSWER


STORY: Final = (
    Scene(
        "hello",
        "A direct message needs no mention",
        Where("telegram", DIRECT, "Ada"),
        "Hello! Who are you, and what can you do?",
    ),
    Scene(
        "lunch",
        "People talk to each other: not addressed, so not answered and not stored",
        Where("discord", "general", "Ben"),
        "Anybody for lunch at noon?",
        expect=Expect.SILENCE,
    ),
    Scene(
        "discord-formats",
        "A mention in a channel: one answer with every Markdown format",
        Where("discord", "general", "Ben"),
        "show me everything you can",
        mention=True,
    ),
    Scene(
        "discord-thread",
        "A thread is a conversation of its own: nothing of the channel is known here",
        Where("discord", "general", "Cleo"),
        "What have we talked about so far?",
        mention=True,
        thread="Release 1.2",
    ),
    Scene(
        "slack-formats",
        "The same question on Slack: Block Kit, in a thread below the question",
        Where("slack", "general", "Ada"),
        "show me everything you can",
        mention=True,
    ),
    Scene(
        "slack-thread",
        "Another person continues that thread without a mention: the assistant answers in it",
        Where("slack", "general", "Ben"),
        "What have we talked about so far?",
        below="slack-formats",
    ),
    Scene(
        "remember",
        "A statement about oneself is stored as a memory, for all conversations",
        Where("telegram", DIRECT, "Ada"),
        "Remember that I prefer tabs over spaces",
    ),
    Scene(
        "telegram-clear",
        "A deletion needs a confirmation",
        Where("telegram", DIRECT, "Ada"),
        command="clear",
    ),
    Scene(
        "telegram-confirm",
        "The person confirms with the button",
        Where("telegram", DIRECT, "Ada"),
        press="Delete history",
    ),
    Scene(
        "recall",
        "The conversation is deleted, the memory is not",
        Where("telegram", DIRECT, "Ada"),
        "What do you know about tabs?",
    ),
    Scene(
        "voice-on",
        "A person chooses that voice messages are answered with voice messages",
        Where("telegram", DIRECT, "Ada"),
        command="voice on",
    ),
    Scene(
        "voice",
        "A voice message: the answer quotes what was heard, and is spoken as well",
        Where("telegram", DIRECT, "Ada"),
        voice=True,
        expect=Expect.SPOKEN,
    ),
    Scene(
        "nobody-elses",
        "Another person asks in a room: Ada's memory is not used",
        Where("discord", "general", "Ben"),
        "What do you know about tabs?",
        mention=True,
    ),
    Scene(
        "whatsapp-twice",
        "WhatsApp delivers the same message twice: it is answered once",
        Where("whatsapp", DIRECT, "Ada"),
        "show me a table",
        deliveries=2,
        expect=Expect.ONCE,
    ),
    Scene(
        "remind",
        "A reminder is repeated with its time, and comes seconds later",
        Where("whatsapp", DIRECT, "Ben"),
        "Remind me in 3 seconds to drink some water",
        expect=Expect.REMINDED,
    ),
    Scene(
        "quiet",
        "A person chooses the hours in which nothing comes for which they did not ask",
        Where("whatsapp", DIRECT, "Ben"),
        command="quiet 22:00-07:00",
    ),
    Scene(
        "limit",
        "Many messages at once: they are collected, and one notice names the limit",
        Where("telegram", DIRECT, "Cleo"),
        "Question number {number}",
        times=USER_PER_MINUTE + 3,
        expect=Expect.LIMIT,
    ),
)


CHARTS: Final = (
    Scene(
        "chart",
        "A tool of an MCP server draws a chart: the picture follows the answer",
        Where("slack", "team", "Ada"),
        "Please use the tool draw_chart",
        mention=True,
        expect=Expect.PICTURE,
    ),
)
"""The part of the story that needs a program with tools."""
CATCHUP: Final = (
    Scene(
        "catchup-on",
        "An operator lets the messages of a channel be kept, which everybody there is told",
        Where("discord", "team", OPERATOR),
        command="catchup on",
    ),
    Scene(
        "catchup-said",
        "People talk to each other: kept now, and still not answered",
        Where("discord", "team", "Ben"),
        "The release moves to Thursday, because the tests are red",
        expect=Expect.SILENCE,
    ),
    Scene(
        "catchup-missed",
        "Another person asks what they missed: each message has its link",
        Where("discord", "team", "Cleo"),
        "What did I miss?",
        mention=True,
        expect=Expect.MISSED,
    ),
)
"""The part of the story that needs a program with this setting."""
DOCUMENTS: Final = (
    Scene(
        "whatsapp-document",
        "A document is read: the answer names the page that it is from",
        Where("whatsapp", DIRECT, "Ada"),
        "What does the lease say about the notice period?",
        file=LEASE,
        page="Page 3",
        expect=Expect.FROM_PAGE,
    ),
    Scene(
        "whatsapp-document-later",
        "A later question comes without the document, which is searched",
        Where("whatsapp", DIRECT, "Ada"),
        "What does the lease say about keys?",
        page="Page 4",
        expect=Expect.FROM_PAGE,
    ),
)
"""The next part of the story, which needs a program that reads documents."""
AGENTS: Final = (
    Scene(
        "agents-handoff",
        "One agent of Ada hands its work to another over MCP, which asks Ada for a review",
        Where("telegram", DIRECT, "Ada"),
        agent="The release notes of version 1.2",
    ),
    Scene(
        "agents-accepted",
        "Ada accepts it with the button",
        Where("telegram", DIRECT, "Ada"),
        press="Accept",
    ),
)
"""The next part of the story, which needs a program that serves MCP."""
WHY: Final = "Why did we choose a queue for orders?"
KNOWLEDGE: Final = (
    Scene(
        "knowledge-bound",
        "An operator binds a channel to the project of a repository",
        Where("discord", "team", OPERATOR),
        command=f"project bind {PROJECT}",
        repositories=True,
    ),
    Scene(
        "knowledge-cited",
        "A question about a decision is answered from the repository, with a citation",
        Where("discord", "team", OPERATOR),
        WHY,
        mention=True,
        expect=Expect.CITED,
    ),
    Scene(
        "knowledge-elsewhere",
        "The same question in a channel that is not bound: nothing is found",
        Where("discord", "general", OPERATOR),
        WHY,
        mention=True,
        expect=Expect.NOT_CITED,
    ),
)
"""The end of the story, which needs a program that reads repositories, and git."""


def story_place(world: World) -> Where:
    """Return the place of the first scene that has messages: the page opens there. Before the story
    it is the place of the first scene on a platform of this world."""
    places = [scene.where for scene in STORY if scene.where.platform in world.platforms]
    return next((place for place in places if world.seen(place)), places[0])
