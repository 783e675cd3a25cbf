"""The configuration: one YAML file, the environment over it, secrets by reference."""

from parley.config.load import from_mapping, load
from parley.config.problems import Problem, SettingsError
from parley.config.sections import MAIN
from parley.config.settings import Account, Settings

__all__ = ["MAIN", "Account", "Problem", "Settings", "SettingsError", "from_mapping", "load"]
