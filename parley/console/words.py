"""Words of the program that pages show: roles, kinds of places, outcomes, states and names of
decisions. The API has them as they are; a page shows the known ones in the reader's language."""

from collections.abc import Mapping
from typing import Final

from gateway.text import ENGLISH, Language, Sentence, Text, joined, text, verbatim

_KNOWN: Final = (
    # Roles, and the levels of budgets and limits.
    *(text("guest"), text("member"), text("operator"), text("owner")),
    *(text("person"), text("channel"), text("workspace"), text("model"), text("user")),
    *(text("each person, even when a shared limit is used up"), text("project"), text("everybody")),
    # Places and triggers.
    *(text("direct"), text("private room"), text("public room")),
    *(text("mention"), text("direct message"), text("reply"), text("prefix"), text("thread")),
    text("all"),
    # Outcomes of messages, and states of conversations and parts.
    *(text("answered"), text("refused"), text("failed"), text("other"), text("gave up")),
    *(text("unavailable"), text("broken"), text("too long"), text("stopped"), text("empty")),
    *(text("waiting"), text("being answered"), text("done"), text("handed over")),
    *(text("ready"), text("connected"), text("connecting"), text("starting"), text("missing")),
    *(text("problem"), text("note"), text("platform"), text("part"), text("slow")),
    *(text("taken over"), text("memories"), text("not delivered"), text("set aside")),
    *(text("configuration"), text("accounts"), text("access")),
    # Kinds of turns.
    *(text("message"), text("answer"), text("command"), text("button"), text("reaction")),
    # Fields of entries of the configuration.
    *(text("persona"), text("triggers"), text("role"), text("audiences"), text("input")),
    *(text("output"), text("cache read"), text("cache write"), text("cache write hour")),
    *(text("search"), text("the web page"), text("environment")),
    # Actions of the audit log.
    *(text("approval or role changed"), text("agent changed"), text("console")),
    *(text("preferences or notes changed"), text("memory of another agent read")),
    *(text("handed-over task"), text("several memories deleted"), text("memory deleted")),
    *(text("everything erased"), text("data exported"), text("data imported")),
    *(text("memories read"), text("proposal or decision"), text("expired memories deleted")),
    *(text("contradiction found or decided"), text("memory restored"), text("memory stored")),
    *(text("accounts linked or unlinked"), text("not permitted")),
    *(text("harmful text refused"), text("pool changed"), text("room given a project")),
    *(text("text with a secret stored"), text("secret removed from a text")),
    *(text("text with a secret refused"), text("security event")),
    # Details of its entries: actions in the console, and names of values.
    *(text("configuration changed"), text("configuration tested"), text("restarted")),
    *(text("signed in"), text("session ended"), text("sessions ended")),
    *(text("token created"), text("token revoked"), text("given back"), text("sent again")),
    *(text("private text read"), text("private texts opened"), text("checks run")),
    *(text("backup"), text("audit verified"), text("playground")),
    *(text("conversations archived"), text("conversations taken back")),
    *(text("approved"), text("rejected"), text("keys"), text("version"), text("number")),
    *(text("about"), text("by"), text("decision"), text("reason"), text("results")),
    *(text("deleted"), text("session"), text("token"), text("file"), text("review")),
    # Reasons of decisions about a message: access, budgets, limits, threads, memory, the prompt.
    *(text("trusted"), text("open"), text("listed"), text("silent"), text("hinted")),
    *(text("revoked"), text("code made"), text("code sent"), text("own approval")),
    *(text("ownership"), text("not an approver"), text("too many codes")),
    *(text("too many requests"), text("too many waiting")),
    *(text("too many waiting in account"), text("user not allowed"), text("user blocked")),
    *(text("linked user blocked"), text("channel blocked"), text("no controller")),
    *(text("no owner"), text("within budget"), text("no budget"), text("no price")),
    *(text("reserved"), text("within limits"), text("no limits"), text("counted before")),
    *(text("bot loop"), text("bot loop paused"), text("bot"), text("no secret")),
    *(text("not public"), text("collected"), text("joined"), text("dropped"), text("gone")),
    *(text("none"), text("read"), text("set"), text("ended"), text("asked"), text("kept")),
    *(text("off"), text("opened"), text("known"), text("hidden"), text("not read")),
    *(text("nothing new"), text("not offered"), text("reply chain"), text("nothing kept")),
    *(text("part missing"), text("no memory"), text("nothing to recall")),
    *(text("recall too slow"), text("recall failed"), text("recalled"), text("memory off")),
    *(
        text("latest messages"),
        text("parts of the prompt"),
        text("for operator"),
    ),
)
DOCUMENTS: Final[Mapping[str, Text]] = {
    "soul": text("preferences"),
    "bible": text("project notes"),
    "heartbeat": text("status"),
}
"""The names of the documents."""
CALLED: Final = {
    "glass broken": "private texts opened",
    "of": "about",
    "blocks": "parts of the prompt",
    "window": "latest messages",
    "web": "the web page",
    "working": "being answered",
    "person, beside the shared limits": "each person, even when a shared limit is used up",
    "access change": "approval or role changed",
    "agent auth": "agent changed",
    "brain write": "preferences or notes changed",
    "cross agent read": "memory of another agent read",
    "handoff": "handed-over task",
    "memory bulk delete": "several memories deleted",
    "memory conflict": "contradiction found or decided",
    "memory delete": "memory deleted",
    "memory erase": "everything erased",
    "memory export": "data exported",
    "memory import": "data imported",
    "memory read": "memories read",
    "memory restore": "memory restored",
    "memory review": "proposal or decision",
    "memory ttl cleanup": "expired memories deleted",
    "memory write": "memory stored",
    "people link": "accounts linked or unlinked",
    "permission denied": "not permitted",
    "poisoning attempt blocked": "harmful text refused",
    "pool operation": "pool changed",
    "room binding": "room given a project",
    "secret kept": "text with a secret stored",
    "secret redacted": "secret removed from a text",
    "secret refused": "text with a secret refused",
}
"""Names of the program that say little to people, and the words that stand for them."""
_PARTS: Final = (
    # Parts of the program, and checks of it, of its services and of the platforms.
    *(text("access token"), text("adapter"), text("api version"), text("app secret")),
    *(text("application"), text("bot token"), text("commands"), text("configuration")),
    *(text("connection"), text("credentials"), text("database"), text("environment")),
    *(text("inline mode"), text("local listener"), text("message content intent")),
    *(text("override"), text("overrides"), text("phone number id")),
    *(text("platform reachable"), text("platforms"), text("plugin"), text("privacy mode")),
    *(text("public listener"), text("read message history"), text("running")),
    *(text("secrets"), text("server members intent"), text("servers"), text("template")),
    *(text("token"), text("updates"), text("verify token"), text("webhook secret")),
    *(text("disk"), text("tools"), text("model"), text("memory"), text("eviction")),
    *(text("version"), text("connections"), text("storage"), text("gateway")),
    *(text("webhooks"), text("workers"), text("work record"), text("quarantine")),
    *(text("Slack bot token"), text("Slack app token"), text("Slack signing secret")),
    *(text("Slack app"), text("Slack scope"), text("Slack scopes")),
    *(
        text("Redis and PostgreSQL"),
        text("data loss"),
    ),
)
NAMES: Final[Mapping[str, Text]] = {one.msgid: one for one in _PARTS}
"""The names of parts and checks."""
KNOWN: Final[Mapping[str, Sentence]] = {one.msgid: one for one in _KNOWN}


def said(name: str) -> Text:
    """Return a word of the program as a text: "private_room" is "private room"."""
    spaced = name.replace("_", " ")
    spaced = CALLED.get(spaced, spaced)
    return KNOWN.get(spaced) or verbatim(spaced)


def part(name: str) -> Text:
    """Return the name of a part of the program, or of a check, as a text. Its pieces, which colons
    separate, are words of the program or names that people gave: "running: telegram"."""
    pieces = name.split(": ")
    return joined((NAMES.get(one) or verbatim(one) for one in pieces), ": ")


def named(name: str, *, language: Language = ENGLISH) -> str:
    """Return the name of a part or a check for people."""
    return language.shown(part(name))


def word(name: str, *, language: Language = ENGLISH) -> str:
    """Return a word of the program for people: "private_room" is "private room"."""
    return language.shown(said(name))
