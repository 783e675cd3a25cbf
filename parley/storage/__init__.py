"""Opens the databases that the configuration names, and puts the stores on them."""

from parley.storage.facade import Storage
from parley.storage.hot import HotState, open_hot
from parley.storage.long_lived import LongLived, open_database, open_long_lived

__all__ = ["HotState", "LongLived", "Storage", "open_database", "open_hot", "open_long_lived"]
