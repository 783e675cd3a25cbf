"""Somebody decides which of another person's memories is true, or restores what was replaced."""

import json
from contextlib import suppress
from typing import Final

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience, Principal, Role
from gateway.ports.memory import Caller
from memory.model.record import short_id
from memory.service.contradictions import Answer
from memory.service.handle import MemoryHandle
from memory.turns.footer import RESTORE, TRUE
from tests.attacks.mcp_calls import agent_of, tool
from tests.attacks.moves import forge_press
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import attackers, commands, does, says
from tests.attacks.table import EVERYWHERE, ROOMS, Attack

SETTLES: Final = "decide which of another person's memories is true"
READS: Final = "read another person's memories that may contradict"
ONE: Final = ("telegram",)
ANSWERS: Final[tuple[Answer, ...]] = ("one", "other", "both")


async def plants_pairs(scene: Scene) -> None:
    """Ada has two memories of which only one may be true, and one that another one replaced."""
    for name in ("ada_older", "ada_newer", "ada_replaced", "ada_current"):
        thing = "parrot" if name in ("ada_older", "ada_newer") else "boat"
        secret = scene.canary(f"{name}_word", "ada")
        await scene.command("ada", "remember", f"My {thing} is called {secret}")
        found = [one.id for one in await scene.records("ada") if secret in one.content]
        scene.words[name] = found[0]
        scene.words[f"{name}_short"] = short_id(found[0])
    handle = await scene.handle("ada")
    await handle.contradictions.settle(
        scene.words["ada_replaced"], scene.words["ada_current"], "other"
    )
    await unchanged(scene)


async def unchanged(scene: Scene) -> None:
    """The pair is open, the replaced memory is replaced, and no pair names a memory of another."""
    words, marks = scene.words, await (await scene.handle("ada")).contradictions.marks()
    expected = {
        words["ada_older"]: (words["ada_newer"],),
        words["ada_newer"]: (words["ada_older"],),
    }
    hold(marks == expected, f"the pairs are {marks}")
    replaced = {one.id for one in await scene.records("ada") if not (one.current or one.role)}
    hold(replaced == {words["ada_replaced"]}, f"replaced are {replaced}")


async def _no_pair(scene: Scene) -> None:
    """No pair of Mallory names a memory of Ada."""
    marks = await (await scene.handle("mallory")).contradictions.marks()
    named = {*marks, *(other for others in marks.values() for other in others)}
    own = {one.id for one in await scene.records("mallory")}
    hold(named <= own, f"a pair names {named - own}")


async def tries_all(scene: Scene, handle: MemoryHandle) -> None:
    """Every answer about the pair and a restoration, by ids and their beginnings."""
    words = scene.words
    for suffix in ("", "_short"):
        pair = words[f"ada_older{suffix}"], words[f"ada_newer{suffix}"]
        for one, other in (pair, pair[::-1]):
            for answer in ANSWERS:
                with suppress(BadInput):
                    await handle.contradictions.settle(one, other, answer)
                    hold(False, f"a pair of another person was settled with {answer}")
        for name in ("ada_replaced", "ada_older"):
            with suppress(BadInput):
                await handle.contradictions.restore(words[f"{name}{suffix}"])
                hold(False, "a memory of another person was restored")
    hold(await handle.contradictions.question() is None, "a question about another's pair is asked")
    hold(await handle.contradictions.first() is None, "a review asks about another's pair")


async def _by_id(scene: Scene) -> None:
    """A member, an operator, and Ada's own id in another tenant, by the ids of the memories."""
    scene.member("mallory")
    await tries_all(scene, await scene.handle("mallory"))
    await tries_all(scene, await scene.handle("ada", "other"))
    memory, person = scene.stage.app.memory.memory, scene.person_id("mallory")
    assert memory is not None
    for tenant in (DEFAULT_TENANT, "other"):
        place = Place(person.platform, person.account, person.id, Audience.DIRECT)
        who = Principal(tenant, person, Role.OPERATOR)
        now = scene.stage.app.services.clock.now()
        caller = Caller(scene.tag, who, "Mallory", place, scene.tag, now)
        for at in (place, replace(place, channel_id="team", audience=Audience.PUBLIC_ROOM)):
            handle = await memory.for_principal(replace(caller, place=at))
            await tries_all(scene, handle)


