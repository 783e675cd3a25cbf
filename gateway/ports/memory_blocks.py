"""In which block a memory has its place (sources 004, "Memory Types and Block Mapping")."""

from gateway.ports.prompt_blocks import BlockKind


def block_for(kind: str, scope: str, *, standing: bool = False) -> BlockKind:
    """`kind` and `scope` as in `memory/model/record.py`. `standing` is what is told all the time,
    in the
    brief, rather than recalled for a question: it never changes with what is asked.

    What a person wants stands in System, what a project wants in Project. Facts stand in Project
    where they are standing and shared. Everything else is Knowledge.
    """
    own = scope == "user"
    if kind in ("preference", "instruction", "correction"):
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    if standing:
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    return BlockKind.KNOWLEDGE
