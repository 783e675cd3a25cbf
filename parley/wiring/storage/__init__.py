"""Opens the databases that the configuration names, and puts the stores on them."""

from parley.wiring.storage.hot_state import HotState, open_hot
from parley.wiring.storage.long_lived import LongLived, open_database, open_long_lived
from parley.wiring.storage.storage import Storage

__all__ = ["HotState", "LongLived", "Storage", "open_database", "open_hot", "open_long_lived"]
