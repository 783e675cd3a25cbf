"""One step of the ledger."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    """One step, never changed once it was released.

    `sqlite` and `postgres` hold statements that end with a semicolon at the end of a line; None
    where the step has nothing to do in that engine. It is noted as done all the same.
    """

    version: int
    name: str
    sqlite: str | None
    postgres: str | None


def statements(sql: str | None) -> list[str]:
    """The statements of a step, one by one."""
    return [part.strip() for part in (sql or "").split(";\n") if part.strip()]
