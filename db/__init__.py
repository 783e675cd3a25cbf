"""Databases: SQL statements and transactions that run on SQLite and on PostgreSQL alike.

Knows no domain. A store builds `Work` from statements and passes it to a `Database`.
"""

from db.database import Database
from db.errors import AddressInvalid, DatabaseError, StoreUnavailable
from db.statements import FOR_UPDATE, SKIP_LOCKED, Statement, among, either
from db.transaction import Params, Row, Work, change, execute, fetch, fetch_first, lock, together

__all__ = [
    "FOR_UPDATE",
    "SKIP_LOCKED",
    "AddressInvalid",
    "Database",
    "DatabaseError",
    "Params",
    "Row",
    "Statement",
    "StoreUnavailable",
    "Work",
    "among",
    "change",
    "either",
    "execute",
    "fetch",
    "fetch_first",
    "lock",
    "together",
]
