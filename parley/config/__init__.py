"""The configuration: one YAML file, the environment over it, secrets by reference."""

from parley.config.load import from_mapping, load
from parley.config.problems import Problem, SettingsError
from parley.config.sections import MAIN
from parley.config.settings import ConfiguredAccount, Settings

__all__ = [
    "MAIN",
    "ConfiguredAccount",
    "Problem",
    "Settings",
    "SettingsError",
    "from_mapping",
    "load",
]
