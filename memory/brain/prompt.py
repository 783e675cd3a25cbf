"""What the model is told of the person and the project, in the settled order.

Skill, SOUL, brief; BIBLE, HEARTBEAT. Each stands in a tag of its own, its contents escaped, so that
nothing in it can pretend to stand outside.
"""

from memory.brain.documents import BrainParts


def brain_prompt(skill: str, parts: BrainParts, brief: str) -> str:
    """The parts that are there, one below the other."""
    told = [
        ("soul", parts.soul),
        ("brief", brief),
        ("bible", parts.bible),
        ("heartbeat", parts.heartbeat),
    ]
    blocks = [f"<{tag}>\n{escaped(text)}\n</{tag}>" for tag, text in told if text]
    return "\n\n".join([skill, *blocks])


def escaped(text: str) -> str:
    """A text in which no tag begins."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
