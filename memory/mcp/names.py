"""The names and paths of the MCP servers. The module imports nothing else, so the command line uses
it without loading the servers."""

from typing import Final, Literal

ServerName = Literal["session-memory", "pixeltable-memory"]
"""The names of the two servers: present work (task, activity, agents, handoffs, events), and stored
data (memories, documents, pools)."""
SESSION: Final[ServerName] = "session-memory"
KNOWLEDGE: Final[ServerName] = "pixeltable-memory"
PREFIX: Final = "/mcp"
"""The path of the server with all tools; the others have their name below it."""
