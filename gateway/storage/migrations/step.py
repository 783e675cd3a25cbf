"""One step of the ledger."""

import re
from dataclasses import dataclass
from typing import Final

_END: Final = re.compile(r";\n(?=\s*\Z|(?:[ \t]*\n)* {0,4}\S)")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step, never changed once it was released.

    `sqlite` and `postgres` hold statements that end with a semicolon at the end of a line; lines
    indented by more than four spaces belong to the statement above them, as in a trigger. None
    where the step has nothing to do in that engine. It is noted as done all the same.
    """

    version: int
    name: str
    sqlite: str | None
    postgres: str | None


def statements(sql: str | None) -> list[str]:
    """The statements of a step, one by one."""
    return [part.strip() for part in _END.split(sql or "") if part.strip()]
