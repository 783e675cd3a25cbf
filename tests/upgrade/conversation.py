"""The conversation that is in the database of each release, and a program on such a database."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, app_on, simulated
from tests.e2e.test_memory import Talk, direct

AUDIT_KEY: Final = "the key of the audit in these databases, which hold nothing real"
PREFERENCE: Final = "I prefer short answers"
COLOUR: Final = "my favourite colour is green"
QUESTION: Final = "what do you remember about me?"
SAID: Final = (
    ("Ada", "hello"),
    ("Ada", f"Remember that {PREFERENCE}."),
    ("Ben", f"Remember that {COLOUR}."),
    ("Ada", QUESTION),
)
"""The messages of each person to the assistant, in private."""


@asynccontextmanager
async def assistant(folder: Path, database: str) -> AsyncIterator[Lab]:
    """The whole program on a database, connected to Telegram; hot state in `folder`."""
    telegram = TelegramSimulator()
    async with simulated({"telegram": telegram}) as port:
        overrides = settings(folder, database)
        async with app_on({"telegram": telegram}, folder, port, overrides) as app:
            yield Lab(app, telegram)


def settings(folder: Path, database: str) -> Mapping[str, object]:
    """The keys of the configuration that are about stored state."""
    hot = {"storage": {"url": f"sqlite:///{folder}/hot.db"}}
    return {
        "database": {"url": database},
        "memory": {"audit_key": AUDIT_KEY},
        "context": {"ttl_hours": 8_760},  # the housekeeping deletes nothing of a release's database
        **({} if database.startswith("sqlite") else hot),
    }


async def pass_events(lab: Lab) -> None:
    """Let the simulator count past the events in the database.

    It numbers them from the same one again, and the program takes the first ones for repetitions.
    """
    cleo = lab.platform.person("Cleo")
    for _ in SAID:
        await lab.platform.say(cleo, lab.platform.direct(cleo), "hello")
    await lab.idle()


def talks(lab: Lab) -> dict[str, Talk]:
    """The people, in the order in which the simulator numbers them."""
    return {name: direct(lab, name) for name in ("Ada", "Ben")}
