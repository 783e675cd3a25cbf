"""The end of `parley init`: starts the assistant in the same terminal."""

import os

from parley.cli.init.session import Session
from parley.config import load
from parley.wiring.libraries import missing_libraries


def may_start(session: Session) -> bool:
    """True when a start would succeed; otherwise the reason is printed."""
    settings = session.validated()
    if not settings.accounts():
        session.say("No platform is set up, so there is nothing to start.")
        return False
    problems = missing_libraries(settings)
    for problem in problems:
        session.say(f"Before the start: {problem}")
    return not problems


def start(session: Session) -> int:
    """Run until Ctrl-C; returns the exit status. Raises a `ParleyError` when it cannot start."""
    from parley.cli import serve  # noqa: PLC0415 - loads the whole program

    env = {name: text for name, text in os.environ.items() if name not in session.secrets}
    settings = load(session.config, env, session.platforms)
    session.say()
    session.say("Starting; Ctrl-C ends it.")
    return serve.run(settings)
