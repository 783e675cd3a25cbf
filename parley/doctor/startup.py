"""Finds the problems that would stop `parley run`: builds the same parts from the configuration and
drops them again. It contacts nobody and writes nothing."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from db.errors import StoreUnavailable
from gateway.errors import ParleyError, StartError
from gateway.platforms import Discovery
from gateway.ports.clock import SystemClock
from gateway.text import text, verbatim
from parley.config import ConfiguredAccount, Problem, Settings, SettingsError
from parley.doctor.platforms import build
from parley.wiring.accounts import commands_of
from parley.wiring.extensions import load_extensions
from parley.wiring.heartbeats import sites_of
from parley.wiring.libraries import missing_libraries
from parley.wiring.memory_backends import KEY, load_backends
from parley.wiring.model import provider_of, toolbox_of
from parley.wiring.observe import endpoint_of, open_tracing
from parley.wiring.policies import unpriced_models
from parley.wiring.storage import Storage

Part = tuple[str, Callable[[], Awaitable[None]]]
"""Its place in the configuration, and a function that builds and drops it."""


async def startup_problems(settings: Settings, platforms: Discovery) -> list[Problem]:
    """A problem with advice for every part that cannot be built."""
    problems: list[Problem] = []
    libraries = missing_libraries(settings)
    for place, build_part in (*_parts(settings), *_adapters(settings, platforms)):
        try:
            await build_part()
        except SettingsError as error:
            problems += error.problems
        except StartError as error:
            problems.append(Problem(place, error.said, error.step))
        except (ParleyError, StoreUnavailable) as error:
            problems.append(_problem(place, str(error)))
        except ImportError as error:
            library = verbatim(str(error.name))
            # Translators: it stands after the name of a key and a colon.
            said = text("needs the library {name}, which is not installed.", name=library)
            problems.append(Problem(place, said, text("Install it into Parley's environment.")))
        except Exception as error:  # noqa: BLE001 - a library or a plugin may raise anything
            # Translators: it stands after the name of a key and a colon.
            said = text("cannot be used: {error}.", error=verbatim(type(error).__name__))
            problems.append(Problem(place, said, text("Check the values of this section.")))
    explained = {problem.path for problem in libraries}
    others = [problem for problem in problems if problem.path not in explained]
    return list(dict.fromkeys([*libraries, *others, *unpriced_models(settings)]))


def _parts(settings: Settings) -> Sequence[Part]:
    clock = SystemClock()

    async def model() -> None:
        await provider_of(settings, clock).close()

    async def tools() -> None:
        await toolbox_of(settings, clock).close()

    async def extensions() -> None:
        registry = load_extensions(settings)
        if settings.memory.enabled:
            sites_of(settings, Storage(settings, clock).activity, registry, clock)

    async def backends() -> None:
        load_backends(settings, clock)

    async def tracing() -> None:
        exporter = open_tracing(endpoint_of(settings.observe.otlp_endpoint, os.environ), clock)
        if exporter is not None:
            await exporter.close()

    return (
        ("model", model),
        ("mcp.servers", tools),
        ("extensions", extensions),
        (KEY, backends),
        ("observe.otlp_endpoint", tracing),
    )


def _adapters(settings: Settings, platforms: Discovery) -> Iterable[Part]:
    name = settings.assistant.name
    commands = commands_of(settings)

    async def adapter(account: ConfiguredAccount) -> None:
        plugin = build(account, platforms.manifests[account.platform], name, commands)
        await plugin.disconnect()

    for account in settings.accounts():
        yield account.path, partial(adapter, account)


def _problem(place: str, words: str) -> Problem:
    """Most errors begin with their key; for others the key of the part is used."""
    path, separator, rest = words.partition(": ")
    if separator and " " not in path:
        return Problem(path, rest)
    return Problem(place, words)
