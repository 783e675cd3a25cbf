"""The prompt block of a memory (sources 004, "Memory Types and Block Mapping")."""

from gateway.ports.prompt_blocks import BlockKind


def block_for(kind: str, scope: str, *, standing: bool = False) -> BlockKind:
    """Return the block of a memory; `kind` and `scope` as in `memory/model/record.py`. `standing`
    memories are in the brief and do not depend on the question.

    A person's preferences belong to System, a project's to Project. Facts belong to Project if they
    are standing and shared. Everything else is Knowledge.
    """
    own = scope == "user"
    if kind in ("preference", "instruction", "correction"):
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    if standing:
        return BlockKind.SYSTEM if own else BlockKind.PROJECT
    return BlockKind.KNOWLEDGE
