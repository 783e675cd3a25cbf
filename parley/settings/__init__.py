"""The configuration: one YAML file, the environment over it, secrets by reference."""

from parley.settings.document import Account, Settings
from parley.settings.load import from_mapping, load
from parley.settings.problems import Problem, SettingsError
from parley.settings.sections import MAIN

__all__ = ["MAIN", "Account", "Problem", "Settings", "SettingsError", "from_mapping", "load"]
