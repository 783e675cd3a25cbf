"""Memory backends of other packages: one that returns everybody's memories, and one that hangs."""

from tests.attacks import leaky_backend
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does
from tests.attacks.table import Attack

READ = "read another person's memories through a memory backend"
HANG = "keep others from the service by a memory backend that hangs"
ONE = ("telegram",)


async def _stored(scene: Scene) -> None:
    """Ada has a memory in the backend, and Mallory one of their own."""
    scene.member("mallory")
    secret = scene.canary("ada_backend", "ada")
    await scene.command("ada", "remember", f"I keep {secret} in the drawer")
    await scene.command("mallory", "remember", f"I keep {scene.mark} in the drawer")


async def _reads(scene: Scene) -> None:
    """Mallory asks in every way for what the backend returns."""
    shown = await scene.command("mallory", "memories")
    hold(scene.mark in shown, "the backend does not answer, so that nothing was tried")
    await scene.command("mallory", "memories", "drawer")
    await scene.command("mallory", "forget", "drawer")
    await scene.press_all("mallory")
    await scene.say("mallory", "What is in the drawer?")
    await scene.command("mallory", "privacy", "export")
    await scene.api("GET", "/memories?query=drawer")
    await scene.api("GET", "/export")
    shown = await scene.command("ada", "memories")
    hold(scene.words["ada_backend"] in shown, "the memory of ada is gone")


async def _hangs(scene: Scene) -> None:
    """While no read of the backend ends, people are answered."""
    leaky_backend.HANGS.set()
    try:
        for name in ("mallory", "ada", "mallory", "ada"):
            await scene.say(name, f"Good day, says {name}")
            hold("Understood" in scene.shown_to(name)[-1].text, f"{name} got no answer")
    finally:
        leaky_backend.HANGS.clear()


MEMORY_BACKENDS = (
    Attack("backend-foreign-rows", "memory backend", READ, ONE, (does(_stored), does(_reads)),
           kind="backend"),
    Attack("backend-hangs", "memory backend", HANG, ONE, (does(_stored), does(_hangs)),
           kind="backend"),
)  # fmt: skip
