"""Steps that attacks are put together from. Texts may hold `$mark`, `$ada_id`, `$ada_memory`."""

from collections.abc import Awaitable, Callable
from typing import Final

from simulators.base import SimFile
from tests.attacks.model import system_text, whole_text
from tests.attacks.scene import Scene, hold
from tests.attacks.table import Step

TEXT: Final = "text/plain"


def plants(name: str = "ada") -> Step:
    """A member has a private memory, turn and SOUL, each with a canary."""

    async def step(scene: Scene) -> None:
        await scene.plant(name)

    return step


def guest(name: str, shown_as: str = "") -> Step:
    """A person of the scene is a guest; `shown_as` is the name that the platform shows."""

    async def step(scene: Scene) -> None:
        scene.guest(name, scene.filled(shown_as))

    return step


def attackers(*names: str) -> Step:
    """These attack as well: they read nothing that is not theirs."""

    async def step(scene: Scene) -> None:
        scene.attackers.update(names)

    return step


def from_outside(name: str) -> Step:
    """This person attacks, nobody else, and is in none of the rooms."""

    async def step(scene: Scene) -> None:
        scene.attackers = scene.outside = {name}

    return step


def says(name: str, text: str, room: str = "", *, file: str = "", file_name: str = "") -> Step:
    """Somebody writes to the assistant, with a text file if one is given."""

    async def step(scene: Scene) -> None:
        data = scene.filled(file).encode()
        files = (SimFile(scene.filled(file_name) or "notes.txt", TEXT, data),) if file else ()
        await scene.say(name, text, room, files=files)

    return step


def commands(name: str, command: str, arguments: str = "", room: str = "") -> Step:
    """Somebody uses a command."""

    async def step(scene: Scene) -> None:
        await scene.command(name, command, arguments, room)

    return step


def presses_all(name: str) -> Step:
    """Somebody presses the first button under every answer in their direct conversation."""

    async def step(scene: Scene) -> None:
        await scene.press_all(name)

    return step


def does(run: Callable[[Scene], Awaitable[None]]) -> Step:
    """A step of an attack's own."""
    return run


# --- what has to hold ---------------------------------------------------------------------------


def still_there(name: str = "ada") -> Step:
    """The planted memory of a person is as it was."""

    async def step(scene: Scene) -> None:
        kept = await scene.remembered(name)
        hold(scene.words[f"{name}_memory"] in kept, f"the memory of {name} is gone")

    return step


def not_remembered(name: str, text: str = "$mark") -> Step:
    """No memory of a person says this (turns aside, which say what was said)."""

    async def step(scene: Scene) -> None:
        kept = await scene.remembered(name)
        hold(scene.filled(text) not in kept, f"it became a memory of {name}")

    return step


def not_told_to(name: str, text: str = "$mark", room: str = "", ask: str = "good day") -> Step:
    """The system text of a person's next turn does not say this."""

    async def step(scene: Scene) -> None:
        before = len(scene.stage.model.bodies)
        await scene.say(name, ask, room)
        for body in scene.bodies_from(before):
            hold(scene.filled(text) not in system_text(body), f"{name}'s system text says it")

    return step


def not_in_prompt_of(name: str, text: str = "$mark", room: str = "", ask: str = "hi") -> Step:
    """The prompt of a person's next turn does not contain this text."""

    async def step(scene: Scene) -> None:
        before = len(scene.stage.model.bodies)
        await scene.say(name, ask, room)
        for body in scene.bodies_from(before):
            hold(scene.filled(text) not in whole_text(body), f"{name}'s prompt says it")

    return step


def nobody_called() -> Step:
    """No request reached the server that stands for the operator's own network."""

    async def step(scene: Scene) -> None:
        results = [path for path in scene.stage.hits.paths if scene.tag in path]
        hold(not results, f"the operator's own network was asked for {results}")

    return step
