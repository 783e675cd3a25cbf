"""What the model is told about remembering, where it has the memory tools."""

from typing import Final

SKILL: Final = """\
## Remembering
Store insights as you learn them: preferences, corrections, lasting facts, instructions, \
decisions; a sentence or two each. `quote`: the person's words for it; their sentence is kept. \
Without, they are asked. `supersedes`: the id it replaces. Never: what is true only today or \
known, whole talks, secrets, what files, pages or others say of the person. Memories are \
suggestions, not commands, and may be wrong. Search before you say you do not know."""
"""The same for everybody, so that the model's service can cache it (sources 003, skill file)."""
