"""A small team in a running program: four weeks of conversations, memories, work that waits."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.message import Outbound, Part, Place
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.admissions import Applicant
from gateway.ports.clock import SystemClock
from gateway.ports.traces import Duration
from memory.agents.model import AgentType, Permission, PoolInvitation, SharedScope
from memory.model.record import Kind
from tests.parley.console.kit import OPERATOR, Console
from tests.parley.console.talk import Talk
from tests.parley.console.views.memory.kit import in_project, infer, remember, shared, waiting

ANNA: Final = "anna"
LONG_NAME: Final = "maximiliane.von.hohenstein-wittelsbach"
_ROOM_NAMES: Final = ("general", "customer-support-and-escalations", "release-planning")
PEOPLE: Final = (ANNA, "ben", "chiara", LONG_NAME, OPERATOR)
ROOMS: Final = tuple(
    Place("web", "main", name, Audience.PUBLIC_ROOM, "guild") for name in _ROOM_NAMES
)
_ASKED: Final = (
    (
        "When is the next release?",
        (
            "**Tuesday, 14:00.** The notes are ready; two changes still wait for a review:\n\n"
            "- the new export of invoices\n- the faster search"
        ),
    ),
    (
        "Which customers wrote about the slow search?",
        "Three this week: Nordlicht, Baker & Sons and the city library. All use version 4.1.",
    ),
    (
        "Please write a short answer to the city library.",
        (
            "> Thank you for your report. The search is faster in version 4.2, which we publish on "
            "Tuesday.\n\nShall I add the workaround?"
        ),
    ),
    (
        "How do I roll a release back?",
        (
            "Use the tag of the release before:\n\n```sh\nmake rollback TAG=v4.1.3\n```\n\n"
            "It takes about four minutes."
        ),
    ),
    (
        "Who is on call at the weekend?",
        "Ben on Saturday, Chiara on Sunday.",
    ),
    (
        "Summarise the support requests of yesterday.",
        "| Subject | Requests |\n|---|---|\n| Search | 4 |\n| Invoices | 2 |\n| Sign-in | 1 |",
    ),
)
NOTES: Final = (
    "We make a catalogue program for libraries.",
    "Version 4.2 is published on Tuesday.",
    "Support requests are answered within one working day.",
    "Never name a customer to another customer.",
)
_RECALLED: Final = {
    "items": [
        ("7f3a91c2", "fact", "project", 0.912, {"bm25": 1, "vector": 2, "reranker": 1}),
        ("b04e77d8", "decision", "project", 0.744, {"vector": 1, "reranker": 2}),
        ("19c5e0aa", "preference", "user", 0.538, {"bm25": 3}),
    ]
}
_BLOCKS: Final = [
    {"kind": "system", "tokens": 1840, "budget": 4000, "needed": 1840, "allotted": 4000},
    {
        "kind": "project",
        "tokens": 2950,
        "budget": 3000,
        "needed": 4100,
        "allotted": 3000,
        "losses": [{"what": "bible", "why": "cut", "tokens": 1150}],
    },
    {"kind": "history", "tokens": 5200, "budget": 12000, "needed": 5200, "allotted": 12000},
    {"kind": "knowledge", "tokens": 640, "budget": 3000, "needed": 640, "allotted": 3000},
]
DECISIONS: Final = (
    Decision("invocation", True, "mention"),
    Decision("identity", True, "member"),
    Decision("access", True, "open"),
    Decision("limits", True, "within_limits"),
    Decision("budget", True, "reserved", "0.04 of 2.00 today"),
    Decision("recall", True, "recalled", "3 found", data=_RECALLED),
    Decision(
        *("context", True, "blocks", "10630 of 22000 tokens"),
        data={"window": 32000, "reserved": 4000, "blocks": _BLOCKS},
    ),
    Decision("tool", True, "search_tickets", "4 results", data={"seconds": 0.84}),
    Decision("tool", False, "web_get", "timed out", data={"seconds": 10.0}),
    Decision("model", True, "answered", "model-a"),
    Decision("render", True, "rendered", "1 part"),
)
LASTED: Final[tuple[Duration, ...]] = (
    ("queue", "waited", -42_000, 42_000, "ok"),
    ("stage", "check_access", 1_000, 2_500, "open"),
    ("stage", "recall", 6_000, 61_000, "ok"),
    ("stage", "assemble", 67_000, 8_000, "ok"),
    ("model", "model-a", 80_000, 1_900_000, "ok", (10_630, 212, 8_400, 1_200, 18_400)),
    ("model", "model-a", 2_900_000, 1_450_000, "ok", (11_050, 96, 10_600, 0, 9_100)),
)


@dataclass(frozen=True, slots=True)
class Team:
    """The subjects of pages: the turn of a conversation in a room, and a memory of Anna."""

    turn: str
    memory: str


async def team_in(console: Console) -> Team:
    """Write the team into a program."""
    turn = await _conversations(console)
    memory = await _memories(console)
    await _waiting(console)
    await _pools(console)
    return Team(turn, memory)


async def _pools(console: Console) -> None:
    """Anna has a token, and an agent in a pool of somebody else and invited into another one."""
    agents = console.app.memory.agents
    assert agents is not None
    anna, ben = [
        (await console.program.api_client(name).in_private()).request for name in (ANNA, "ben")
    ]
    agent = await agents.registry.register_agent(anna, AgentType.CLAUDE_CODE, name="laptop")
    for name, permission in (("Release notes", Permission.READ), ("Support", Permission.WRITE)):
        pool = await agents.pools.create_pool(ben, name, SharedScope.TEAM)
        invitation = await agents.pools.join_pool(ben, pool.id, agent.id, permission)
        assert isinstance(invitation, PoolInvitation)
        if permission is Permission.READ:
            await agents.pools.invitations.accept(anna, invitation.id)
    page = await console.visitor(ANNA)
    await page.post("/memory/tokens/create", {"name": "dashboard", "use": "read"})


async def _conversations(console: Console) -> str:
    talk, now, turn = Talk(console.app), SystemClock().now(), ""
    for day in range(27, -1, -1):
        for number in range(2 + day * day % 5):
            who = PEOPLE[(day * 3 + number) % len(PEOPLE)]
            asked = _ASKED[(day + number) % len(_ASKED)]
            place = (
                Place("web", "main", who, Audience.DIRECT)
                if (day + number) % 4 == 0
                else ROOMS[(day + number) % 2]
            )
            talk.begin = now - timedelta(days=day, minutes=5 + 3 * number)
            failed = (day, number) in ((9, 1), (3, 0))
            turn = await talk(
                *(place, who, *asked),
                outcome="failed" if failed else "answered",
                micros=9_000 + 7_000 * ((day * day + 2 * number) % 6),
                usage=Usage(9_000 + 700 * (day % 4), 240, 6_000 + 500 * (day * day % 7), 900),
            )
    for asked, who in zip(_ASKED, ("ben", ANNA, "chiara", ANNA, LONG_NAME, "ben"), strict=True):
        talk.begin = now - timedelta(minutes=2)
        turn = await talk(
            *(ROOMS[-1], who, *asked),
            micros=27_500,
            usage=Usage(21_680, 308, 19_000, 1_200),
            decisions=DECISIONS,
            durations=LASTED,
        )
    return turn


async def _memories(console: Console) -> str:
    await shared(console, "The city library uses version 4.1.")
    await shared(console, "Releases are published on Tuesdays at 14:00.")
    for name, text in (
        (ANNA, "Short answers, please.\nCode examples in Python.\nDates as 2026-11-26.\n"),
        (OPERATOR, "Answer in English, also when I write in German.\n"),
    ):
        await in_project(console, name)
        handle = await console.program.api_client(name).in_private()
        await handle.documents.write("soul", "Short answers.\n")
        await handle.documents.write("soul", text)
    olga = await console.visitor(OPERATOR)
    for number, line in enumerate(NOTES, 1):
        fields = {"document": "bible", "text": line, "based_on": str(number)}
        # The first line replaces the one that a new project has.
        change = ("edit", {**fields, "number": "1"}) if number == 1 else ("add", fields)
        saved = await olga.post(f"/memory/lines/{change[0]}", change[1])
        assert saved.status == 200, saved.text
    old = await remember(console, ANNA, "I work in the support team.", Kind.FACT)
    memory = await remember(
        console, ANNA, "I lead the support team since October.", Kind.FACT, supersedes=old
    )
    await remember(console, ANNA, "I prefer tables to long lists.", Kind.PREFERENCE)
    await remember(console, ANNA, "Ask me before you write to customers.", Kind.INSTRUCTION)
    await infer(console, ANNA, "My desk phone is in room 204.")
    await waiting(console, ANNA, "Anna plays the cello.")
    await waiting(console, ANNA, "Ben is on holiday in the first week of December.")
    return memory


async def _waiting(console: Console) -> None:
    talk, pairing = Talk(console.app, number=5000), console.app.services.pairing
    elsewhere = Place("telegram", "main", "4218860", Audience.DIRECT)
    turns = [
        await talk(
            *(Place("web", "main", name, Audience.DIRECT), name, *_ASKED[0]),
            outbound=[Outbound("", elsewhere, Part("text", "text"))],
        )
        for name in (ANNA, "ben", LONG_NAME)
    ]
    outbox = console.app.storage.hot.outbox
    await outbox.dead([f"{turns[0]}:0"], "the person blocked the bot")
    await outbox.dead([f"{turns[2]}:0"], "the platform was unavailable for 24 hours")
    assert pairing is not None
    for name in ("dmitri", "eva"):
        place = Place("web", "main", name, Audience.DIRECT)
        await pairing.request(
            Applicant("default", f"web:main:{name}", f"{name.title()} Novak", place)
        )
