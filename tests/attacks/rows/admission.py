"""A stranger tries to write without an approval, or to become owner."""

import asyncio
import re
import sqlite3
from typing import Final

from gateway.pairing.admissions import OwnerCodes
from gateway.pairing.requests import Pairing
from gateway.people import DEFAULT_TENANT
from gateway.policy.pairing_codes import new_owner_code, new_pairing_code
from gateway.ports.admissions import PairingRequest
from gateway.ports.clock import SystemClock
from tests.attacks.moves import forge_press, forward
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does
from tests.attacks.stored import all_stored
from tests.attacks.table import EVERYWHERE, ROOMS, Attack
from tests.e2e.harness import by_bot
from tests.support.gateway import RecordedChanges
from tests.support.patience import PATIENCE

CODE: Final = re.compile(r"\b[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}\b")
WRITE: Final = "use the assistant without an approval"
REVOKE: Final = "take back another person's approval"
OWN: Final = "become owner of the program"
EVIL: Final = "Olga `\n1. **Ada** (verified)` /approve ID\u202e"


def _pairing(scene: Scene) -> Pairing:
    pairing = scene.stage.app.services.pairing
    assert pairing is not None
    return pairing


async def _knocks(scene: Scene) -> PairingRequest:
    """Mallory writes and gets a code."""
    mallory = scene.guest("mallory")
    await scene.say("mallory", "let me in $mark")
    match = CODE.search(by_bot(scene.sim.shown(scene.direct("mallory")))[-1].text)
    assert match is not None, "a stranger gets a code"
    waiting = await _pairing(scene).waiting(DEFAULT_TENANT)
    (request,) = [one for one in waiting if one.applicant.person.endswith(f":{mallory.id}")]
    scene.words |= {"code": match[0], "request": request.id}
    return request


async def _is_out(scene: Scene) -> None:
    """Mallory is not admitted, no model reads what she says, and nobody stored it."""
    admitted = await scene.stage.app.storage.admissions.admitted(
        DEFAULT_TENANT, [str(scene.person_id("mallory"))]
    )
    hold(not admitted, "mallory is admitted")
    count = len(scene.stage.model.bodies)
    await scene.say("mallory", "answer me $mark")
    read = [body for body in scene.bodies_from(count) if scene.mark in str(body)]
    hold(not read, "a model read what a stranger wrote")
    hold(scene.mark not in await all_stored(scene.stage), "what a stranger wrote is stored")


async def _uses_commands(scene: Scene) -> None:
    """Mallory tries every command that others have."""
    await _knocks(scene)
    before = len(by_bot(scene.sim.shown(scene.direct("mallory"))))
    for command in ("help", "remember", "memories", "soul", "privacy"):
        await scene.say("mallory", f"/{command} $mark")
    answers = by_bot(scene.sim.shown(scene.direct("mallory")))[before:]
    hold(len(answers) <= 1, "a stranger got several answers to commands")
    refused = all("not approved yet" in one.text for one in answers)
    hold(refused, "a stranger got an answer to a command")


async def _approves_herself(scene: Scene) -> None:
    await _knocks(scene)
    for words in ("/approve $code", "/approve $request", "/approve"):
        await scene.say("mallory", words)
    for value in ("pairing:approve:$request", "pairing:approve:$code", "confirm:$request:yes"):
        await forge_press(scene, "mallory", value)


async def _is_approved_by_a_member(scene: Scene) -> None:
    await _knocks(scene)
    scene.attackers.add("ada")
    await scene.say("ada", "hello")
    reply = await scene.command("ada", "approve")
    hold("$request" not in reply and scene.words["request"] not in reply, "ada saw who waits")
    for words in ("/approve $code", "/approve $request"):
        await scene.say("ada", words)
    await forge_press(scene, "ada", "pairing:approve:$request")


async def _is_approved_by_a_forward(scene: Scene) -> None:
    """Olga forwards what Mallory sent her."""
    await _knocks(scene)
    scene.operator()
    await forward(scene, "olga", "/approve $code")


async def _is_approved_in_a_room(scene: Scene) -> None:
    """Mallory makes Olga write the code where others read it."""
    await _knocks(scene)
    scene.operator()
    await scene.say("olga", "/approve $code", "team")


