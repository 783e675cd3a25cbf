"""Somebody decides for others when the assistant may write first."""

from gateway.people import DEFAULT_TENANT
from tests.attacks.moves import forward
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does
from tests.attacks.table import EVERYWHERE, ROOMS, Attack

ALWAYS = "00:00-23:59"
HOURS = "silence the assistant for others, or wake them at night"


async def _hours_here(scene: Scene) -> str:
    name = f"{scene.platform}:main:{scene.room('team').id}"
    return await scene.stage.app.storage.proactive.quiet_hours_of(DEFAULT_TENANT, name)


async def _hours_of(scene: Scene, name: str) -> str:
    person = str(scene.person_id(name))
    return (await scene.stage.app.storage.people_languages.of(DEFAULT_TENANT, person)).quiet


async def _chooses_for_a_place(scene: Scene) -> None:
    """A member and a guest choose for a room; an operator can."""
    scene.guest("gus")
    for name in ("mallory", "gus"):
        for typed in (f"here {ALWAYS}", "here off", f"HERE  {ALWAYS}", f"here\n{ALWAYS}"):
            await scene.say(name, f"/quiet {typed}", "team")
            hold(not await _hours_here(scene), f"{name} chose the hours of a room")
    scene.operator()
    await scene.say("olga", f"/quiet here {ALWAYS}", "team")
    assert await _hours_here(scene) == ALWAYS
    await scene.say("mallory", "/quiet here off", "team")
    hold(await _hours_here(scene) == ALWAYS, "mallory ended the hours of a room")


async def _chooses_for_a_reader(scene: Scene) -> None:
    """Ben passes on what Mallory wrote, and the model repeats it; his hours stay his."""
    await scene.say("ben", "/quiet 22:00-07:00")
    assert await _hours_of(scene, "ben") == "22:00-07:00"
    await forward(scene, "ben", f"/quiet {ALWAYS}")
    await scene.say("ben", f"SAY /quiet {ALWAYS}")
    await scene.say("mallory", f"/quiet {ALWAYS} $ben_id")
    await scene.say("mallory", f"/quiet {ALWAYS}")
    hold(await _hours_of(scene, "ben") == "22:00-07:00", "mallory chose the hours of ben")


# fmt: off
PROACTIVE = (
    Attack("quiet-of-place", "member", HOURS, ROOMS, (does(_chooses_for_a_place),)),
    Attack("quiet-of-another", "member", HOURS, EVERYWHERE,
           (does(_chooses_for_a_reader),)),
)
