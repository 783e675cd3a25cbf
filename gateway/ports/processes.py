"""Reports of the processes of an installation about themselves, where several share the work."""

from typing import Literal

from msgspec import Struct

from gateway.ports.model import ModelFailure, ModelFinding

ProcessRole = Literal["all", "adapter", "worker"]


class AccountReport(Struct, frozen=True):
    """An account that a process serves: `state` is one of the supervisor, `problem` its
    reason, as `gateway.text.as_json` stores it.
    `connected` and `last_event` are the seconds since then, None for never."""

    name: str
    """The platform and the account."""
    state: str
    problem: str = ""
    connected: float | None = None
    last_event: float | None = None


class ModelReport(Struct, frozen=True):
    """A model that a process called: seconds since its last answer, None for none; its failure, if
    its calls fail, with the seconds since the first and the last failed call."""

    model: str
    server: str
    """The server of the model."""
    answered: float | None = None
    """Seconds since the last answer; None for none."""
    failure: ModelFailure | None = None
    failing: float = 0.0
    """Seconds since the first failed call."""
    failed: float = 0.0


class ProcessReport(Struct, frozen=True):
    """A process: the machine it runs on, its role, the platform that it is restricted to (empty for
    all), the accounts that it serves, the names of all accounts in its configuration, the models
    that it called, and what it found out about their servers."""

    host: str
    """The name of the machine."""
    role: ProcessRole
    platform: str = ""
    accounts: tuple[AccountReport, ...] = ()
    configured: tuple[str, ...] = ()
    """The names of all accounts in the configuration."""
    models: tuple[ModelReport, ...] = ()
    findings: tuple[ModelFinding, ...] = ()
    """Facts that were found about the models' servers."""


class SeenProcess(Struct, frozen=True):
    """The latest report of a process. Seconds of the store's own clock: `age` since that report,
    `watching` since the process reports without a gap. `ended`: it said that it stops."""

    name: str
    """The name of the process, unique among all."""
    report: ProcessReport
    age: float
    watching: float
    ended: bool = False