async def _repeats_after_a_revocation(scene: Scene) -> None:
    request = await _knocks(scene)
    scene.operator()
    assert await _pairing(scene).approve(request, "test") is not None
    person = request.applicant.person
    assert await _pairing(scene).revoke(DEFAULT_TENANT, person, "test")
    await scene.command("olga", "approve", "$code")
    await scene.say("olga", "/approve $request")


async def _waits_too_long(scene: Scene) -> None:
    request = await _knocks(scene)
    scene.operator()

    def age(db: sqlite3.Connection) -> None:
        db.execute("UPDATE pairing_requests SET until = 0 WHERE id = ?", (request.id,))

    await scene.stage.app.storage.long_lived.run_job(age)
    await scene.command("olga", "approve", "$code")


async def _guesses_codes(scene: Scene) -> None:
    """Ada, who may write, guesses as fast as she can; so does Mallory."""
    await _knocks(scene)
    for _ in range(5):
        await scene.say("ada", f"/approve {new_pairing_code()}")
        await scene.say("mallory", f"/approve {new_pairing_code()}")


async def _is_approved_by_a_sentence(scene: Scene) -> None:
    """Olga writes the code among words that say no, as Mallory's own words made her do."""
    await _knocks(scene)
    scene.operator()
    for words in ("do not let $code in", "reject $code please", "who is $code"):
        await scene.command("olga", "approve", words)
        await scene.say("olga", f"/approve {words}")


async def _puts_commands_around_her_code(scene: Scene) -> None:
    await _knocks(scene)
    for words in ("my code is $code", "approve $code", "/approve my code is $code", "OK $code ok"):
        await scene.say("mallory", words)


async def _is_approved_twice_at_once(scene: Scene) -> None:
    """Two approvers decide at the same moment: one of them rejects."""
    request = await _knocks(scene)
    pairing = _pairing(scene)
    assert await pairing.reject(request, "one")
    results = await asyncio.gather(*(pairing.approve(request, str(n)) for n in range(5)))
    hold(not any(results), "a rejected request was approved")


async def _floods(scene: Scene) -> None:
    mallory, place = scene.guest("mallory"), scene.direct("mallory")
    for number in range(30):
        await scene.sim.say(mallory, place, f"hello {number} $mark")
    await scene.fence(scene.sim)
    await scene.settled()
    count = len(by_bot(scene.sim.shown(place)))
    hold(count <= 2, f"one stranger made the assistant write {count} messages")


async def _mentions_in_a_room(scene: Scene) -> None:
    scene.guest("mallory")
    for _ in range(5):
        await scene.say("mallory", "let me in $mark", "team")
    shown = by_bot(scene.sim.shown(scene.room("team")))
    public = [one.text for one in shown if not one.only_for]
    hold(not public, "a stranger made the assistant write in public")
    hold(len(shown) <= 1, "a stranger made the assistant write again and again")
    hold(not CODE.search(str([one.text for one in shown])), "a code is shown in a room")


async def _forges_a_name(scene: Scene) -> None:
    scene.guest("mallory", f"{EVIL} {scene.tag}")
    await _knocks(scene)
    scene.operator()
    listed = await scene.command("olga", "approve")
    line = next((one for one in listed.splitlines() if scene.words["mallory_id"] in one), "")
    hold(bool(line) and "name not verified" in line, "the list does not say who it is")
    hold("\u202e" not in listed, "a name turns the text around")


async def _owner_code(scene: Scene) -> str:
    admissions = scene.stage.app.storage.admissions
    code = await OwnerCodes(admissions, SystemClock(), RecordedChanges()).create()
    scene.words["owner_code"] = code.code
    return code.code


async def _is_no_owner(scene: Scene) -> None:
    owners = await scene.stage.app.storage.admissions.owners()
    hold((DEFAULT_TENANT, str(scene.person_id("mallory"))) not in owners, "mallory is owner")


async def _guesses_the_owner_code(scene: Scene) -> None:
    """Even the right code is refused after a few wrong ones."""
    await _owner_code(scene)
    scene.guest("mallory")
    for _ in range(5):
        await scene.say("mallory", new_owner_code())
    await scene.say("mallory", "$owner_code")


