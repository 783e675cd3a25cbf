"""Which rows of memory are somebody's, in both engines, and what erasing does to each.

What somebody wrote for a project, or for everybody, belongs to the project: it stays, without their
name, their conversation and their message.
"""

from dataclasses import dataclass
from typing import Final, LiteralString


@dataclass(frozen=True, slots=True)
class PersonalTable:
    """A table with a column `tenant`, and the condition under which a row is somebody's."""

    name: LiteralString
    whose: LiteralString = "person IN {persons}"


TABLES: Final = (
    PersonalTable("memories"),
    PersonalTable("waiting_turns"),
    PersonalTable("quarantine"),
    PersonalTable("memory_reviews"),
    PersonalTable("memory_sessions"),
    PersonalTable("people_links"),
    PersonalTable("people_projects"),
    PersonalTable("people_choices"),
    PersonalTable("link_requests", "(maker IN {persons} OR redeemer IN {persons})"),
    PersonalTable("person_tokens"),
    PersonalTable(
        "brain_documents",
        "((document = 'soul' AND owner IN {persons}) OR author IN {persons})",
    ),
)

ERASED: Final[tuple[LiteralString, ...]] = (
    "DELETE FROM memories WHERE tenant = {tenant} AND person IN {persons} AND scope = 'user'",
    (
        "DELETE FROM memory_origins WHERE memory IN (SELECT seq FROM memories"
        " WHERE tenant = {tenant} AND person IN {persons})"
    ),
    (
        "UPDATE memories SET person = '', session = '', message_id = '', conversation = '',"
        " room = '', channel = '' WHERE tenant = {tenant} AND person IN {persons}"
    ),
    "DELETE FROM waiting_turns WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM quarantine WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM memory_reviews WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM memory_sessions WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM people_links WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM people_projects WHERE tenant = {tenant} AND person IN {persons}",
    "DELETE FROM people_choices WHERE tenant = {tenant} AND person IN {persons}",
    (
        "DELETE FROM link_requests WHERE tenant = {tenant}"
        " AND (maker IN {persons} OR redeemer IN {persons})"
    ),
    "DELETE FROM person_tokens WHERE tenant = {tenant} AND person IN {persons}",
    (
        "DELETE FROM brain_documents WHERE tenant = {tenant} AND document = 'soul'"
        " AND owner IN {persons}"
    ),
    "UPDATE brain_documents SET author = '' WHERE tenant = {tenant} AND author IN {persons}",
)
