"""Errors of the databases.

DatabaseError
├── AddressInvalid         the URL of a database cannot be read
├── WorkMisused            a piece of work breaks the rules of `db.transaction`
└── StoreUnavailable       the database did not run the work, or did not commit it
    └── SchemaTooNew       a newer version of the program wrote the tables
"""


class DatabaseError(Exception):
    """Base of the errors that this package raises."""


class AddressInvalid(DatabaseError):
    """The URL of a database is invalid. The text names the correction and contains no password."""


class WorkMisused(DatabaseError):
    """A piece of work breaks the rules of `db.transaction`: a defect of the store that made it."""


class StoreUnavailable(DatabaseError):
    """A store did not run the work, or did not commit it. Nothing of the work is stored.

    `store` is the name of the server or file that failed, for people ("Redis"); empty if the
    refusal is none of a server or file, such as a full queue. `full`: its disk has no room.
    """

    def __init__(self, text: str = "", store: str = "", *, full: bool = False) -> None:
        super().__init__(text)
        self.store = store
        self.full = full


REDIS, POSTGRES, SQLITE = "Redis", "PostgreSQL", "SQLite"


class SchemaTooNew(StoreUnavailable):
    """A newer version of the program wrote the tables, and this one would damage them."""


NOT_LAST = "work goes on after its last statements"