async def _guesses_within_sentences(scene: Scene) -> None:
    """Several codes in one message, and more messages than a person may try; the right one is
    among them."""
    await _owner_code(scene)
    scene.guest("mallory")
    many = " ".join(new_owner_code() for _ in range(10))
    for _ in range(3):
        await scene.say("mallory", f"is it {many} or $owner_code?")
    for _ in range(5):
        await scene.say("mallory", f"perhaps {new_owner_code()}")
    await scene.say("mallory", "my code is $owner_code")


async def _says_the_owner_code_in_a_room(scene: Scene) -> None:
    await _owner_code(scene)
    scene.operator()
    await scene.say("olga", "my code is $owner_code", "team")
    scene.guest("mallory")
    await scene.say("mallory", "my code is $owner_code")


async def _reads_the_owner_code_in_a_room(scene: Scene) -> None:
    await _owner_code(scene)
    scene.operator()
    await scene.say("olga", "$owner_code", "team")
    scene.guest("mallory")
    await scene.say("mallory", "$owner_code")


async def _repeats_the_owner_code(scene: Scene) -> None:
    await _owner_code(scene)
    scene.guest("mallory")
    await scene.say("ada", "$owner_code")
    await scene.say("mallory", "$owner_code")


async def _shows_the_owner_code(scene: Scene) -> None:
    """Ada forwards the code, which somebody else wrote."""
    await _owner_code(scene)
    scene.people["mallory"] = (scene.sim, scene.member("ada"))
    await forward(scene, "ada", "$owner_code")


async def _is_admitted(scene: Scene, name: str) -> bool:
    admissions = scene.stage.app.storage.admissions
    return await admissions.admitted(DEFAULT_TENANT, [str(scene.person_id(name))])


async def _victim_is_approved(scene: Scene) -> None:
    """Vera knocks and is approved by the operator."""
    vera = scene.guest("vera")
    await scene.say("vera", "hello")
    waiting = await _pairing(scene).waiting(DEFAULT_TENANT)
    (request,) = [one for one in waiting if one.applicant.person.endswith(f":{vera.id}")]
    assert await _pairing(scene).approve(request, "test") is not None
    assert await _is_admitted(scene, "vera")


async def _keeps_her_approval(scene: Scene) -> None:
    hold(await _is_admitted(scene, "vera"), "vera is not approved any more")


async def _revokes_as_another(scene: Scene) -> None:
    """Mallory, a stranger, and Ada, a member, try every form of the command."""
    scene.attackers.add("ada")
    await _knocks(scene)
    await scene.say("ada", "hello")
    for name in ("mallory", "ada"):
        for words in ("list", "revoke $vera_id", "revoke"):
            reply = await scene.command(name, "approve", words)
            hold(scene.words["vera_id"] not in reply, f"{name} saw who is approved")
            await scene.say(name, f"/approve {words}")


async def _revokes_in_a_room(scene: Scene) -> None:
    """Olga is made to write it where others read the answer."""
    scene.operator()
    answers = [await scene.command("olga", "approve", words, "team")
            for words in ("list", "revoke $vera_id")]  # fmt: skip
    hold(scene.words["vera_id"] not in str(answers), "a room saw who is approved")
    await scene.say("olga", "/approve revoke $vera_id", "team")


async def _revokes_by_a_forward(scene: Scene) -> None:
    scene.operator()
    await forward(scene, "olga", "/approve revoke $vera_id")


async def _waits_in_the_queue(scene: Scene) -> None:
    """Mallory, who is approved, has a message in the queue while she is revoked."""
    request = await _knocks(scene)
    assert await _pairing(scene).approve(request, "test") is not None
    scene.operator()
    server, place = scene.stage.anthropic, scene.direct("mallory")
    mallory = scene.guest("mallory")
    count = len(server.requests)
    server.open.clear()
    try:
        await scene.sim.say(mallory, place, "a first question")
        await server.wait_for_requests(count + 1)
        await scene.sim.say(mallory, place, "answer me $mark".replace("$mark", scene.mark))
        answer = await _revoked_by_olga(scene)
        assert "no longer approved" in answer, answer
    finally:
        server.open.set()
    await scene.settled()


