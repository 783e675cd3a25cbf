"""Looks memories up: the filter is in the query, and so is the rule of who sees what."""

from functools import lru_cache
from typing import Final

from db import Params, Statement, among
from db.fragments import within
from memory.model.scope import AccessScope
from memory.model.scope_sql import OWN, SEES
from memory.ports import Filter
from memory.stores.filters import MAX_STATEMENTS, VISIBLE, conditions_of, statement, values_of
from memory.stores.partitions import owners_within
from memory.stores.rows import SELECTED

IN_ROOM: Final = "m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''"
TALLY: Final = f"""
    SELECT m.kind, count(*) FROM memories m WHERE m.tenant = :for_tenant AND {OWN} AND
"""  # noqa: S608 - constants
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = :after AND {SEES})
"""  # noqa: S608 - constants
RECORDS: Final = Statement(f"""
    SELECT m.seq, {SELECTED} FROM memories m WHERE {among("m.seq", "seqs")} AND {VISIBLE}
""")  # noqa: S608 - constants


def newest(access: AccessScope, wanted: Filter, now: int) -> tuple[Statement, Params]:
    """What fits, the newest first: gives rows of `SELECTED`."""
    owners = owners_within(access)
    values = values_of(access, wanted, now)
    values |= {f"owner{number}": owner for number, owner in enumerate(owners)}
    conditions = (
        f"{conditions_of(wanted)} AND {AFTER}" if wanted.after_id else conditions_of(wanted)
    )
    return _newest(conditions, len(owners), in_room=bool(access.room)), values


def tally(access: AccessScope, wanted: Filter, now: int) -> tuple[Statement, Params]:
    """How many of the person's own there are of each kind."""
    counted = statement(f"{TALLY} {conditions_of(wanted)} GROUP BY m.kind")
    return counted, values_of(access, wanted, now)


@lru_cache(MAX_STATEMENTS)
def _newest(conditions: str, owners: int, *, in_room: bool) -> Statement:
    """The newest of each owner, and of the room, are at hand in order; the newest of all are among
    them."""
    arms = [f"m.owner = :owner{number}" for number in range(owners)]
    arms += [IN_ROOM] if in_room else []
    rest = f"{conditions} ORDER BY m.at DESC, m.seq DESC LIMIT :limit"
    newest = " UNION ".join(
        f"SELECT * FROM (SELECT m.at, m.seq FROM memories m WHERE {arm} AND {rest}) AS arm{number}"  # noqa: S608 - constants
        for number, arm in enumerate(arms)
    )
    some = f"SELECT seq FROM ({newest} ORDER BY 1 DESC, 2 DESC LIMIT :limit) AS newest"  # noqa: S608 - constants
    return Statement(f"""
        SELECT {SELECTED} FROM memories m WHERE {within("m.seq", some)}
        ORDER BY m.at DESC, m.seq DESC
    """)  # noqa: S608 - constants
