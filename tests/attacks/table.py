"""An attack as a row."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tests.attacks.scene import Scene
from tests.attacks.stage import Kind

Attacker = Literal[
    "stranger",
    "member",
    "ex-member",
    "outsider of a shared channel",
    "operator of another tenant",
    "tool",
    "page",
    "file",
    "platform sender",
    "thief of a backup",
    "thief of a token",
    "compromised model",
    "agent of another person",
    "memory backend",
    "text of a repository",
    "receiver of a webhook",
]
Step: TypeAlias = Callable[[Scene], Awaitable[None]]

ROOMS: Final = ("discord", "slack", "telegram")
EVERYWHERE: Final = (*ROOMS, "whatsapp")


@dataclass(frozen=True, slots=True)
class Attack:
    """One row. `on` are the platforms it is tried on, `steps` what happens, in order.

    After the steps the suite checks that no attacker could read a canary that is not theirs, a
    configured secret, or any of both in the log. A step that checks more raises `GotThrough`.
    """

    id: str
    attacker: Attacker
    goal: str
    on: Sequence[str]
    steps: Sequence[Step]
    kind: Kind = "open"
    long: bool = False