async def presses_made_up(scene: Scene, by: str = "mallory") -> None:
    """The values of Ada's buttons, made up, in private."""
    await scene.command(by, "help")
    for begins in TRUE.values():
        await forge_press(scene, by, f"{begins}$ada_older_short:$ada_newer_short")
        await unchanged(scene)
    await forge_press(scene, by, f"{RESTORE}$ada_replaced")


async def _in_room(scene: Scene) -> None:
    """The same under an answer to Ada in a room."""
    await scene.say("ada", "good day", "team")
    for value in (*(f"{one}$ada_older_short:$ada_newer_short" for one in TRUE.values()),
                  f"{RESTORE}$ada_replaced"):  # fmt: skip
        await forge_press(scene, "mallory", value, "team")


async def asks_the_api(scene: Scene, by: str = "mallory") -> None:
    """The addresses of the API and of the console, with a person's own token and one of Ada in
    another tenant."""
    scene.member(by)
    status, text = await scene.api("POST", "/memories", {"content": "My kite is red"}, by=by)
    hold(status in (200, 201), f"the token stores nothing ({status})")
    own = json.loads(text)["memory_id"]
    for token in (scene.token(by), scene.token("ada", tenant="other")):
        for answer in ANSWERS:
            body = {"other": "$ada_newer", "true": answer}
            status, _ = await scene.api(
                "POST", "/memories/$ada_older/settle", body, token=token
            )  # fmt: skip
            hold(status in (401, 403, 404), f"settle answers {status}")
        status, _ = await scene.api("POST", "/memories/$ada_replaced/restore", {}, token=token)
        hold(status in (401, 403, 404), f"restore answers {status}")
        for one, other in (("$ada_older", own), (own, "$ada_newer")):
            status, _ = await scene.api(
                "POST", f"/memories/{one}/settle", {"other": other, "true": "one"}, token=token
            )
            hold(status in (401, 403, 404), f"a pair across people answers {status}")
        for path, fields in (("settle", {"other": "$ada_newer", "true": "one"}), ("restore", {})):
            status, _ = await scene.http(
                "POST", f"/api/v1/console/memory/entries/$ada_older/{path}", token=token,
                data=scene.filled(json.dumps(fields)),
                headers={"Content-Type": "application/json"},
            )  # fmt: skip
            hold(status in (401, 403), f"the console answers {status}")


async def _by_mcp(scene: Scene) -> None:
    """An agent of Mallory replaces, and states what would contradict Ada's memories."""
    await agent_of(scene, "mallory")
    for name in ("ada_older", "ada_newer", "ada_replaced"):
        content = f"My parrot is called {scene.mark}{name}"
        for given in (scene.words[name], scene.words[f"{name}_short"]):
            done = await tool(
                scene, "memory_store", type="fact", content=content, supersedes=given
            )  # fmt: skip
            hold(not done.get("id"), "a memory of another person was replaced over MCP")
    await tool(scene, "memory_store", type="fact", content=f"My parrot is called {scene.mark}")
    await tool(scene, "memory_search", query="parrot boat called", include_superseded=True)


CONTRADICTIONS: Final = (
    Attack("contradictions-by-id", "member", SETTLES, ONE,
           (does(plants_pairs), does(_by_id), does(unchanged))),
    Attack("contradictions-by-button", "member", SETTLES, EVERYWHERE,
           (does(plants_pairs), does(presses_made_up), does(unchanged))),
    Attack("contradictions-in-room", "member", SETTLES, ROOMS,
           (does(plants_pairs), does(_in_room), does(unchanged))),
    Attack("contradictions-by-http", "member", SETTLES, ONE,
           (does(plants_pairs), does(asks_the_api), does(unchanged))),
    Attack("contradictions-by-mcp", "agent of another person", SETTLES, ONE,
           (does(plants_pairs), does(_by_mcp), does(unchanged), does(_no_pair))),
    Attack(
        "contradictions-across-people", "member", READS, EVERYWHERE,
        (
            does(plants_pairs),
            commands("mallory", "remember", "My parrot is called $mark"),
            commands("mallory", "remember", "My parrot is called Polly now, not $ada_older_short"),
            commands("mallory", "memories", "review"),
            says("mallory", "what is my parrot called?"),
            does(_no_pair),
            does(unchanged),
        ),
    ),
    Attack(
        "contradictions-in-room-prompt", "member", READS, ROOMS,
        (
            does(plants_pairs),
            attackers("mallory"),
            says("mallory", "hi", "team"),
            says("ada", "what is my parrot called, and my boat?", "team"),
            commands("ada", "memories", "review", "team"),
            does(unchanged),
        ),
    ),
)  # fmt: skip