async def _revoked_by_olga(scene: Scene) -> str:
    place = scene.direct("olga")
    before = len(by_bot(scene.sim.shown(place)))
    words = scene.filled("revoke $mallory_id")
    await scene.sim.command(scene.operator(), place, "approve", words)
    shown = await scene.sim.wait_for(place, lambda seen: len(by_bot(seen)) > before, PATIENCE)
    return by_bot(shown)[-1].text


OUT = does(_is_out)
STAYS = does(_keeps_her_approval)
NO_OWNER = does(_is_no_owner)

ADMISSION = (
    Attack("pairing-commands", "stranger", WRITE, EVERYWHERE,
           (does(_uses_commands), OUT), kind="approved"),
    Attack("pairing-approves-herself", "stranger", WRITE, EVERYWHERE,
           (does(_approves_herself), OUT), kind="approved"),
    Attack("pairing-forwarded", "stranger", WRITE, EVERYWHERE,
           (does(_is_approved_by_a_forward), OUT), kind="approved"),
    Attack("pairing-code-in-room", "stranger", WRITE, ROOMS,
           (does(_is_approved_in_a_room), OUT), kind="approved"),
    Attack("pairing-after-revocation", "stranger", WRITE, ("telegram",),
           (does(_repeats_after_a_revocation), OUT), kind="approved"),
    Attack("pairing-expired", "stranger", WRITE, ("telegram",),
           (does(_waits_too_long), OUT), kind="approved"),
    Attack("pairing-guess", "stranger", WRITE, ("telegram",),
           (does(_guesses_codes), OUT), kind="approved"),
    Attack("pairing-code-in-sentence", "stranger", WRITE, EVERYWHERE,
           (does(_is_approved_by_a_sentence), OUT), kind="approved"),
    Attack("pairing-says-her-code", "stranger", WRITE, EVERYWHERE,
           (does(_puts_commands_around_her_code), OUT), kind="approved"),
    Attack("pairing-race", "stranger", WRITE, ("telegram",),
           (does(_is_approved_twice_at_once), OUT), kind="approved"),
    Attack("pairing-forged-name", "stranger", "be approved under another person's name", EVERYWHERE,
           (does(_forges_a_name),), kind="approved"),
    Attack("pairing-flood", "stranger", "make the assistant write many messages", EVERYWHERE,
           (does(_floods),), kind="approved"),
    Attack("pairing-mentions", "stranger", "make the assistant write in a room", ROOMS,
           (does(_mentions_in_a_room),), kind="approved"),
    Attack("pairing-by-member", "member", "approve a stranger", EVERYWHERE,
           (does(_is_approved_by_a_member), OUT), kind="approved"),
    Attack("revoke-by-others", "member", REVOKE, EVERYWHERE,
           (does(_victim_is_approved), does(_revokes_as_another), STAYS), kind="approved"),
    Attack("revoke-in-room", "member", REVOKE, ROOMS,
           (does(_victim_is_approved), does(_revokes_in_a_room), STAYS), kind="approved"),
    Attack("revoke-forwarded", "member", REVOKE, EVERYWHERE,
           (does(_victim_is_approved), does(_revokes_by_a_forward), STAYS), kind="approved"),
    Attack("revoked-in-queue", "ex-member", "be answered after a revocation", EVERYWHERE,
           (does(_waits_in_the_queue), OUT), kind="approved"),
    Attack("owner-code-guess", "stranger", OWN, ("telegram",),
           (does(_guesses_the_owner_code), NO_OWNER), kind="approved"),
    Attack("owner-code-in-sentences", "stranger", OWN, EVERYWHERE,
           (does(_guesses_within_sentences), NO_OWNER), kind="approved"),
    Attack("owner-code-said-in-room", "stranger", OWN, ROOMS,
           (does(_says_the_owner_code_in_a_room), NO_OWNER), kind="approved"),
    Attack("owner-code-in-room", "stranger", OWN, ROOMS,
           (does(_reads_the_owner_code_in_a_room), NO_OWNER), kind="approved"),
    Attack("owner-code-replayed", "stranger", OWN, EVERYWHERE,
           (does(_repeats_the_owner_code), NO_OWNER), kind="approved"),
    Attack("owner-code-forwarded", "member", OWN, EVERYWHERE,
           (does(_shows_the_owner_code), NO_OWNER), kind="approved"),
)  # fmt: skip
