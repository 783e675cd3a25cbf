"""Cases of the rule of who sees what, one for each condition. The rule and the queries of both
databases answer them alike."""

from typing import Any, Final

from gateway.immutable import replace
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope, Share
from tests.memory.stores.records import record

ADA, BEN = "test:main:ada", "test:main:ben"
HERE, THERE = "test:main:W1:C1", "test:main:W1:C2"
ALONE = AccessScope("t", ADA, (ADA,), "", "p", private=True, operates=False)
IN_ROOM = replace(ALONE, room=HERE, private=False)
AGENT = replace(ALONE, agent="own")


def of(person: str = ADA, agent: str = "", **rest: Any) -> Record:
    made = record("tea", person, **{"tenant": "t", **rest})
    return replace(made, provenance=replace(made.provenance, agent=agent))


def kept(agent: str) -> Record:
    """A memory that an agent of ada keeps for itself."""
    return replace(of(agent=agent), agent_private=True)


SEEN: Final = [
    (ALONE, of(), True),
    (ALONE, of(BEN), False),
    (replace(ALONE, persons=(ADA, BEN)), of(BEN), True),
    (ALONE, of(room=HERE), True),
    (ALONE, of(BEN, role="user"), False),
    (replace(ALONE, tenant="u"), of(), False),
    (IN_ROOM, of(), False),
    (replace(IN_ROOM, private=True), of(), True),
    (IN_ROOM, of(room=HERE), True),
    (IN_ROOM, of(room=THERE), False),
    (IN_ROOM, of(BEN, room=HERE), False),
    (IN_ROOM, of(BEN, room=HERE, role="user"), True),
    (IN_ROOM, of(BEN, room=THERE, role="user"), False),
    (ALONE, of(BEN, scope=Scope.GLOBAL), True),
    (replace(ALONE, tenant="u"), of(BEN, scope=Scope.GLOBAL), False),
    (ALONE, of(BEN, scope=Scope.PROJECT, project="p"), True),
    (ALONE, of(BEN, scope=Scope.PROJECT, project="q"), False),
    (replace(ALONE, project=""), of(BEN, scope=Scope.PROJECT, project=""), False),
    (ALONE, kept("own"), True),
    (AGENT, kept("own"), True),
    (AGENT, kept("other"), False),
    (ALONE, of(from_repository=True), True),
    (AGENT, of(from_repository=True, agent="another"), True),
    (replace(ALONE, persons=(ADA, BEN)), of(BEN, from_repository=True), True),
    (replace(ALONE, private=False), of(from_repository=True), False),
    (replace(IN_ROOM, private=True), of(from_repository=True), False),
    (IN_ROOM, of(room=HERE, from_repository=True), False),
    (IN_ROOM, of(BEN, room=HERE, role="user", from_repository=True), False),
    (ALONE, of(BEN, scope=Scope.GLOBAL, from_repository=True), False),
    (ALONE, of(BEN, scope=Scope.PROJECT, project="p", from_repository=True), False),
]
"""The caller, the memory, and True if it is seen."""
MEMBER = frozenset({("own", False)})
ADDED = frozenset({("own", True)})
SHARE = Share("t", "theirs", BEN, 4, "", MEMBER)
SHOWN: Final = [
    (AGENT, SHARE, True),
    (AGENT, replace(SHARE, readers=frozenset({("another", True)})), False),
    (ALONE, SHARE, False),
    (AGENT, replace(SHARE, tenant="u"), False),
    (replace(AGENT, tenant="u"), replace(SHARE, tenant="u"), False),
    (AGENT, replace(SHARE, scope=0), False),
    (AGENT, replace(SHARE, scope=0, agent="own"), True),
    (AGENT, replace(SHARE, scope=1, readers=ADDED), False),
    (AGENT, replace(SHARE, scope=1, person=ADA), True),
    (AGENT, replace(SHARE, scope=2, project="p"), True),
    (AGENT, replace(SHARE, scope=2, project="q"), False),
    (AGENT, replace(SHARE, scope=2, project="q", readers=ADDED), True),
    (replace(AGENT, project=""), replace(SHARE, scope=2), False),
    (AGENT, replace(SHARE, scope=3), True),
    (replace(AGENT, outside=True), replace(SHARE, scope=3), False),
    (replace(AGENT, outside=True), replace(SHARE, scope=3, readers=ADDED), True),
    (replace(AGENT, outside=True), SHARE, True),
    (replace(AGENT, widest=3), SHARE, False),
    (replace(AGENT, widest=3), replace(SHARE, scope=3), True),
]
"""The asking agent, the share, and True if a memory of ben is shown."""
MAY: Final = [
    (ALONE, of(), True),
    (IN_ROOM, of(), True),
    (ALONE, of(BEN), False),
    (replace(ALONE, tenant="u"), of(), False),
    (AGENT, kept("other"), False),
    (AGENT, kept("own"), True),
    (IN_ROOM, of(from_repository=True), True),
    (
        replace(ALONE, operates=True),
        of(BEN, scope=Scope.PROJECT, project="p", from_repository=True),
        False,
    ),
    (ALONE, of(scope=Scope.GLOBAL), False),
    (replace(ALONE, operates=True), of(BEN, scope=Scope.GLOBAL), True),
    (replace(ALONE, operates=True), of(BEN, scope=Scope.PROJECT, project="p"), True),
    (replace(ALONE, operates=True), of(BEN, scope=Scope.PROJECT, project="q"), False),
    (replace(ALONE, operates=True), of(BEN), False),
    (replace(IN_ROOM, operates=True), of(BEN, room=HERE, role="user"), False),
]
"""The caller, the memory, and True if they may change it."""
