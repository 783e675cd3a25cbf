"""The names and paths of the servers, without anything else to import."""

from typing import Final, Literal

ServerName = Literal["session-memory", "pixeltable-memory"]
"""The names of the two servers (sources 004): what goes on now, and what is kept."""
SESSION: Final[ServerName] = "session-memory"
KNOWLEDGE: Final[ServerName] = "pixeltable-memory"
PREFIX: Final = "/mcp"
"""The path of the server with all tools; the others have their name below it."""
